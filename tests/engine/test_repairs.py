"""What a failure allows next is enforced, whatever the model would like."""

import pytest

from agents.engine.conduct import Conduct, blocked, follow
from agents.engine.events import CallRequested, Repair, ToolSettled
from agents.engine.repairs import Standing, block
from agents.engine.repairs import follow as take
from tests.engine.calls import call, failed, settled

FINAL = Repair(retryable=False, substitutable=False)
ANOTHER_WAY = Repair(retryable=False, substitutable=True)


def after(made: CallRequested, result: ToolSettled) -> Standing:
    return take(Standing(), [made], [result])


@pytest.mark.req("BND-016", "BND-017")
def test_after_a_failure_without_a_way_on_any_call_is_blocked() -> None:
    save = call("save", writes=True, text="x")
    standing = after(save, failed(save, FINAL))
    assert block(standing, call("look")) == "repair_exhausted"
    assert block(standing, save) == "repair_exhausted"


@pytest.mark.req("BND-017")
def test_the_blocked_call_closes_the_turn_and_an_answer_does_not() -> None:
    save, look = call("save", writes=True), call("look", "c2")
    conduct, verdict = follow(Conduct(), [save], [failed(save, FINAL)])
    assert verdict.closes == ""  # the model has its one answer
    assert blocked(conduct, [look]) == {"c2": "repair_exhausted"}
    refused = settled(look, "denied", denial="repair_exhausted", ends_turn="repair_exhausted")
    assert follow(conduct, [look], [refused])[1].closes == "repair_exhausted"


def test_a_result_that_was_only_given_again_seals_nothing() -> None:
    save = call("save", writes=True)
    again = settled(save, "success", repair=FINAL)
    assert block(after(save, again), call("look")) == ""


@pytest.mark.req("BND-015", "BND-018")
def test_another_try_may_not_change_what_is_locked() -> None:
    edit = call("edit", writes=True, id="7", text="old")
    standing = after(edit, failed(edit, Repair(retryable=True, locked_arguments=("id",))))
    assert block(standing, call("edit", id="7", text="new")) == ""
    assert block(standing, call("edit", id="8", text="new")) == "repeat_refused"
    assert block(standing, call("edit", text="new")) == "repeat_refused"
    assert block(standing, call("look", id="8")) == ""


@pytest.mark.req("BND-018")
def test_a_locked_argument_that_was_absent_stays_absent() -> None:
    edit = call("edit", text="old")
    standing = after(edit, failed(edit, Repair(retryable=True, locked_arguments=("id",))))
    assert block(standing, call("edit", text="new")) == ""
    assert block(standing, call("edit", id="8", text="new")) == "repeat_refused"


def test_a_success_lifts_the_lock() -> None:
    edit = call("edit", id="7")
    directive = Repair(retryable=True, locked_arguments=("id",))
    standing = take(after(edit, failed(edit, directive)), [edit], [settled(edit)])
    assert block(standing, call("edit", id="8")) == ""


@pytest.mark.req("BND-015")
def test_where_the_same_tool_is_required_no_other_makes_a_change_instead() -> None:
    edit = call("edit", writes=True)
    alone = Repair(retryable=True, same_tool_required=True, substitutable=False)
    standing = after(edit, failed(edit, alone))
    assert block(standing, call("create", writes=True)) == "repeat_refused"
    assert block(standing, call("look")) == ""
    assert block(standing, edit) == ""


@pytest.mark.req("BND-050")
def test_where_another_way_is_safe_the_turn_stays_open_for_it() -> None:
    save = call("save", writes=True, text="x")
    conduct, verdict = follow(Conduct(), [save], [failed(save, ANOTHER_WAY)])
    assert verdict.closes == ""
    assert blocked(conduct, [call("create", "c2", writes=True), call("save", "c3")]) == {}


def test_a_failure_without_directive_allows_everything() -> None:
    save = call("save", writes=True)
    assert block(after(save, failed(save)), call("look")) == ""
