"""What the webhook makes of the words of several vendors about several containers (W-4, step 4; W-9)."""

import pytest

from scheduler_app.core.admission import ContainerDraft, PodDraft
from scheduler_app.core.backend import ResourceNames
from scheduler_app.core.errors import AdmissionError
from scheduler_app.core.types import VendorKey
from tests.core.plain import CORES, COUNT, PlainBackend
from tests.engine.test_admission import NAME, Webhook, container, gpu, pod
from tests.engine.world import holding, pod_of
from tests.fakes.jsonpatch import apply

Asked = list[tuple[str, str]]


class Listening(PlainBackend):
    """Remembers which containers it was shown, finds those of its own, and refuses what is called ``bad``."""

    def __init__(self, letter: str, asked: Asked) -> None:
        self.vendor_key = VendorKey(letter)
        self.names = ResourceNames(count=f"{letter}.io/gpu")
        self._asked = asked

    def mutate(self, container: ContainerDraft, pod: PodDraft) -> bool:
        self._asked.append((container.name, self.vendor_key))
        if container.name == "bad":
            raise AdmissionError(f"{self.vendor_key} says no")
        return super().mutate(container, pod)


@pytest.fixture
def asked() -> Asked:
    return []


@pytest.fixture
def two(asked: Asked) -> Webhook:
    return Webhook({VendorKey(letter): Listening(letter, asked) for letter in "ba"})


def wants(name: str, letter: str) -> dict[str, object]:
    return container(name, {f"{letter}.io/gpu": "1"})


@pytest.mark.parametrize("letter", ["a", "b"])
def test_every_vendor_sees_every_container_init_containers_first(
    two: Webhook, asked: Asked, letter: str
) -> None:
    """VB-26: also once a card was found, since each completes its own; one finding makes the pod ours."""
    raw = pod(container("app"), container("more"), initContainers=[wants("init", letter)])
    verdict = two.review(raw)
    assert asked == [(name, key) for name in ("init", "app", "more") for key in ("a", "b")]
    assert apply(raw, verdict.patch)["spec"]["schedulerName"] == NAME


def test_a_pod_in_which_nobody_finds_a_card_is_left_alone(two: Webhook) -> None:
    """VB-26."""
    verdict = two.review(pod(container("app", {"cpu": "1"}, securityContext={"privileged": True})))
    assert (verdict.is_allowed, verdict.patch) == (True, ())


@pytest.mark.parametrize(
    "bad", [{"name": "bad"}, {"name": "bad", "resources": {"limits": {"a.io/gpu": "1"}}}]
)
def test_one_error_rejects_the_pod_whatever_was_found(two: Webhook, bad: dict[str, object]) -> None:
    """VB-26: code 500, and the vendor's text is the message."""
    verdict = two.review(pod(wants("app", "b"), bad))
    assert (verdict.code, verdict.message, verdict.patch) == (500, "a says no", ())


@pytest.mark.parametrize(("cores", "is_allowed"), [(25, True), (26, False)])
def test_cores_count_times_the_number_of_cards_too(cores: int, is_allowed: bool) -> None:
    """VB-27, VC-13: memory and cores are each a sum of their own, and either can be too much."""
    webhook = Webhook()
    webhook.limit(cores=50, mem=1000)
    assert webhook.review(pod(gpu(cards=2, cores=cores, mem=10))).is_allowed is is_allowed


def test_of_init_containers_and_app_containers_the_larger_counts_for_each_amount() -> None:
    """VB-27: the memory of the one and the cores of the other."""
    webhook = Webhook()
    webhook.limit(mem=1000, cores=50)
    large = gpu("i", mem=900, cores=50)
    assert webhook.review(pod(gpu(mem=1000, cores=40), initContainers=[large])).is_allowed
    assert not webhook.review(pod(gpu(mem=1000), initContainers=[gpu("i", cores=51)])).is_allowed
    assert not webhook.review(pod(gpu(mem=1), initContainers=[gpu("i", mem=1001)])).is_allowed


def test_who_asks_neither_memory_nor_cores_is_not_checked() -> None:
    """VB-27: whole cards count nothing here, even where more is used already than there should be."""
    webhook = Webhook()
    webhook.limit(mem=100, cores=10)
    webhook.state.see_pod(holding(pod_of(), "n1", "a,Plain,1000,20:;"))
    assert webhook.review(pod(container("c", {COUNT: "3"}))).is_allowed
    assert not webhook.review(pod(container("c", {COUNT: "3", CORES: "1"}))).is_allowed
