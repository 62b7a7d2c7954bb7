"""What a pod's page explains: the surprises that users report (field reports of webhook, fit and scores)."""

from dataclasses import replace
from typing import Any

import pytest
from django.test import Client

from dashboard.live.hub import hub
from scheduler_app.core import reasons
from scheduler_app.core.publication import AskView, DecisionView, NodeView, PodShare, PolicyView, ReasonGroup
from tests.dashboard.clusters import make_card_view, make_node_view, make_pending, make_publication

GPU = "NVIDIA-"


def node_of(name: str, *models: str, **card: Any) -> NodeView:
    cards = [
        make_card_view(id=f"{name}-{n}", index=n, model=GPU + model, **card) for n, model in enumerate(models)
    ]
    return make_node_view(name=name, cards=cards)


def ask(cards: int = 1, mem_mib: int = 0, percent: int = 100, **more: Any) -> AskView:
    return AskView("main", "NVIDIA", cards, mem_mib, percent, 0, **more)


def page(client: Client) -> str:
    response = client.get("/pods/vision/train-7")
    assert response.status_code == 200
    return response.content.decode()


def why(client: Client) -> dict[str, Any]:
    return client.get("/api/v1/pods/vision/train-7/why").json()  # type: ignore[no-any-return]


def publish(*nodes: NodeView, decision: DecisionView | None = None, **pod: Any) -> None:
    decisions = (decision,) if decision else ()
    pending = (make_pending(**pod),) if pod else ()
    revision = hub.mirror.picture.revision + 1
    hub.receive(make_publication(nodes=nodes, pending_put=pending, decisions=decisions, revision=revision))


def test_w14_a_bare_count_is_explained(alice: Client) -> None:
    """NV-24; whoever names an amount is not told so."""
    publish(node_of("n1", "A100"), asks=(ask(is_whole=True),))
    assert "whole card requested, no memory given" in page(alice)
    assert "whole card requested, no memory given" in why(alice)["notes"][0]
    publish(node_of("n1", "A100"), asks=(ask(mem_mib=3000),))
    assert "whole card" not in page(alice)


def test_f01_several_cards_are_not_shares_of_one(alice: Client) -> None:
    publish(
        node_of("n1", "A100"),
        asks=(ask(2, 1000),),
        cause=reasons.NODE_INSUFFICIENT_DEVICE,
        groups=(ReasonGroup(reasons.NODE_INSUFFICIENT_DEVICE, 1, ("n1",)),),
    )
    told = "Needs 2 NVIDIA GPUs on one node, no node has more than 1. Shares of one GPU are one GPU."
    assert told in page(alice)
    assert why(alice)["verdict"]["args"] == {"gpus": 2, "vendor": "NVIDIA", "most": 1}


def test_a_request_that_only_another_kind_could_hold_is_too_large(alice: Client) -> None:
    """F31: what a GPU of another vendor has is of no help."""
    large = make_card_view(id="a", model="NVIDIA-A100", mem_mib=(0, 81920))
    small = make_card_view(id="k", model="DCU-K100", mem_mib=(0, 65536))
    nodes = make_node_view(name="n1", cards=[large]), make_node_view(name="n2", cards=[small])
    publish(*nodes, asks=(AskView("main", "DCU", 1, 70000, 0, 0),))
    assert "No DCU GPU of this cluster has 68.4 GiB. The largest has 64.0 GiB." in page(alice)
    publish(*nodes, asks=(AskView("main", "DCU", 1, 65536, 0, 0),))
    assert "The largest has" not in page(alice)
    publish(*nodes, asks=(AskView("main", "DCU", 1, 90000, 0, 0),))
    assert "No GPU of this cluster has 87.9 GiB. The largest has 80.0 GiB." in page(alice)


def test_of_several_requests_the_one_that_is_too_large_is_told(alice: Client) -> None:
    """F31: the largest request may fit its own kind, and a smaller one not."""
    large = make_card_view(id="a", model="NVIDIA-A100", mem_mib=(0, 81920))
    small = make_card_view(id="k", model="DCU-K100", mem_mib=(0, 32768))
    two = AskView("a", "NVIDIA", 1, 70000, 0, 0), AskView("b", "DCU", 1, 40960, 0, 0)
    publish(make_node_view(name="n1", cards=[large, small]), asks=two)
    assert "No DCU GPU of this cluster has 40.0 GiB. The largest has 32.0 GiB." in page(alice)


