"""What a node says of its cards, and the words for each way in which it may fail to."""

import pytest

from scheduler_app.core import registration_text
from scheduler_app.core.errors import CodecError, EmptyRegistrationError
from scheduler_app.core.types import VendorKey
from tests.factories import make_node

KEY = "hami.io/node-x-register"
X = VendorKey("X")


def test_json_cards_carry_the_vendor_that_asked() -> None:
    """VA-7: the ``devicevendor`` member is overwritten; a card without ``health`` is not healthy."""
    node = make_node(annotations={KEY: '[{"id":"a","devicevendor":"other"}]'})
    (card,) = registration_text.from_json_annotation(node, key=KEY, vendor=X)
    assert (card.id, card.vendor, card.healthy) == ("a", "X", False)


def test_csv_cards_are_read_too() -> None:
    """VB-20."""
    node = make_node(annotations={KEY: "a,10,1024,100,X-1,0,true:"})
    (card,) = registration_text.from_csv_annotation(node, key=KEY, vendor=X)
    assert (card.id, card.mem_mib, card.healthy) == ("a", 1024, True)


def test_a_missing_annotation_is_named() -> None:
    """VA-7."""
    with pytest.raises(CodecError, match=rf"^annos not found {KEY}$"):
        registration_text.from_json_annotation(make_node(), key=KEY, vendor=X)


@pytest.mark.parametrize("text", ["[]", "null"])
def test_an_empty_list_is_not_a_broken_one(text: str) -> None:
    """N06, VA-7: only the explicit "none" may make a vendor leave its node."""
    node = make_node(annotations={KEY: text})
    with pytest.raises(EmptyRegistrationError, match=r"^no gpu found on node$"):
        registration_text.from_json_annotation(node, key=KEY, vendor=X)


@pytest.mark.parametrize("text", ["", ":", "{}", "[null]", '[{"count":"1"}]', '[{"id":"a"}] x'])
def test_a_broken_list_is_not_an_empty_one(text: str) -> None:
    """Q-50."""
    node = make_node(annotations={KEY: text})
    with pytest.raises(CodecError) as raised:
        registration_text.from_json_annotation(node, key=KEY, vendor=X)
    assert not isinstance(raised.value, EmptyRegistrationError)


def test_a_vendor_may_have_its_own_word_for_empty() -> None:
    """ASC-E31."""
    node = make_node(annotations={KEY: ":"})
    with pytest.raises(EmptyRegistrationError, match=r"^nothing here$"):
        registration_text.from_csv_annotation(node, key=KEY, vendor=X, empty="nothing here")


@pytest.mark.parametrize(
    ("text", "amount"), [("8", 8), ("0.02k", 20), ("-1", -1), ("0", 0), ("1500m", 0), ("1.0", 0), ("x", 0)]
)
def test_capacity_is_read_exactly_or_not_at_all(text: str, amount: int) -> None:
    """VC-2."""
    assert registration_text.capacity(make_node(capacity={"x/gpu": text}), "x/gpu") == amount


def test_absent_capacity_is_zero_and_an_error_where_required() -> None:
    """MT-3, NEU-2."""
    assert registration_text.capacity(make_node(), "x/gpu") == 0
    with pytest.raises(CodecError, match=r"^device not found x/gpu$"):
        registration_text.required_capacity(make_node(capacity={"x/gpu": "1500m"}), "x/gpu")
    assert registration_text.required_capacity(make_node(capacity={"x/gpu": "-5"}), "x/gpu") == -5


def test_a_number_of_cards_that_no_node_has_is_refused() -> None:
    assert list(registration_text.card_positions(2, resource="x/gpu")) == [0, 1]
    assert list(registration_text.card_positions(-5, resource="x/gpu")) == []
    with pytest.raises(CodecError, match="x/gpu: 1000000000 cards"):
        registration_text.card_positions(10**9, resource="x/gpu")
