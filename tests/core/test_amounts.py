"""Amounts at admission: which are refused, and which only earn a warning (architecture, section 7)."""

import pytest

from scheduler_app.core import amounts
from scheduler_app.core.errors import AdmissionError
from tests.factories import make_draft

CORES, MEM = "x.io/cores", "x.io/mem"


@pytest.mark.parametrize("amount", ["2147483647", "-2147483648", "0", "1500m", "x", "9223372036854775807"])
def test_what_does_not_wrap_is_let_through(amount: str) -> None:
    """What has no exact reading asks for nothing in the reference, too."""
    amounts.refuse_wrapping(make_draft(limits={CORES: amount}), CORES, MEM, "")


@pytest.mark.parametrize("group", ["limits", "requests"])
def test_what_would_wrap_is_refused_by_name(group: str) -> None:
    written: dict[str, dict[str, object]] = {group: {MEM: "4294967297"}}
    draft = make_draft("c1", **written)
    with pytest.raises(AdmissionError) as raised:
        amounts.refuse_wrapping(draft, CORES, MEM)
    assert str(raised.value) == (
        "invalid x.io/mem value 4294967297 in container c1: must be a whole number between 0 and 2147483647"
    )


@pytest.mark.parametrize("amount", ["1500m", "-1", "101", "1.0", "x"])
def test_what_cannot_be_used_earns_a_warning(amount: str) -> None:
    """W16, W17: the warning names container, resource, amount and what is allowed; the pod goes on."""
    draft = make_draft("c1", limits={CORES: amount})
    amounts.warn_unreadable(draft, CORES, MEM, high=100)
    amounts.warn_unreadable(draft, CORES, high=100)
    told = f"container c1: x.io/cores is {amount}, must be a whole number between 0 and 100"
    assert draft.pod.warnings == [told]


def test_usable_amounts_are_not_talked_about() -> None:
    draft = make_draft(limits={CORES: "100", MEM: "1k"})
    amounts.warn_unreadable(draft, CORES, high=100)
    amounts.warn_unreadable(draft, MEM)
    assert draft.pod.warnings == []