def test_f01_of_several_requests_the_one_that_no_node_has_is_told(alice: Client) -> None:
    cards = [make_card_view(id=f"a{n}", model="NVIDIA-A100") for n in range(4)]
    other = make_card_view(id="k", model="DCU-K100")
    two = AskView("a", "NVIDIA", 4, 0, 100, 0), AskView("b", "DCU", 2, 0, 100, 0)
    publish(
        make_node_view(name="n1", cards=[*cards, other]), asks=two, cause=reasons.NODE_INSUFFICIENT_DEVICE
    )
    assert "Needs 2 DCU GPUs on one node, no node has more than 1." in page(alice)


def test_of_a_try_that_failed_no_node_is_said_to_be_full(alice: Client) -> None:
    """The pod had a place, and the API server did not take it."""
    publish(node_of("n1", "A100"), asks=(ask(),), cause="error", error="patch refused", groups=())
    found = why(alice)["verdict"]
    assert (found["kind"], found["text"]) == ("our_fault", "The last try ended in an error: patch refused")


def test_of_several_requests_none_is_said_to_fit_nowhere_by_itself(alice: Client) -> None:
    """F-21: each may fit, and not all of them beside each other."""
    two = ask(1, 40960), AskView("b", "NVIDIA", 1, 40960, 0, 0)
    publish(node_of("n1", "A100"), asks=two)
    told = why(alice)["verdict"]["text"]
    assert told.startswith("No node has room for all that this pod asks. ")


def test_kube_scheduler_s_words_are_shown_where_it_ruled_nodes_out(alice: Client) -> None:
    publish(node_of("n1", "A100"), asks=(ask(),), asked=1, before_text="0/1 nodes are available")
    assert "0/1 nodes are available" not in page(alice)
    nodes = [node_of(f"n{n}", "A100") for n in range(2)]
    publish(*nodes, asks=(ask(),), asked=1, before_text="1 Insufficient cpu")
    assert "1 Insufficient cpu" in page(alice)


def test_f39_both_the_amount_a_card_and_the_total_are_told(alice: Client) -> None:
    publish(node_of("n1", *["A100"] * 8, mem_mib=(40961, 81920)), asks=(ask(4, 40960),))
    assert "No node has 4 NVIDIA GPUs with 40.0 GiB free each. That is 160 GiB in total." in page(alice)


def test_f39_an_ask_of_slices_is_told_in_slices(alice: Client) -> None:
    """A card that is cut into slices has no memory to ask for."""
    sliced = AskView("main", "Enflame", 2, 0, 0, 0, slices=3)
    publish(make_node_view(name="n1", cards=[make_card_view(model="Enflame-S60")]), asks=(sliced,))
    told = "No node has 2 Enflame GPUs with 3 slices free each. That is 6 slices in total."
    assert told in page(alice)


@pytest.mark.parametrize(
    ("lists", "told"),
    [
        ({"models": "H20"}, "H20 matches 2 models: NVIDIA-H20, NVIDIA-H200."),
        ({"models": "H20", "no_models": "H200"}, "H20, !(H200) matches 1 model: NVIDIA-H20."),
        ({"no_models": "h20"}, "!(h20) matches 1 model: NVIDIA-A100."),
        ({"models": "L40"}, "No NVIDIA model of this cluster matches L40."),
        ({"models": "Ascend-H20"}, "No NVIDIA model of this cluster matches Ascend-H20."),
    ],
)
def test_f22_the_models_that_a_list_matched_are_shown(
    alice: Client, lists: dict[str, str], told: str
) -> None:
    """P-16; models of other vendors are not among them."""
    other = make_node_view(name="n9", cards=[make_card_view(id="x", model="Ascend-H20")])
    publish(node_of("n1", "H20", "H200", "A100"), other, asks=(ask(**lists),))  # type: ignore[arg-type]  # test data
    assert told in page(alice)


@pytest.mark.parametrize(("priority", "is_told"), [(1000, True), (0, False), (-1, False)])
def test_k02_a_pod_with_a_priority_hears_that_nothing_is_preempted(
    alice: Client, priority: int, is_told: bool
) -> None:
    """CFG-12: no preempt verb is offered."""
    publish(node_of("n1", "A100"), asks=(ask(1, 8000),), priority=priority)
    told = "Shares of GPUs are not preempted"
    assert (told in page(alice)) is is_told
    text = alice.get("/api/v1/pods/vision/train-7/why?format=text").content.decode()
    assert (told in text) is is_told


