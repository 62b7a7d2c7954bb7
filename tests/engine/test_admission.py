"""What the webhook makes of a new pod (W-4 to W-9)."""

import copy
import re
from collections.abc import Mapping
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.config import SchedulerConfig
from scheduler_app.core.types import ResourceQuota, VendorKey
from scheduler_app.engine.admission import Admission, Verdict
from scheduler_app.engine.cache import ClusterState
from tests.core.plain import CORES, COUNT, MEM, PLAIN
from tests.devices.nvidia import cards as nvidia
from tests.engine.world import PLAIN_ONLY, VENDOR, holding, pod_of
from tests.fakes.clock import FakeClock
from tests.fakes.jsonpatch import apply, touched
from tests.fakes.told import FakeLog

NAME = "hami-scheduler"
BOTH: Mapping[VendorKey, DeviceBackend] = {VENDOR: PLAIN, nvidia.NVIDIA.vendor_key: nvidia.NVIDIA}
Json = dict[str, Any]


class Webhook:
    def __init__(self, backends: Mapping[VendorKey, DeviceBackend] = PLAIN_ONLY, **config: Any) -> None:
        self.log, self.state = FakeLog(), ClusterState(backends)
        self.admission = Admission(
            backends=backends,
            state=self.state,
            log=self.log,
            config=SchedulerConfig(**{"scheduler_name": NAME, **config}),
            clock=FakeClock(),
        )

    def review(self, raw: Any, namespace: str = "default") -> Verdict:
        """Review a copy of a pod; the patch of one that is let in tells all that was changed of it."""
        changed = copy.deepcopy(raw)
        verdict = self.admission.review(changed, namespace=namespace)
        if verdict.is_allowed:
            assert apply(raw, verdict.patch) == changed
        return verdict

    def limit(self, **hard: int) -> None:
        names = {"mem": f"limits.{MEM}", "cores": f"limits.{CORES}"}
        self.state.see_quota(
            ResourceQuota("default", "team", {names[key]: str(n) for key, n in hard.items()})
        )


def container(name: str = "c", limits: Json | None = None, **more: Any) -> Json:
    given: Json = {"name": name, "image": "x", **more}
    return given if limits is None else {**given, "resources": {"limits": limits}}


def gpu(name: str = "c", *, cards: int = 1, mem: int = 0, cores: int = 0, **more: Any) -> Json:
    return container(name, {COUNT: str(cards), MEM: str(mem), CORES: str(cores)}, **more)


def pod(*containers: Json, meta: Any = None, **spec: Any) -> Json:
    return {
        "kind": "Pod",
        "apiVersion": "v1",
        "metadata": {"name": "p", "namespace": "default", **(meta or {})},
        "spec": {"containers": list(containers or (gpu(),)), **spec},
    }


@pytest.fixture
def webhook() -> Webhook:
    return Webhook()


def test_w01_a_pod_with_cards_becomes_ours(webhook: Webhook) -> None:
    """W-8: the one intended change and nothing else (Q-38)."""
    verdict = webhook.review(pod())
    assert list(verdict.patch) == [{"op": "add", "path": "/spec/schedulerName", "value": NAME}]


@pytest.mark.parametrize("force", [True, False])
@pytest.mark.parametrize("configured", [NAME, ""])
@pytest.mark.parametrize("named", [None, "", NAME, "default-scheduler", "volcano"])
def test_w01_whose_pod_it_is(named: str | None, configured: str, force: bool) -> None:
    """W-4, step 3: the whole truth table."""
    webhook = Webhook(scheduler_name=configured, force_overwrite_default_scheduler=force)
    verdict = webhook.review(pod(**({} if named is None else {"schedulerName": named})))
    is_free = (
        not named or (named == "default-scheduler" and force) or (bool(configured) and named == configured)
    )
    assert verdict.is_allowed
    assert (verdict.message == "") is is_free
    if not is_free:
        assert verdict.message == "pod already has different scheduler assigned"
    becomes = apply(pod(**({} if named is None else {"schedulerName": named})), verdict.patch)
    expected = configured if is_free and configured else named
    assert becomes["spec"].get("schedulerName") == expected


def test_the_default_scheduler_s_name_is_replaced(webhook: Webhook) -> None:
    verdict = webhook.review(pod(schedulerName="default-scheduler"))
    assert verdict.patch[0]["op"] == "replace"


def test_w_5_a_pod_without_cards_keeps_its_scheduler(webhook: Webhook) -> None:
    assert webhook.review(pod(container())).patch == ()


def test_no_object_is_no_content(webhook: Webhook) -> None:
    """W-4, step 1."""
    assert webhook.review(None) == Verdict(400, "there is no content to decode")


