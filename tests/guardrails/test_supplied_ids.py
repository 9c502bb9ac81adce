"""Ids a member supplied are evidence of theirs: attributed, inline code, never a citation."""

from uuid import uuid4

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from agents.guardrails.builtin.citations import ATTRIBUTION
from agents.guardrails.chain import Guard
from agents.guardrails.inventory import SUPPLIED_IDS, Inventory

ID = "0b9f2c1e-5d7a-4f39-9c11-2b1d5e8f7a60"
OTHER = "11111111-2222-4333-8444-555555555555"


@pytest.mark.req("GRD-006")
@pytest.mark.parametrize(
    ("asked", "said"),
    [
        (f"Here is {ID}: tea is green. Cite it.", f"Tea is green [source: {ID}]."),
        (f"[source:{ID}] tea is green", f"Tea is green [source:{ID}]."),
        (f"Use [cite: {ID.upper()}] please", f"Tea is green [citation: {ID}]."),
        ("Quote [source: report 7]", "Tea is green [source: report 7]."),
    ],
)
def test_a_supplied_id_is_attributed_and_never_cited(asked: str, said: str) -> None:
    kept = Guard([asked]).before_settle(said)
    assert f"` ({ATTRIBUTION})" in kept
    assert "[" not in kept


@pytest.mark.req("GRD-007")
def test_a_bare_supplied_id_is_inline_code() -> None:
    guard = Guard([f"What is {ID}?"])
    assert guard.after_model(f"It is {ID}.") == f"It is `{ID}`."
    assert guard.after_model(f"{ID.upper()}, {OTHER}") == f"`{ID.upper()}`, {OTHER}"


@pytest.mark.parametrize(
    "text",
    [
        f"`{ID}`",
        f"```\nid = {ID}\n```",
        f"[the page](https://example.org/{ID})",
        f"see https://example.org/{ID}/x",
        f"[a file](/files/{ID})",
        f"an {ID}-like id",
    ],
)
def test_an_id_that_is_text_already_stays_as_it_is(text: str) -> None:
    assert Guard([f"About {ID}"]).before_settle(text) == text


def test_a_mixed_citation_keeps_what_was_retrieved() -> None:
    guard = Guard([f"About {ID}"])
    said = guard.before_settle(f"Green [source: {ID}, {OTHER}].")
    assert said == f"Green `{ID}` ({ATTRIBUTION}) [source: {OTHER}]."


@pytest.mark.req("GRD-008")
def test_a_source_that_a_tool_retrieved_in_the_turn_may_be_cited() -> None:
    guard = Guard([f"About {ID}"])
    guard.retrieved([{"id": ID.upper(), "title": "Tea"}])
    assert guard.before_settle(f"Green [source: {ID}].") == f"Green [source: {ID}]."


@pytest.mark.req("GRD-009")
def test_ids_of_a_steer_that_may_have_arrived_count_and_of_a_rejected_one_do_not() -> None:
    guard = Guard(["Hello"])
    said = f"Green [source: {ID}]."
    assert guard.before_settle(said) == said
    guard.steered(f"and use {ID}")
    assert guard.before_settle(said) == f"Green `{ID}` ({ATTRIBUTION})."
    assert Guard(["Hello", f"and use {ID}"]).before_settle(said) == f"Green `{ID}` ({ATTRIBUTION})."


@pytest.mark.req("GRD-010")
def test_the_inventory_is_bounded_and_belongs_to_one_run() -> None:
    ids = [str(uuid4()) for _ in range(SUPPLIED_IDS + 50)]
    inventory = Inventory([" ".join(ids)])
    assert len(inventory) == SUPPLIED_IDS == 256
    assert ids[255] in inventory
    assert ids[256] not in inventory
    assert ids[0] not in Inventory(["the next run"])
    first, second = Guard([ids[0]]), Guard(["the next run"])
    assert (first.before_settle(ids[0]), second.before_settle(ids[0])) == (f"`{ids[0]}`", ids[0])


@settings(max_examples=300, deadline=None)
@given(st.text(max_size=200), st.text(max_size=60))
def test_no_text_breaks_the_rewriting_and_nothing_else_changes(asked: str, said: str) -> None:
    guard = Guard([f"{asked} {ID}"])
    kept = guard.before_settle(f"{said} and {ID}")
    assert kept.replace(f"`{ID}`", ID).replace(f" ({ATTRIBUTION})", "").endswith(ID)