def decision(**changes: Any) -> DecisionView:
    made = DecisionView(
        at_ms=1, namespace="vision", pod="train-7", uid="u-1", kind="placed", node="n1", score=2.5, asked=2,
        fitted=2, duration_ms=1.0, node_policy=PolicyView("binpack"), card_policy=PolicyView("spread"),
        score_parts={"": 2.5, "NVIDIA": 0.0},
    )  # fmt: skip
    return replace(made, **changes)


def test_p10_a_pod_that_nobody_owns_has_no_template_to_mend(alice: Client) -> None:
    publish(node_of("n1", "A100"), decision=decision(), owner="")
    assert "from the scheduler&#x27;s settings" in page(alice)
    assert "itself has no effect" not in page(alice)


def test_p10_the_policy_and_whose_word_it_is_are_shown(alice: Client) -> None:
    """The annotation is on the Deployment only: the settings count, and the page says where it belongs."""
    publish(node_of("n1", "A100"), decision=decision(), owner="Deployment/train")
    found = page(alice)
    assert "<strong>binpack</strong> from the scheduler&#x27;s settings" in found
    told = "hami.io/node-scheduler-policy on Deployment/train itself has no effect"
    assert told in found
    own = decision(node_policy=PolicyView("binpack", is_own=True))
    publish(node_of("n1", "A100"), decision=own, owner="Deployment/train")
    assert "<strong>binpack</strong> from the pod&#x27;s annotation hami.io/node-scheduler-policy" in page(
        alice
    )
    assert told not in page(alice)


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        (
            {"node_policy": PolicyView("spred", is_own=True)},
            "“spred”: no such policy, so this acts as binpack.",
        ),
        ({"node_policy": PolicyView("spred")}, "“spred”: no such policy, so this acts as binpack."),
        (
            {"card_policy": PolicyView("numa,binpak", is_own=True)},
            "“binpak”: no such policy, so this acts as numa.",
        ),
        (
            {"card_policy": PolicyView("binpak, mutex ,binpack,", is_own=True)},
            "“binpak”: no such policy, so this acts as mutex, binpack.",
        ),
        (
            {"card_policy": PolicyView("a,b", is_own=True)},
            "“a”, “b”: no such policy, so this acts as spread.",
        ),
        (
            {"card_policy": PolicyView(" binpack", is_own=True)},
            "“ binpack”: no such policy, so this acts as spread.",
        ),
        ({"card_policy": PolicyView("", is_own=True)}, "“”: no such policy, so this acts as spread."),
    ],
)
def test_p10_a_misspelt_policy_is_told(alice: Client, changes: dict[str, Any], told: str) -> None:
    """F-24, F-40: of a list the words that are policies count; a single one counts as it is written."""
    publish(node_of("n1", "A100"), decision=decision(**changes), owner="")
    assert told in page(alice)


@pytest.mark.parametrize("name", ["numa,mutex", " numa ,topology-aware", "mutex", "topology-aware"])
def test_p10_what_is_a_policy_is_not_called_none(alice: Client, name: str) -> None:
    made = decision(card_policy=PolicyView(name, is_own=True))
    publish(node_of("n1", "A100"), decision=made, owner="")
    assert "is no policy" not in page(alice)


def test_p10_a_pod_is_not_told_how_one_of_the_same_name_was_judged(alice: Client) -> None:
    """A StatefulSet gives the name again; its former pod may have said otherwise."""
    former = decision(uid="former", node_policy=PolicyView("spread", is_own=True))
    publish(node_of("n1", "A100"), decision=former, owner="StatefulSet/train")
    assert "How it was judged" not in page(alice)
    publish(node_of("n1", "A100"), decision=decision(), owner="StatefulSet/train")
    assert "How it was judged" in page(alice)


@pytest.mark.parametrize(
    ("policy", "told"),
    [("spread", "lower is better under spread"), ("binpack", "higher is better, except under spread")],
)
def test_p11_which_scores_win_is_told(alice: Client, policy: str, told: str) -> None:
    """F-40, P02: with the parts the score is made of."""
    made = decision(node_policy=PolicyView(policy), score=12.5, score_parts={"": 2.5, "Vastai": 10.0})
    publish(node_of("n1", "A100"), decision=made, owner="")
    assert f"12.50 = 2.50 use of the node + 10.00 Vastai; {told}" in page(alice)


def test_f08_the_container_that_holds_a_card_is_named(alice: Client) -> None:
    """P-8: also of a pod whose init container holds nothing."""
    share = PodShare("u-1", "vision", "train-7", 6144, 30, 1, "Running", containers=("trainer",))
    publish(node_of("n1", "A100", pods=(share,)))
    assert 'data-word="Container">trainer</td>' in page(alice)