def test_an_empty_object_is_a_pod_without_containers(webhook: Webhook) -> None:
    """W-4, step 2."""
    assert webhook.review({}) == Verdict(403, "pod has no containers")


@pytest.mark.parametrize("wrong", [{"apiVersion": "v2"}, {"kind": "Node"}])
def test_another_kind_or_version_is_not_a_pod(webhook: Webhook, wrong: dict[str, str]) -> None:
    """W-4, step 1."""
    assert webhook.review({**pod(), **wrong}).code == 400


def test_an_amount_that_is_no_quantity_cannot_be_decoded(webhook: Webhook) -> None:
    """W-4, step 1: the message names the member."""
    verdict = webhook.review(pod(container(limits={"cpu": "much"})))
    assert (verdict.code, "limits.cpu" in verdict.message) == (400, True)


@pytest.mark.parametrize("containers", [[], None])
def test_a_pod_without_containers_is_denied(webhook: Webhook, containers: Any) -> None:
    """W-4, step 2."""
    raw = {**pod(), "spec": {"containers": containers}}
    assert webhook.review(raw).message == "pod has no containers"


@pytest.mark.parametrize(
    ("raw", "field"),
    [
        ([1], "object: expected an object"),
        ("pod", "object: expected an object"),
        ({"kind": "Node"}, "object.kind"),
        ({"metadata": []}, "metadata"),
        ({"metadata": {"annotations": {"a": 1}}}, "metadata.annotations.a"),
        ({"metadata": {"labels": []}}, "metadata.labels"),
        ({"metadata": {"namespace": 1}}, "metadata.namespace"),
        ({"spec": "x"}, "spec"),
        ({"spec": {"schedulerName": 1}}, "spec.schedulerName"),
        ({"spec": {"nodeName": []}}, "spec.nodeName"),
        ({"spec": {"containers": {}}}, "spec.containers"),
        ({"spec": {"containers": [None]}}, r"spec.containers\[0\]"),
        ({"spec": {"containers": [gpu(), "x"]}}, r"spec.containers\[1\]"),
        ({"spec": {"initContainers": [1]}}, r"spec.initContainers\[0\]"),
        ({"spec": {"containers": [{"name": 1}]}}, r"spec.containers\[0\].name"),
        ({"spec": {"containers": [{"resources": []}]}}, r"spec.containers\[0\].resources"),
        ({"spec": {"containers": [{"resources": {"limits": []}}]}}, r"resources.limits"),
        ({"spec": {"containers": [{"resources": {"limits": {COUNT: []}}}]}}, COUNT),
        ({"spec": {"containers": [{"resources": {"limits": {COUNT: True}}}]}}, COUNT),
        ({"spec": {"containers": [{"env": {}}]}}, r"containers\[0\].env"),
        ({"spec": {"containers": [{"env": ["A"]}]}}, r"env\[0\]"),
        ({"spec": {"containers": [{"securityContext": 1}]}}, "securityContext"),
        ({"spec": {"containers": [{"securityContext": {"privileged": "yes"}}]}}, "privileged"),
    ],
)
def test_a_malformed_pod_is_an_error_that_names_the_field(webhook: Webhook, raw: Any, field: str) -> None:
    """W-4, step 1; parity policy 4."""
    verdict = webhook.review(raw)
    assert verdict.code == 400
    assert re.search(field, verdict.message)


@pytest.mark.parametrize("group", ["containers", "initContainers"])
def test_w06_a_privileged_container_of_a_pod_with_cards_is_denied(webhook: Webhook, group: str) -> None:
    """VB-26, W-4, step 5: also when another container asks for the card."""
    rough = container("rough", securityContext={"privileged": True})
    raw = pod(gpu(), rough) if group == "containers" else pod(gpu(), initContainers=[rough])
    verdict = webhook.review(raw)
    assert (verdict.code, verdict.message) == (403, "container rough is privileged")
    assert verdict.patch == ()


def test_w06_a_privileged_pod_without_cards_is_let_in(webhook: Webhook) -> None:
    assert webhook.review(pod(container(securityContext={"privileged": True}))).is_allowed


def test_w18_a_pod_that_names_its_node_is_denied_if_it_wants_cards(webhook: Webhook) -> None:
    """W-4, step 6."""
    assert webhook.review(pod(nodeName="n1")).message == "pod has node assigned"
    assert webhook.review(pod(container(), nodeName="n1")).is_allowed


def test_without_a_name_of_ours_a_node_may_be_named() -> None:
    """W-4, step 6: only with a configured name."""
    assert Webhook(scheduler_name="").review(pod(nodeName="n1")).is_allowed


