"""The Event that leads from `kubectl describe pod` to the console: one for each pod and cause."""

from dataclasses import replace
from urllib.parse import urlsplit

import pytest
from django.urls import resolve

from scheduler_app.core.decision import BindOutcome
from scheduler_app.core.errors import HamiError
from scheduler_app.core.types import NodeName, Pod, PodUid
from scheduler_app.engine import links
from scheduler_app.engine.links import ConsoleLinks
from scheduler_app.engine.pending import Journal, PendingBoard
from tests.engine.world import PLAIN_ONLY, World, asking, pod_of, registered
from tests.fakes.told import FakeEvents

URL = "https://gpus.example.org"
TOO_BIG = asking(mem_mib=10**6)
MEMORY = f"CardInsufficientMemory: why this pod waits, and what would help: {URL}/pods/default/p"


class Desk:
    """A scheduler whose journal tells of the console."""

    def __init__(self, url: str = URL) -> None:
        self.world = World(registered("n1", "a"), registered("n2", "b"))
        self.events = FakeEvents()
        board = PendingBoard(backends=PLAIN_ONLY, scheduler_name="hami-scheduler")
        links = ConsoleLinks(url=url, events=self.events)
        self.journal = Journal(board=board, keep=lambda told: None, count=lambda told: None, links=links)

    def filter(self, pod: Pod, *names: str) -> None:
        self.journal.record(self.world.filter(pod, list(names) or None))


@pytest.fixture
def desk() -> Desk:
    return Desk()


def test_a_refused_pod_is_told_where_the_console_explains_it(desk: Desk) -> None:
    desk.filter(pod_of(TOO_BIG))
    assert desk.events.told == [("Normal", "WhyPending", MEMORY)]
    assert desk.events.about == ["default/p"]


def test_off_by_default() -> None:
    """Events are compared with the reference's."""
    desk = Desk(url="")
    desk.filter(pod_of(TOO_BIG))
    assert desk.events.told == []


def test_the_same_cause_is_told_once_and_another_one_again(desk: Desk) -> None:
    """Also when the causes alternate."""
    pod = pod_of(TOO_BIG)
    desk.filter(pod)
    desk.filter(pod)
    desk.filter(pod, "unknown")
    desk.filter(pod)
    desk.filter(pod, "unknown")
    other = f"node unregistered: why this pod waits, and what would help: {URL}/pods/default/p"
    assert desk.events.messages == [MEMORY, other]


def test_each_pod_gets_its_own(desk: Desk) -> None:
    """A pod of the same name is another pod."""
    desk.filter(pod_of(TOO_BIG))
    desk.filter(replace(pod_of(TOO_BIG), uid=PodUid("the next one")))
    assert desk.events.messages == [MEMORY, MEMORY]


def test_a_placed_pod_needs_no_explanation(desk: Desk) -> None:
    desk.filter(pod_of())
    assert desk.events.told == []


def test_an_error_has_a_link_too(desk: Desk) -> None:
    desk.world.writer.fails["patch_pod"] = HamiError("the server said no")
    desk.filter(pod_of())
    assert desk.events.messages[0].startswith("error: why this pod waits")


def test_a_bind_that_fails_has_a_link_and_one_that_works_has_none(desk: Desk) -> None:
    desk.filter(pod_of())
    desk.journal.record_bind(BindOutcome("default", "p", "uid-p", NodeName("n1")))
    assert desk.events.told == []
    for error in ("locked", "locked"):
        desk.journal.record_bind(BindOutcome("default", "p", "uid-p", NodeName("n1"), error))
    assert desk.events.messages == [f"bind: why this pod waits, and what would help: {URL}/pods/default/p"]
    assert desk.events.about == ["default/p"]


@pytest.mark.parametrize("url", [f"{URL}/", f"{URL}/gpu/"])
def test_an_address_may_end_in_a_slash_and_have_a_path(url: str) -> None:
    desk = Desk(url=url)
    desk.filter(pod_of(TOO_BIG))
    assert desk.events.messages[0].endswith(f"{url.rstrip('/')}/pods/default/p")


def test_the_link_is_a_page_of_the_console(desk: Desk) -> None:
    desk.filter(pod_of(TOO_BIG))
    found = resolve(urlsplit(desk.events.messages[0].rpartition(" ")[2]).path, urlconf="hami_site.urls")
    assert (found.url_name, found.kwargs) == ("pod", {"namespace": "default", "name": "p"})


def test_names_from_a_request_cannot_change_the_link(desk: Desk) -> None:
    """A name may come from a request, which is not held to what Kubernetes allows."""
    desk.filter(replace(pod_of(TOO_BIG), name="../x?y#z\n"))
    assert desk.events.messages[0].endswith("/pods/default/..%2Fx%3Fy%23z%0A")


def test_what_was_told_of_many_pods_is_forgotten_in_the_end(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(links, "REMEMBERED", 2)
    for name in ("p0", "p1", "p0", "p2", "p0", "p1"):
        desk.filter(pod_of(TOO_BIG, name=name))
    told = [message.rpartition("/")[2] for message in desk.events.messages]
    assert told == ["p0", "p1", "p2", "p1"]
