"""The view is compared with what the API server had at its version, and healed (field reports 4.3-5)."""

import pytest

from tests.kube.reflecting import following
from tests.kube.scripted_server import Reply, ScriptedServer, bookmark, failing, listing, node, watching
from tests.waiting import wait_until


class Leaping:
    """A clock on which every watch lasts as long as it takes to check the view."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 601
        return self.now


def test_a_view_that_lost_an_event_is_found_and_healed(
    server: ScriptedServer, caplog: pytest.LogCaptureFixture
) -> None:
    """Field reports 4.3, step 5: compared with what the API server had at our very version."""
    server.lists.append(listing("Node", node("n1"), node("n2", version="2"), version="5"))
    server.lists.append(listing("PartialObjectMetadata", node("n1"), version="6"))
    server.lists.append(listing("Node", node("n1"), version="9"))
    server.watches.append(watching(bookmark("6")))
    with following(server.client(), clock=Leaping()) as followed:
        followed.wait_for("added n1", "added n2", "replaced", "deleted n2", "replaced")
        assert followed.reflector is not None
        assert followed.reflector.status().drift == 1
    check = server.seen(watch=False)[1]
    assert check.query == {"resourceVersion": "6", "resourceVersionMatch": "Exact", "limit": "500"}
    assert "PartialObjectMetadataList" in check.headers["Accept"]
    assert "view had drifted resource=nodes objects=1" in caplog.text


@pytest.mark.parametrize(
    "answers",
    [
        [listing("Node", node("n1"), version="5")],
        [listing("Node", version="5", more="t"), listing("Node", node("n1"), version="5")],
        [listing("Node", version="77")],
        [failing(410, "compacted", reason="Expired")],
        [failing(400, "resourceVersionMatch is not known")],
        [Reply(pieces=[b"<html>"])],
    ],
    ids=["the same", "in two pages", "another version", "compacted", "not offered", "garbage"],
)
def test_a_view_that_is_right_or_cannot_be_checked_is_left_alone(
    server: ScriptedServer, answers: list[Reply]
) -> None:
    server.lists.extend([listing("Node", node("n1"), version="5"), *answers])
    server.watches.append(watching())
    with following(server.client(), clock=Leaping()) as followed:
        wait_until(lambda: len(server.seen(watch=True)) == 2)
        assert followed.told == ["added n1", "replaced"]
        assert followed.reflector is not None
        assert followed.reflector.status().drift == 0
    assert len(server.seen(watch=False)) == 1 + len(answers)


def test_a_view_with_an_unreadable_object_is_not_checked(server: ScriptedServer) -> None:
    """It would seem to have drifted for ever."""
    odd = {"metadata": {"name": "n2", "uid": "u2", "resourceVersion": "4"}, "status": "none"}
    server.lists.append(listing("Node", node("n1"), odd, version="5"))
    server.watches.append(watching())
    with following(server.client(), clock=Leaping()):
        wait_until(lambda: len(server.seen(watch=True)) == 2)
    assert len(server.seen(watch=False)) == 1
