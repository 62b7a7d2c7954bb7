"""What the console says of vendors' amounts comes from their backends, whatever vendors there are."""

import re
from typing import Any

import pytest
from django.test import Client

from dashboard.live.hub import hub
from dashboard.picture import rows
from dashboard.picture.causes import ask_text
from dashboard.picture.digest import Digest
from dashboard.picture.packing import strips
from dashboard.picture.summary import summary
from scheduler_app.core.display import CORES, PERCENT
from scheduler_app.core.publication import AskView, CardView
from tests.dashboard.clusters import make_card_view, make_node_view, make_publication
from tests.dashboard.conftest import now_ms
from tests.dashboard.every_vendor import devices, publication, view_of, views

KEYS = sorted(devices().backends)
AMD: dict[str, Any] = {
    "id": "amd",
    "vendor": "AMD",
    "model": "MI300X",
    "cores_unit": "CU",
    "cores": (152, 304),
}
UNCOUNTED: dict[str, Any] = {
    "id": "br",
    "vendor": "Biren",
    "model": "BR166M",
    "mem_mib": None,
    "cores": None,
    "shares": (1, 2),
}


@pytest.fixture
def everything() -> None:
    hub.source = publication
    hub.receive(publication())


def held(key: str) -> CardView:
    """Return the card of this kind that the pod is on."""
    return next(card for card in view_of(key).cards if card.pods)


def read(client: Client, path: str, language: str = "en") -> str:
    """Return a page without the words that it brings for the browser."""
    answer = client.get(path, headers={"accept-language": language})
    assert answer.status_code == 200
    return re.sub(r"<script.*?</script>", "", answer.content.decode(), flags=re.DOTALL)


def meters(page: str) -> list[str]:
    """Return the labels of the bars that are drawn."""
    return re.findall(r'<span class="meter" data-bar="([^"]+)"', page)


def test_every_kind_of_card_has_its_node() -> None:
    assert [key for key in KEYS if not held(key).pods] == []
    assert len(views()) == len(KEYS)


@pytest.mark.parametrize("key", KEYS)
def test_a_bar_is_drawn_for_what_is_counted_and_moves(key: str) -> None:
    """A vendor that counts memory must show some of it in use under a pod, or it looks idle (19)."""
    card = held(key)
    for pair in (card.mem_mib, card.shares):
        assert pair is None or 0 < pair[0] <= pair[1]
    assert card.mem_mib is None or card.mem_mib[1] > 1024
    assert card.cores is None or 0 <= card.cores[0] <= card.cores[1]


@pytest.mark.usefixtures("everything")
@pytest.mark.parametrize("key", KEYS)
def test_a_node_page_names_units_and_marks_what_nobody_counts(key: str, alice: Client) -> None:
    view = view_of(key)
    page = read(alice, f"/nodes/{view.name}")
    card, drawn = held(key), meters(page)
    cores = "cores" if card.cores_unit in (PERCENT, CORES) else card.cores_unit
    assert ("mem" in drawn, cores in drawn) == (card.mem_mib is not None, card.cores is not None)
    assert ("not counted" in page) == (None in (card.mem_mib, card.cores))
    assert card.cores_unit == PERCENT or f"{card.cores and card.cores[0]}/" in page
    assert "None" not in page


@pytest.mark.usefixtures("everything")
@pytest.mark.parametrize(
    "path", ["/", "/fleet", "/fleet?as=table", "/nodes?sort=-mem_mib", "/nodes?sort=cores_percent",
             "/nodes?sort=largest_free_mib", "/pods/default/on-biren"]
)  # fmt: skip
def test_pages_render_a_cluster_of_every_vendor(path: str, alice: Client) -> None:
    assert "not counted" in read(alice, path)


@pytest.mark.usefixtures("everything")
def test_chinese_says_not_counted_too(alice: Client) -> None:
    page = read(alice, f"/nodes/{view_of('Biren').name}", "zh-CN")
    assert "不计量" in page
    assert "not counted" not in page


@pytest.mark.usefixtures("everything")
def test_rest_tells_null_and_not_zero_for_what_nobody_counts(alice: Client) -> None:
    name = view_of("Biren").name
    node = alice.get(f"/api/v1/nodes/{name}").json()
    assert (node["mem_mib"], node["cores_percent"], node["largest_free_mib"]) == (None, None, None)
    (share,) = node["allocations"]
    assert (share["mem_mib"], share["cores_percent"], share["shares"]) == (None, None, 1)


