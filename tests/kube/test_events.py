"""F-35, Q-35."""

import pytest

from scheduler_app.kube.correlation import Involved, Note
from scheduler_app.kube.errors import ApiError
from scheduler_app.kube.events import EventWriter
from tests.kube.scripted_server import ScriptedServer
from tests.kube.tiny_api import Fault, TinyApi

POD = Involved("Pod", "team", "p", "u")
EPOCH = 1_767_366_245.5


class Recorder:
    """Writes notes as the event thread does, at a time that stands still unless it is moved."""

    def __init__(self, server: ScriptedServer) -> None:
        self.now = 0.0
        self.writer = EventWriter(
            server.client(),
            source="hami-scheduler",
            epoch=lambda: EPOCH + self.now,
            clock=lambda: self.now,
        )

    def tell(self, message: str = "no node", *, about: Involved = POD) -> bool:
        prepared = self.writer.prepare(Note(about, "Warning", "FilteringFailed", message))
        if prepared is not None:
            self.writer.send(prepared)
        return prepared is not None


@pytest.fixture
def recorder(server: ScriptedServer, api: TinyApi) -> Recorder:
    return Recorder(server)


def test_an_event_is_a_core_v1_event_of_the_scheduler(recorder: Recorder, api: TinyApi) -> None:
    recorder.tell()
    sent = api.writes[0]
    assert (sent.method, sent.path) == ("POST", "/api/v1/namespaces/team/events")
    body = sent.json
    assert body.pop("metadata") == {"name": f"p.{int(EPOCH * 1e9):x}", "namespace": "team"}
    assert body == {
        "apiVersion": "v1",
        "kind": "Event",
        "involvedObject": {"apiVersion": "v1", "kind": "Pod", "namespace": "team", "name": "p", "uid": "u"},
        "type": "Warning",
        "reason": "FilteringFailed",
        "message": "no node",
        "source": {"component": "hami-scheduler"},
        "reportingComponent": "hami-scheduler",
        "reportingInstance": "",
        "firstTimestamp": "2026-01-02T15:04:05Z",
        "lastTimestamp": "2026-01-02T15:04:05Z",
        "count": 1,
    }


def test_without_a_namespace_the_event_lies_in_default(recorder: Recorder, api: TinyApi) -> None:
    """F-35: and the object it is about has none."""
    recorder.tell(about=Involved("Node", "", "n1", "n1"))
    assert api.writes[0].path == "/api/v1/namespaces/default/events"
    assert "namespace" not in api.bodies()[0]["involvedObject"]


def test_a_repeat_raises_the_count(recorder: Recorder, api: TinyApi) -> None:
    recorder.tell()
    recorder.now = 60
    recorder.tell()
    recorder.tell()
    name = api.bodies()[0]["metadata"]["name"]
    assert [request.path for request in api.writes[1:]] == [f"/api/v1/namespaces/team/events/{name}"] * 2
    assert api.bodies()[1] == {"count": 2, "lastTimestamp": "2026-01-02T15:05:05Z", "message": "no node"}
    assert api.bodies()[2]["count"] == 3


def test_similar_events_are_combined_into_one(recorder: Recorder, api: TinyApi) -> None:
    for number in range(12):
        recorder.tell(f"m{number}")
    assert [request.method for request in api.writes] == ["POST"] * 10 + ["PATCH"] * 2
    assert api.bodies()[9]["message"] == "(combined from similar events): m9"
    assert api.bodies()[11]["message"] == "(combined from similar events): m11"
    assert api.bodies()[11]["count"] == 3


def test_a_flood_on_one_object_is_cut_and_counted(recorder: Recorder, api: TinyApi) -> None:
    assert [recorder.tell() for _ in range(30)].count(True) == 25
    recorder.now = 301
    recorder.tell()
    assert api.bodies()[-1]["count"] == 31


def test_where_patching_is_forbidden_repeats_are_created_afresh(recorder: Recorder, api: TinyApi) -> None:
    """Q-35: the reference loses them. The right is asked for again after ten minutes."""
    api.faults.append(Fault("PATCH", "/events/", status=403, message="events is forbidden", times=1))
    for _ in range(3):
        recorder.tell()
    assert [request.method for request in api.writes] == ["POST", "PATCH", "POST", "POST"]
    created = [body for body in api.bodies() if "metadata" in body]
    assert len({body["metadata"]["name"] for body in created}) == 3
    assert {body["count"] for body in created} == {1}
    recorder.now = 601
    recorder.tell()
    assert api.writes[-1].method == "PATCH"


def test_an_event_that_has_expired_is_created_afresh(recorder: Recorder, api: TinyApi) -> None:
    recorder.tell()
    api.objects.clear()
    recorder.tell()
    recorder.tell()
    assert [request.method for request in api.writes] == ["POST", "PATCH", "POST", "PATCH"]


def test_sending_again_after_a_lost_answer_makes_no_second_event(recorder: Recorder, api: TinyApi) -> None:
    prepared = recorder.writer.prepare(Note(POD, "Normal", "BindingSucceed", "ok"))
    assert prepared is not None
    recorder.writer.send(prepared)
    prepared.known.name = ""  # the answer was lost: we do not know that it is there
    recorder.writer.send(prepared)
    assert len(api.objects) == 1


def test_a_refused_event_is_told(recorder: Recorder, api: TinyApi) -> None:
    api.faults.append(Fault("POST", "/events", status=403, message="being terminated"))
    with pytest.raises(ApiError, match="being terminated"):
        recorder.tell()


def test_long_names_and_texts_are_cut_to_what_the_server_takes(recorder: Recorder, api: TinyApi) -> None:
    recorder.tell("x" * 100_000, about=Involved("Pod", "team", "p" * 253, "u"))
    body = api.bodies()[0]
    assert len(body["metadata"]["name"]) == 253
    assert len(body["message"]) == 32 * 1024
    assert body["involvedObject"]["name"] == "p" * 253