def test_what_only_a_decision_writes_is_removed_with_a_warning(webhook: Webhook) -> None:
    """It comes with copied manifests and restored backups, and would be counted."""
    keys = ["hami.io/vgpu-node", "hami.io/vgpu-time", "hami.io/bind-phase", "hami.io/bind-time"]
    keys += [PLAIN.keys.allocated, PLAIN.keys.to_allocate]
    raw = pod(meta={"annotations": {**dict.fromkeys(keys, "x"), "mine": "y"}})
    verdict = webhook.review(raw)
    assert apply(raw, verdict.patch)["metadata"]["annotations"] == {"mine": "y"}
    assert len(verdict.warnings) == len(keys)
    assert "annotation hami.io/vgpu-node removed: only the scheduler writes it" in verdict.warnings


def test_own_annotations_go_from_pods_of_other_schedulers_too(webhook: Webhook) -> None:
    raw = pod(schedulerName="volcano", meta={"annotations": {"hami.io/vgpu-node": "n1"}})
    verdict = webhook.review(raw)
    assert verdict.is_allowed
    assert apply(raw, verdict.patch)["metadata"]["annotations"] == {}


def test_of_a_pod_that_exists_nothing_is_removed(webhook: Webhook) -> None:
    """A rule may be widened to updates: the scheduler's own PATCH would lose what it writes."""
    raw = pod(meta={"annotations": {"hami.io/vgpu-node": "n1"}}, schedulerName=NAME)
    verdict = webhook.admission.review(raw, namespace="default", is_new=False)
    assert (verdict.is_allowed, verdict.patch, verdict.warnings) == (True, (), ())


def test_a_negative_number_of_cards_buys_no_quota(webhook: Webhook) -> None:
    """W-9: the request of a container that asks for less than one card counts nothing."""
    webhook.limit(mem=1000)
    raw = pod(gpu("a", cards=1, mem=2000), gpu("b", cards=-1, mem=2000))
    assert not webhook.review(raw).is_allowed


def test_q05_two_containers_are_added_up(webhook: Webhook) -> None:
    """W-9."""
    webhook.limit(mem=4096)
    assert webhook.review(pod(gpu("a", mem=3000))).is_allowed
    verdict = webhook.review(pod(gpu("a", mem=3000), gpu("b", mem=3000)))
    assert (verdict.code, verdict.message) == (403, "exceeding resource quota")


def test_quota_refusals_say_the_numbers(webhook: Webhook) -> None:
    webhook.limit(mem=4096)
    webhook.state.see_pod(holding(pod_of(), "n1", "a,Plain,1000,0:;"))
    verdict = webhook.review(pod(gpu(cards=2, mem=2000)))
    assert verdict.warnings == (
        f"quota team of namespace default: limits.{MEM} is 4096, used 1000, this pod asks 4000",
    )
    assert webhook.log.refusals[0].message == "exceeding resource quota"


def test_q01_memory_counts_times_the_number_of_cards(webhook: Webhook) -> None:
    webhook.limit(mem=4096)
    assert webhook.review(pod(gpu(cards=2, mem=2048))).is_allowed
    assert not webhook.review(pod(gpu(cards=2, mem=2049))).is_allowed


def test_init_containers_count_with_their_peak(webhook: Webhook) -> None:
    """VB-27, VC-13, W-9: the larger of the app containers' sum and the largest init container."""
    webhook.limit(mem=1000, cores=50)
    small = [gpu("i1", mem=1000), gpu("i2", mem=900)]
    assert webhook.review(pod(gpu(mem=600), gpu("b", mem=400), initContainers=small)).is_allowed
    assert not webhook.review(pod(gpu(mem=1), initContainers=[gpu("i", cores=51)])).is_allowed


def test_q_23_sidecars_are_added_to_the_app_containers(webhook: Webhook) -> None:
    webhook.limit(mem=1000)
    side = gpu("side", mem=600, restartPolicy="Always")
    assert not webhook.review(pod(gpu(mem=600), initContainers=[side])).is_allowed


def test_quota_is_that_of_the_pod_s_own_namespace(webhook: Webhook) -> None:
    """W-9. Parity: one that names none is checked against the empty namespace, whatever the request says."""
    webhook.limit(mem=100)
    raw = pod(gpu(mem=101))
    del raw["metadata"]["namespace"]
    assert webhook.review(raw).is_allowed