def test_rest_tells_cores_in_percent_and_in_the_vendor_s_unit() -> None:
    card = make_card_view(**AMD)
    row = rows.card_row(card, make_node_view(cards=[card]))
    assert (row["cores_percent"], row["cores"], row["cores_unit"]) == ((50, 100), (152, 304), "CU")


def test_cores_of_different_units_are_summed_as_parts_of_a_gpu() -> None:
    """152 of 304 compute units and 100 percent are one GPU and a half, not 252 of anything."""
    node = make_node_view(cards=[make_card_view(**AMD), make_card_view(cores=(100, 100))])
    assert Digest.of(node).total.cores == [150, 200]


def test_what_nobody_counts_is_in_no_sum() -> None:
    node = make_node_view(cards=[make_card_view(**UNCOUNTED), make_card_view(mem_mib=(40960, 81920))])
    digest = Digest.of(node)
    assert digest.total.mem_mib == [40960, 81920]
    assert digest.models["BR166M"].mem_mib is None
    assert digest.models["BR166M"].cores is None
    assert not digest.drifted


def test_a_model_that_nobody_counts_has_no_pieces_but_whole_gpus() -> None:
    free = make_card_view(**{**UNCOUNTED, "shares": (0, 2)})
    hub.receive(make_publication(nodes=(make_node_view(cards=[free]),)))
    (room,) = summary(hub.mirror.picture, now_ms())["room"]
    assert (room["mem_mib"], room["cores"], room["piece_mib"], room["whole"]) == (None, None, 0, 1)


def test_gpus_given_whole_offer_no_pieces() -> None:
    hub.receive(make_publication(nodes=(make_node_view(cards=[make_card_view(shares=(0, 1))]),)))
    (room,) = summary(hub.mirror.picture, now_ms())["room"]
    assert (room["whole"], room["piece_mib"], room["pieces"]) == (1, 0, 0)


def test_the_atlas_gets_no_total_for_what_nobody_counts() -> None:
    hub.receive(make_publication(nodes=(make_node_view(cards=[make_card_view(**UNCOUNTED)]),)))
    topology = hub.mirror.picture.topology
    assert (topology.mem, topology.cores, topology.shares) == ((0,), (0,), (2,))


def test_a_pod_is_laid_by_shares_where_nothing_else_is_counted() -> None:
    strip = next(strip for strip in strips(view_of("Biren")) if strip.card.pods)
    assert (strip.measure, strip.free) == ("shares", 0)
    assert [(piece.label, piece.w) for piece in strip.pieces] == [("on-biren", "100.0%")]


def test_a_pod_is_laid_by_cores_where_memory_is_not_counted() -> None:
    strip = next(strip for strip in strips(view_of("AWSNeuron")) if strip.card.pods)
    assert (strip.measure, strip.pieces[0].detail) == ("cores", "2 cores, NC0-1")


def test_rest_and_the_scheduler_page_list_units(alice: Client) -> None:
    kinds = {kind["key"]: kind for row in alice.get("/api/v1/vendors").json() for kind in row["kinds"]}
    assert sorted(kinds) == sorted(KEYS)
    assert kinds["AMD"] == {"key": "AMD", "memory": "MiB", "cores": "CU"}
    assert kinds["Biren"] == {"key": "Biren", "memory": "", "cores": ""}
    page = read(alice, "/scheduler")
    assert ">CU</td>" in page
    assert "not counted" in page


@pytest.mark.parametrize(
    ("ask", "text"),
    [
        (AskView("c", "AMD", 1, 0, 0, 30), "AMD 30 % cores"),
        (AskView("c", "Mthreads", 1, 1024, 0, 4, "cores"), "Mthreads 1 GiB 4 cores"),
        (AskView("c", "AWSNeuron", 1, 0, 0, 1, "cores"), "AWSNeuron 1 core"),
        (AskView("c", "Enflame", 1, 0, 0, 0, slices=3), "Enflame 3 slices"),
        (AskView("c", "Biren", 2, 0, 0, 0), "Biren"),
    ],
)
def test_what_a_pod_asks_has_the_vendor_s_unit(ask: AskView, text: str) -> None:
    assert ask_text([ask]) == f"{text} \u00d7 {ask.cards}"
