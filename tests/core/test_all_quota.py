"""``--quota-all-vendors`` holds limits also where a vendor's own fit does not look at them (Q13)."""

from scheduler_app import deviceconfig
from scheduler_app.core.predicate import Ask, predicate, requests_of
from scheduler_app.core.quota import NamespaceQuota, QuotaEntry
from scheduler_app.core.types import Card, CardId, CardUsage, NodeUsage, VendorKey
from tests.factories import make_container, make_node, make_pod

KEY = VendorKey("DCU")
CONFIG = (
    "hygon: {resourceCountName: hygon.com/dcunum, resourceMemoryName: hygon.com/dcumem,"
    " resourceCoreName: hygon.com/dcucores}"
)
BACKENDS = {KEY: deviceconfig.load(CONFIG, {}).backends[KEY]}
CARD = CardUsage.idle(Card(CardId("a"), KEY, "DCU", shares=4, mem_mib=16000, cores=100))
LIMITED = NamespaceQuota({"hygon.com/dcumem": QuotaEntry(used=1000, limit=2000)})


def outcome(*, mem_mib: int, checks_all_quota: bool) -> str:
    limits = {"hygon.com/dcunum": 1, "hygon.com/dcumem": mem_mib, "hygon.com/dcucores": 10}
    pod = make_pod(containers=(make_container(limits=limits),))
    ask = Ask(
        pod,
        requests_of(pod, BACKENDS),
        BACKENDS,
        node_policy="binpack",
        card_policy="spread",
        quota=LIMITED,
        checks_all_quota=checks_all_quota,
    )
    found = predicate(ask, NodeUsage(make_node(), 1, (CARD,)))
    return found.reason if found.devices is None else "fits"


def test_a_limit_is_not_looked_at_by_default() -> None:
    assert outcome(mem_mib=1001, checks_all_quota=False) == "fits"


def test_with_the_flag_the_limit_holds_and_equality_fits() -> None:
    assert outcome(mem_mib=1001, checks_all_quota=True) == "1/1 ResourceQuotaNotFit"
    assert outcome(mem_mib=1000, checks_all_quota=True) == "fits"