def test_a_refusal_is_recorded_with_owner_and_namespace(webhook: Webhook) -> None:
    owner = {"kind": "ReplicaSet", "name": "train-5d9c", "controller": True}
    webhook.review(pod(nodeName="n1", meta={"ownerReferences": [owner], "generateName": "train-5d9c-"}))
    (refusal,) = webhook.log.refusals
    assert (refusal.namespace, refusal.owner, refusal.message) == (
        "default",
        "ReplicaSet/train-5d9c",
        "pod has node assigned",
    )


def test_w16_an_amount_that_would_wrap_around_is_refused_at_the_door() -> None:
    webhook = Webhook(BOTH)
    raw = pod(container(limits={nvidia.GPU: "1", nvidia.CORES: "3000000000"}))
    verdict = webhook.review(raw)
    assert not verdict.is_allowed
    assert nvidia.CORES in verdict.message


def test_w17_an_amount_that_asks_for_nothing_earns_a_warning() -> None:
    """NV-31: the reference makes no request of it; the user is told."""
    webhook = Webhook(BOTH)
    verdict = webhook.review(pod(container("main", limits={nvidia.GPU: "1", nvidia.MEM: "3000000000"})))
    (warning,) = verdict.warnings
    assert warning.startswith(f"container main: {nvidia.MEM} is 3000000000")


def test_w13_some_memory_does_not_ask_for_all_cores() -> None:
    """NV-24."""
    webhook = Webhook(BOTH)
    raw = pod(container(limits={nvidia.GPU: "1", nvidia.MEM: "20480"}))
    assert not any(nvidia.CORES in path for path in touched(webhook.review(raw).patch))


def test_q_38_members_we_do_not_know_survive(webhook: Webhook) -> None:
    raw = pod(gpu(resizePolicy=[{"x": 1}]), futureField={"a": [1]})
    patched = apply(raw, webhook.review(raw).patch)
    assert patched == {**raw, "spec": {**raw["spec"], "schedulerName": NAME}}


def test_k_2_2_8_reviewing_twice_changes_nothing_more() -> None:
    """K2.2-8: the webhook may be called again on its own result."""
    webhook = Webhook(BOTH)
    raw = pod(
        container(limits={nvidia.MEM: "1000"}, env=[]), meta={"annotations": {"hami.io/vgpu-node": "x"}}
    )
    once = apply(raw, webhook.review(raw).patch)
    again = webhook.review(once)
    assert [op for op in again.patch if "/env" not in op["path"]] == []


def test_hostile_nesting_is_refused_and_not_a_crash(webhook: Webhook) -> None:
    """K09."""
    deep: Any = {}
    for _ in range(900):
        deep = {"x": deep}
    verdict = webhook.admission.review(pod(deep=deep), namespace="default")
    assert verdict.code in (200, 400)


resources = st.dictionaries(
    st.sampled_from([COUNT, MEM, CORES, nvidia.GPU, nvidia.MEM, nvidia.PERCENT, nvidia.CORES, "cpu"]),
    st.one_of(
        st.sampled_from(["0", "1", "2", "1000", "5k", "1Ki", "500m", "-1", "1e3", "x", "", "1" * 30]),
        st.integers(-5, 2**40),
        st.none(),
    ),
    max_size=4,
)
parts = st.fixed_dictionaries(
    {},
    optional={
        "name": st.sampled_from(["a", "b", ""]) | st.none(),
        "resources": st.fixed_dictionaries(
            {}, optional={"limits": resources | st.none(), "requests": resources}
        )
        | st.none(),
        "env": st.just([]) | st.none() | st.just([{"name": "A", "value": "1"}]),
        "securityContext": st.fixed_dictionaries({}, optional={"privileged": st.booleans()}) | st.none(),
        "lifecycle": st.none(),
    },
)


@settings(max_examples=120, deadline=None)
@given(
    st.lists(parts, min_size=1, max_size=3),
    st.lists(parts, max_size=2) | st.none(),
    st.none()
    | st.just({})
    | st.just({"annotations": None})
    | st.just({"annotations": {"a": "b"}, "labels": None}),
)
def test_w19_optional_parts_may_be_missing_anywhere(
    containers: list[Json], init: list[Json] | None, meta: Json | None
) -> None:
    """No 5xx but a vendor's own refusal, the patch applies, and touches only what vendors may change."""
    webhook = Webhook(BOTH)
    raw: Json = {"spec": {"containers": containers, "initContainers": init}, "metadata": meta}
    verdict = webhook.review(raw)
    assert verdict.code in (200, 400, 403, 500)
    if verdict.code == 500:
        assert verdict.message.startswith("invalid ")
    allowed = ("/spec/schedulerName", "/spec/runtimeClassName", "/metadata/annotations")
    for path in touched(verdict.patch):
        assert path.startswith(allowed) or "/resources" in path or "/env" in path
