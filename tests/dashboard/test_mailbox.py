"""A browser's mailbox: one frame a topic, merged for who is slow (console.md 7.6)."""

import asyncio
from collections.abc import Iterable

import orjson
from hypothesis import given, settings
from hypothesis import strategies as st

from dashboard.live.frames import Key
from dashboard.live.mailbox import KEPT_CONTROLS, Mailbox


class World:
    """Cells with absolute values, as a mirror would have them."""

    def __init__(self, size: int) -> None:
        self.cells = [0] * size
        self.now = 0.0

    def build(self, topic: str, base: int, keys: Iterable[Key]) -> bytes:
        return orjson.dumps({"base": base, "c": {str(k): self.cells[int(k)] for k in keys}})

    def mailbox(self) -> Mailbox:
        return Mailbox(build=self.build, size_of=lambda topic: len(self.cells), clock=lambda: self.now)


async def test_a_browser_that_keeps_up_gets_the_shared_bytes_themselves() -> None:
    mailbox, frame = World(4).mailbox(), b"shared"
    mailbox.put("fleet", base=1, keys={2}, frame=frame)
    assert await mailbox.get() is frame


async def test_a_slow_browser_gets_one_frame_from_what_it_has() -> None:
    world = World(4)
    mailbox = world.mailbox()
    mailbox.put("fleet", base=1, keys={0}, frame=b"first")
    world.cells[3] = 7
    mailbox.put("fleet", base=2, keys={3})
    assert orjson.loads(await mailbox.get()) == {"base": 1, "c": {"0": 0, "3": 7}}
    assert mailbox.waiting == 0


async def test_a_paused_browser_gets_heartbeats_only_and_then_everything_at_once() -> None:
    world = World(4)
    mailbox = world.mailbox()
    mailbox.pause(True)
    mailbox.put("fleet", base=1, keys={0}, frame=b"held")
    mailbox.control(b"hb")
    assert await mailbox.get() == b"hb"
    mailbox.pause(False)
    assert await mailbox.get() == b"held"


async def test_after_half_a_minute_a_browser_is_asked_to_fetch_anew() -> None:
    world = World(4)
    mailbox = world.mailbox()
    mailbox.put("fleet", base=1, keys={0})
    world.now = 31.0
    assert orjson.loads(await mailbox.get())["t"] == "resync"


async def test_when_half_of_the_cells_changed_a_snapshot_is_cheaper() -> None:
    mailbox = World(1000).mailbox()
    mailbox.put("fleet", base=1, keys=set(range(501)))
    assert orjson.loads(await mailbox.get())["t"] == "resync"


async def test_waiting_controls_are_bounded() -> None:
    mailbox = World(1).mailbox()
    for number in range(KEPT_CONTROLS * 3):
        mailbox.control(str(number).encode())
    assert mailbox.waiting <= KEPT_CONTROLS


@settings(max_examples=100, deadline=None)
@given(steps=st.lists(st.tuples(st.integers(0, 9), st.booleans()), max_size=60))
def test_whenever_it_reads_a_browser_ends_in_the_state(steps: list[tuple[int, bool]]) -> None:
    world, seen, have = World(10), [0] * 10, 0

    async def run() -> None:
        nonlocal have
        mailbox = world.mailbox()

        async def read() -> None:
            nonlocal have
            frame = orjson.loads(await mailbox.get())
            assert frame["base"] <= have
            have = revision
            for key, value in frame["c"].items():
                seen[int(key)] = value

        revision = last = 0
        for revision, (cell, reads) in enumerate(steps, 1):
            world.cells[cell] = revision
            frame = world.build("fleet", last, {cell}) if mailbox.wants_bytes("fleet") else None
            mailbox.put("fleet", base=last, keys={cell}, frame=frame)
            last = revision
            if reads:
                await read()
        if mailbox.waiting:
            await read()

    asyncio.run(run())
    assert seen == world.cells
