import pytest

from scheduler_app.core.types import NodeName, Pod
from scheduler_app.kube.resources import Item
from scheduler_app.kube.store import Difference, NodeStore, PodStore, Store
from tests.factories import make_node, make_pod


def item(name: str, *, uid: str = "", version: str = "1", namespace: str = "default") -> Item[Pod]:
    pod = make_pod(name=name, namespace=namespace, uid=uid or f"uid-{name}")
    return Item(f"{namespace}/{name}", pod.uid, version, pod)


@pytest.fixture
def store() -> PodStore:
    made = PodStore()
    made.replace([item("a"), item("b")])
    return made


def test_a_new_list_tells_what_is_gone_first(store: PodStore) -> None:
    """I08, F10: with the last known state, so that its room is free for what is new."""
    told = store.replace([item("c"), item("b", version="2")])
    assert told == [
        Difference(item("a")),
        Difference(None, item("c")),
        Difference(item("b"), item("b", version="2")),
    ]


def test_the_same_version_is_no_news(store: PodStore) -> None:
    assert store.replace([item("a"), item("b")]) == []
    assert store.put(item("a")) == []


def test_without_a_version_everything_is_news() -> None:
    store = PodStore()
    store.put(item("a", version=""))
    assert len(store.put(item("a", version=""))) == 1


def test_another_uid_is_one_gone_and_one_new(store: PodStore) -> None:
    """N15."""
    again = item("a", uid="u2")
    assert store.put(again) == [Difference(item("a")), Difference(None, again)]
    assert store.by_uid("uid-a") is None
    assert store.by_uid("u2") == again.value


def test_the_first_sight_may_be_a_modification(store: PodStore) -> None:
    assert store.put(item("z", version="9")) == [Difference(None, item("z", version="9"))]


def test_a_deletion_tells_the_last_state(store: PodStore) -> None:
    last = item("a", version="5")
    assert store.drop(last) == [Difference(last)]
    assert store.drop(last) == []
    assert store.get("default", "a") is None
    assert store.by_uid("uid-a") is None


def test_a_late_deletion_of_a_former_object_changes_nothing(store: PodStore) -> None:
    assert store.drop(item("a", uid="older")) == []
    assert store.get("default", "a") is not None


def test_what_cannot_be_read_stays_as_it_was(store: PodStore) -> None:
    """I11: an odd object in a list is there, so it must not be told as deleted."""
    assert store.replace([item("b")], unread=["default/a", "default/never-seen"]) == []
    assert store.get("default", "a") is not None
    assert store.drop_key("default/a") == [Difference(item("a"))]
    assert store.drop_key("default/a") == ()


def test_pods_are_found_by_name_and_by_uid(store: PodStore) -> None:
    found = store.get("default", "a")
    assert found is not None
    assert found.name == "a"
    assert store.get("other", "a") is None
    assert store.by_uid("uid-b") == item("b").value
    assert [pod.name for pod in store.list()] == ["a", "b"]
    assert len(store) == 2


def test_nodes_have_no_namespace() -> None:
    store = NodeStore()
    store.put(Item("n1", "u", "1", make_node("n1")))
    assert store.get(NodeName("n1")) == make_node("n1")
    assert store.get(NodeName("n2")) is None


def test_a_store_has_not_synced_by_itself() -> None:
    store: Store[Pod] = Store()
    store.replace([])
    assert not store.synced.is_set()
