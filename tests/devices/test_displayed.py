"""What people read of each vendor's cards: units, what is counted, modes, names of parts (console.md 4)."""

import pytest

from scheduler_app import deviceconfig, vendortable
from scheduler_app.core.backend import DeviceBackend
from scheduler_app.core.display import Asked
from scheduler_app.core.types import Allocation, CardId, CardRequest, CardUsage, Pod, VendorKey
from tests.factories import make_card, make_container, make_node, make_pod

DEFAULT = deviceconfig.load(vendortable.CONFIG.read_text(encoding="utf-8"), vendortable.all_enabled())
BACKENDS = DEFAULT.backends
SOFT_NODE = make_node(annotations={"hami-vnpu-core": "true"})


def of(key: str) -> DeviceBackend:
    return BACKENDS[VendorKey(key)]


def held(mem_mib: int = 0, cores: int = 0) -> Allocation:
    """Return what a container holds, as it reads after a restart: without the vendor's own data."""
    return Allocation(CardId("a"), "x", mem_mib, cores)


def part(key: str, mem_mib: int = 0, *, cores: int = 0, given: dict[str, str] | None = None) -> str:
    """Return the name of the first container's part."""
    return of(key).part(pod(given or {}), 0, held(mem_mib, cores))


def pod(annotations: dict[str, str]) -> Pod:
    return make_pod(annotations=annotations, containers=(make_container("main"),))


def shown(key: str, card: CardUsage) -> tuple[object, object, str]:
    """Return memory and cores as shown, with the unit of the cores."""
    backend = of(key)
    return backend.shown_memory(card), backend.shown_cores(card, make_node()), backend.cores_unit


@pytest.mark.parametrize("backend", BACKENDS.values(), ids=lambda backend: backend.vendor_key)
def test_every_backend_names_its_units(backend: DeviceBackend) -> None:
    """A resource that can be asked for has a unit; so has what a card counts."""
    assert backend.cores_unit
    assert backend.asked_cores_unit
    assert not backend.names.mem or backend.names.mem_unit
    assert backend.counts_cores or backend.asked(CardRequest(1, backend.vendor_key, cores=50)).cores == 0


@pytest.mark.parametrize("backend", BACKENDS.values(), ids=lambda backend: backend.vendor_key)
@pytest.mark.parametrize("mem_mib", [0, 1])
def test_a_placeholder_is_no_memory(backend: DeviceBackend, mem_mib: int) -> None:
    """Unknown is not zero: a card that registers 0 or 1 MiB has no memory that is counted."""
    assert backend.shown_memory(make_card(vendor=backend.vendor_key, mem_mib=mem_mib)) is None


def test_amd_32_cores_of_a_card_are_compute_units_though_pods_ask_percent() -> None:
    """AMD-3, AMD-32."""
    card = make_card(vendor="AMD", cores=304, used=(1, 4096, 152))
    assert shown("AMD", card) == ((4096, 16384), (152, 304), "CU")
    assert of("AMD").asked_cores_unit == "%"


def test_mt_3_a_card_has_sixteen_cores() -> None:
    """MT-3."""
    card = make_card(vendor="Mthreads", cores=16, used=(1, 512, 4))
    assert shown("Mthreads", card) == ((512, 16384), (4, 16), "cores")


@pytest.mark.parametrize(
    ("mask", "cores", "name"), [(1, 1, "NC0"), (2, 1, "NC1"), (3, 2, "NC0-1"), (0, 0, "")]
)
def test_neu_2_a_mask_reads_as_a_number_of_cores(mask: int, cores: int, name: str) -> None:
    """NEU-2: Neuron counts no memory."""
    card = make_card(vendor="AWSNeuron", cores=3, mem_mib=0, used=(1, 0, mask))
    assert shown("AWSNeuron", card) == (None, (cores, 2), "cores")
    assert part("AWSNeuron", cores=mask) == name


@pytest.mark.parametrize("key", ["Biren", "Vastai"])
def test_br_7_only_shares_of_a_card_are_counted(key: str) -> None:
    """BR-7, VS-21."""
    assert shown(key, make_card(vendor=key, used=(1, 0, 0)))[:2] == (None, None)
    assert of(key).asked(CardRequest(1, VendorKey(key), mem_percent=100)) == Asked()


def test_vs_23_a_die_names_its_physical_card() -> None:
    """VS-23."""
    die = make_card(vendor="Vastai", custom={"DeviceStrategy": "die", "AIC": "aic-7"})
    assert of("Vastai").shown_mode(die) == "die aic-7"
    assert of("Vastai").shown_mode(make_card(vendor="Vastai")) == ""


@pytest.mark.parametrize(
    ("key", "mem_mib", "name"),
    [("Ascend910A", 2184, "vir02"), ("Ascend910B2", 8192, "vir03_1c_8g"), ("Ascend910B2", 65536, "")],
)
def test_asc_14_a_part_is_named_after_its_template(key: str, mem_mib: int, name: str) -> None:
    """ASC-14: a whole card has none."""
    assert part(key, mem_mib) == name


