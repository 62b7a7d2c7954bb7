"""How the reflector waits: for servers that refuse or are silent, and how it stops (I03, I05, I18)."""

from tests.kube.reflecting import following
from tests.kube.scripted_server import (
    Reply,
    ScriptedServer,
    bookmark,
    failing,
    listing,
    node,
    unused_url,
    watching,
)
from tests.waiting import wait_until


def test_it_backs_off_while_the_server_refuses(server: ScriptedServer) -> None:
    """I05: 0.8 s, doubling, never hot, at most twice the cap."""
    server.lists.extend([failing(503, "no")] * 8)
    server.lists.append(listing("Node", node("n1")))
    with following(server.client()) as followed:
        followed.wait_for("added n1", "replaced")
        waits = followed.pauses[:8]
    assert 0.8 <= waits[0] <= 1.6
    assert 1.6 <= waits[1] <= 3.2
    assert 30 <= waits[6] <= 36
    assert 30 <= waits[7] <= 36


def test_retry_after_is_honoured(server: ScriptedServer) -> None:
    server.lists.append(failing(429, "slow down", headers={"Retry-After": "17"}))
    server.lists.append(listing("Node", node("n1")))
    with following(server.client()) as followed:
        followed.wait_for("added n1", "replaced")
        assert followed.pauses[0] == 17.0


def test_missing_rights_are_asked_for_slowly(server: ScriptedServer) -> None:
    """I05: 401 and 403 on a slow path; the problem is there to be seen."""
    server.lists.append(failing(403, "nodes is forbidden"))
    with following(server.client()) as followed:
        wait_until(lambda: bool(followed.pauses))
        assert followed.pauses[0] >= 30
        assert followed.reflector is not None
        assert followed.reflector.status().source.problem in ("nodes is forbidden", "no list is left")
        assert not followed.reflector.status().source.is_synced


def test_a_server_that_is_not_there_is_waited_for() -> None:
    with ScriptedServer() as server:
        client = server.client()
        server.lists.append(listing("Node", node("n1")))
        server.watches.append(watching(cut=True))
        with following(client) as followed:
            followed.wait_for("added n1", "replaced")
    url = unused_url()
    server.url = url
    with following(server.client()) as followed:
        wait_until(lambda: len(followed.pauses) >= 3)
        assert followed.told == []


def test_very_short_watches_are_slowed_down(server: ScriptedServer) -> None:
    """I05: a server that closes each watch at once must not be asked in a hot loop, nor listed again."""
    server.lists.append(listing("Node", version="5"))
    server.watches.extend([watching()] * 6)
    with following(server.client()) as followed:
        wait_until(lambda: len(server.seen(watch=True)) == 7)
        assert len(followed.pauses) == 6
        assert followed.pauses[-1] > 10
    assert len(server.seen(watch=False)) == 1


def test_a_short_watch_that_brought_news_starts_the_back_off_anew(server: ScriptedServer) -> None:
    server.lists.append(listing("Node", version="5"))
    server.watches.extend([watching()] * 4 + [watching(bookmark("6"))])
    with following(server.client()) as followed:
        wait_until(lambda: len(followed.pauses) == 5)
        assert followed.pauses[3] > 5
        assert followed.pauses[4] <= 1.6


def test_a_steady_watch_is_resumed_at_once(server: ScriptedServer) -> None:
    """Field reports 4.3, step 4."""
    now = [0.0]
    server.lists.append(listing("Node", version="5"))
    server.watches.append(watching(bookmark("6")))

    def clock() -> float:
        now[0] += 31
        return now[0]

    with following(server.client(), clock=clock) as followed:
        wait_until(lambda: len(server.seen(watch=True)) == 2)
        assert followed.pauses == []


def test_a_silent_watch_ends_like_any_other(server: ScriptedServer) -> None:
    """I03: a dead peer is noticed by the read timeout; the watch resumes, nothing is listed again."""
    server.lists.append(listing("Node", version="5"))
    server.watches.append(watching(bookmark("6"), server.closing))
    with following(server.client(), watch_read_seconds=0.05) as followed:
        wait_until(lambda: len(server.seen(watch=True)) >= 2)
        assert followed.reflector is not None
        assert followed.reflector.status().source.problem == ""
    assert server.seen(watch=True)[1].query["resourceVersion"] == "6"
    assert len(server.seen(watch=False)) == 1


def test_it_stops_while_a_list_hangs_halfway(server: ScriptedServer) -> None:
    """I18: the end of ``following`` shows that the thread is gone."""
    server.lists.append(Reply(pieces=[b'{"kind":"NodeList",', server.closing]))
    with following(server.client()):
        wait_until(lambda: len(server.requests) == 1)


def test_interrupt_before_the_first_request_is_not_lost(server: ScriptedServer) -> None:
    """I18."""
    server.lists.append(listing("Node"))
    with following(server.client()) as followed:
        assert followed.reflector is not None
        followed.reflector.interrupt()
        wait_until(lambda: len(followed.pauses) > 2)
        assert followed.told in ([], ["replaced"])