def test_asc_7_soft_split_has_a_name_of_its_own() -> None:
    """ASC-7."""
    assert part("Ascend910B2", 8192, given={"huawei.com/vnpu-mode": "hami-core"}) == "hami-core"


def test_asc_44_cores_are_percent_where_soft_split_can_be_had_and_uncounted_elsewhere() -> None:
    """ASC-23, ASC-44: a card registers AI cores, of which nobody counts any; soft split is percent."""
    card = make_card(vendor="Ascend910B2", cores=24, used=(1, 1024, 30))
    assert of("Ascend910B2").shown_cores(card, make_node()) is None
    assert of("Ascend910B2").shown_cores(card, SOFT_NODE) == (30, 100)


@pytest.mark.parametrize(("mode", "shown"), [("mig", (100, 100)), ("hami-core", (103, 100))])
def test_instances_never_show_more_cores_than_the_card_has(mode: str, shown: tuple[int, int]) -> None:
    """P-4: each registers whole percent, rounded up; where pods really have more, it is not hidden."""
    card = make_card(vendor="NVIDIA", mode=mode, used=(5, 1024, 103))
    assert of("NVIDIA").shown_cores(card, make_node()) == shown


@pytest.mark.parametrize("key", ["GCU", "Metax-GPU", "kunlun"])
def test_kl_4_a_card_that_is_given_whole_is_one_share(key: str) -> None:
    """KL-2, KL-4, GCU-2, MX-2: and a pod asks nothing of it but to have it."""
    backend = of(key)
    assert backend.shown_shares(make_card(vendor=key, shares=100, used=(1, 0, 0))) == (1, 1)
    assert backend.asked(CardRequest(2, VendorKey(key), 100, 100, 100)) == Asked()


def test_gcu_2_the_100_of_a_whole_card_is_no_memory() -> None:
    """GCU-2."""
    assert of("GCU").shown_memory(make_card(vendor="GCU", mem_mib=100, used=(1, 100, 100))) is None


def test_enf_8_shares_are_slices() -> None:
    """ENF-8: recorded, a container counts one share whatever slice it has; 100 % of the cores are all six."""
    card = make_card(vendor="Enflame", shares=6, used=(1, 40960, 100), custom={"maxSlice": 6})
    assert of("Enflame").shown_shares(card) == (6, 6)
    card = make_card(vendor="Enflame", shares=6, used=(2, 12288, 34), custom={"maxSlice": 6})
    assert of("Enflame").shown_shares(card) == (2, 6)


@pytest.mark.parametrize(
    ("text", "name"),
    [('{"main":{"profileName":"3g.20gb"}}', "3g.20gb"), ('{"other":{}}', ""), ("[", ""), ("[1]", "")],
)
def test_enf_10_a_slice_is_named_after_its_profile(text: str, name: str) -> None:
    """ENF-10: a text that cannot be read names none."""
    assert part("Enflame", 20480, given={"assigned-containers": text}) == name


@pytest.mark.parametrize(
    ("request_", "asked"),
    [
        (CardRequest(1, VendorKey("Enflame"), 3, 0, 0), Asked(slices=3)),
        (CardRequest(1, VendorKey("Enflame"), 10, -1, 30), Asked(mem_mib=10240, cores=30)),
        (CardRequest(1, VendorKey("Enflame"), 8192, -1, 0), Asked(mem_mib=8192)),
    ],
)
def test_enf_5_what_a_pod_asks_is_slices_or_gibibytes(request_: CardRequest, asked: Asked) -> None:
    """ENF-5, ENF-6: the number of slices stands where others have MiB."""
    assert of("Enflame").asked(request_) == asked


@pytest.mark.parametrize(("mem_mib", "name"), [(24576, "1/4"), (49152, "1/2"), (98304, "")])
def test_klv_4_a_slice_is_a_fraction(mem_mib: int, name: str) -> None:
    """KLV-4."""
    assert part("XPU", mem_mib) == name


def test_mxs_9_the_mode_of_a_card_in_use_is_its_quality_of_service() -> None:
    """MXS-9: an idle card binds nobody."""
    reported = make_card(vendor="Metax-SGPU", custom={"QosPolicy": "burst-share"}, used=(1, 1024, 10))
    backend = of("Metax-SGPU")
    assert backend.shown_mode(reported) == "burst-share"
    assert backend.shown_mode(make_card(vendor="Metax-SGPU", custom={"QosPolicy": "burst-share"})) == ""


@pytest.mark.parametrize(
    ("cores", "app_class", "name"),
    [(30, "", "fixed-share"), (100, "", ""), (0, "online", "online"), (30, "offline", "offline fixed-share")],
)
def test_mxs_5_a_part_is_named_after_class_and_policy(cores: int, app_class: str, name: str) -> None:
    """MXS-5, MXS-14."""
    given = {"metax-tech.com/sgpu-qos-policy": "fixed-share", "metax-tech.com/sgpu-app-class": app_class}
    assert part("Metax-SGPU", 1024, cores=cores, given=given) == name
