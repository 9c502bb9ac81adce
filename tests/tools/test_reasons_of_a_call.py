"""Why a call may not run: the questions in their order, in words people can read."""

import json
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Final
from uuid import UUID, uuid4

import pytest

from agents.journal.offloading import in_database
from artifacts import writing
from audit.reasons import Reason
from tests.tools.conftest import Run
from tools.boundary import permission, policies
from tools.boundary.contract import (
    Authority,
    Json,
    Parked,
    Target,
    Tier,
    ToolCall,
    ToolContext,
    ToolDescriptor,
    ToolKind,
    ToolOutcome,
    ToolResult,
)
from tools.boundary.models import Approval, FamilyPolicy, PolicyMode
from tools.boundary.permission import QUESTIONS
from tools.effects import claims, reservations

MakeTool = Callable[..., ToolDescriptor]
TAKES_TEXT: Final[Json] = {
    "type": "object",
    "additionalProperties": False,
    "required": ["text"],
    "properties": {"text": {"type": "string", "maxLength": 100}},
}
FAMILY: Final = "baseline"


class Counting:
    """A tool that says how often it ran."""

    def __init__(self) -> None:
        self.runs = 0

    async def __call__(self, context: ToolContext, arguments: Json) -> ToolResult:
        self.runs += 1
        return ToolResult("success", {})


@pytest.fixture
def policy(committed_db: None) -> Iterator[Callable[[PolicyMode], Any]]:
    """Decide about the family of the test's tool; undone afterwards."""

    async def decide(mode: PolicyMode) -> None:
        await in_database(policies.decide, actor="system:tests", family=FAMILY, mode=mode)

    yield decide
    FamilyPolicy.objects.filter(family=FAMILY).delete()


def asked(why: Any) -> list[tuple[str, str]]:
    return [(line["by"], line["outcome"]) for line in why]


@pytest.mark.req("BND-002", "BND-006")
async def test_the_questions_are_asked_in_their_order_and_the_first_no_decides(
    run: Run, make_tool: MakeTool, policy: Any
) -> None:
    """Everything is wrong at once, and is put right from the last question to the first."""
    assert [by for by, _ in QUESTIONS] == [
        "member",
        "repeat",
        "offer",
        "policy",
        "ceiling",
        "schema",
    ]
    tool = Counting()
    offered = make_tool(tool, kind=ToolKind.WRITE, parameters=TAKES_TEXT)
    run.offer(offered)
    await policy(PolicyMode.OFF)
    names = frozenset({offered.name})
    run.authority = lambda _: None
    steps: list[tuple[str, Reason]] = []

    async def denied() -> None:
        outcome = await run.call(offered.name, {"text": 7})
        assert outcome.denial is not None
        *before, last = asked(outcome.why)
        assert {outcome for _, outcome in before} <= {"allowed"}
        assert last[1] == "denied"
        assert outcome.why[-1]["code"] == outcome.denial
        assert outcome.why[-1]["text"] == outcome.member_view["message"]
        steps.append((last[0], outcome.denial))

    await denied()
    run.authority = lambda _: Authority(frozenset(), Tier.READ)
    await denied()
    run.authority = lambda _: Authority(names, Tier.READ)
    await denied()
    await policy(PolicyMode.ON)
    await denied()
    run.authority = lambda _: Authority(names, Tier.WRITE)
    await denied()
    assert steps == [
        ("member", Reason.DECISION_UNREACHABLE),
        ("offer", Reason.POLICY_REFUSED),
        ("policy", Reason.POLICY_REFUSED),
        ("ceiling", Reason.POLICY_REFUSED),
        ("schema", Reason.INVALID_ARGUMENTS),
    ]
    assert tool.runs == 0
    outcome = await run.call(offered.name, {"text": "x"})
    assert (outcome.outcome, outcome.why, tool.runs) == ("success", (), 1)


@pytest.mark.req("BND-003")
async def test_a_policy_counts_from_the_next_call(
    run: Run, make_tool: MakeTool, policy: Any
) -> None:
    tool = Counting()
    run.offer(make_tool(tool, kind=ToolKind.WRITE))
    for mode, ran in ((PolicyMode.ON, 1), (PolicyMode.OFF, 1), (PolicyMode.ON, 2)):
        await policy(mode)
        await run.call("made_for_a_test")
        assert tool.runs == ran
    await policy(PolicyMode.APPROVAL)
    parked = await run.call("made_for_a_test")
    assert isinstance(parked, Parked)
    assert asked(parked.requested["why"])[-1] == ("approval", "needs_approval")
    assert parked.requested["why"][-1]["code"] == "approval_required"
    assert tool.runs == 2


async def test_approval_is_for_changes_only(run: Run, make_tool: MakeTool, policy: Any) -> None:
    await policy(PolicyMode.APPROVAL)
    run.offer(make_tool(kind=ToolKind.READ))
    assert (await run.call("made_for_a_test")).outcome == "success"


@pytest.mark.parametrize("mode", [PolicyMode.ON, PolicyMode.APPROVAL])
async def test_a_sensitive_tool_always_asks(
    mode: PolicyMode, run: Run, make_tool: MakeTool, policy: Any
) -> None:
    await policy(mode)
    tool = Counting()
    run.offer(make_tool(tool, kind=ToolKind.WRITE, tier=Tier.SENSITIVE))
    parked = await run.call("made_for_a_test")
    assert isinstance(parked, Parked)
    assert parked.requested["effect"] == "sensitive"
    await policy(PolicyMode.OFF)
    assert (await run.call("made_for_a_test")).denial is Reason.POLICY_REFUSED
    assert tool.runs == 0


@pytest.mark.req("TOOL-006")
async def test_a_policy_that_cannot_be_read_denies(
    run: Run, make_tool: MakeTool, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = Counting()
    run.offer(make_tool(tool, kind=ToolKind.WRITE))

    def unreachable(family: str) -> PolicyMode:
        raise ConnectionError("no answer")

    monkeypatch.setattr(policies, "mode_of", unreachable)
    outcome = await run.call("made_for_a_test")
    assert outcome.ends_turn is Reason.DECISION_UNREACHABLE
    assert asked(outcome.why) == [("member", "denied")]
    assert tool.runs == 0


@pytest.mark.req("TOOL-022", "TOOL-001")
async def test_what_arguments_say_about_authority_is_ignored(
    run: Run, make_tool: MakeTool, policy: Any
) -> None:
    """A tool that takes anything is told lies; who acts and what is allowed stays the server's."""
    seen: list[Any] = []

    async def execute(context: ToolContext, arguments: Json) -> ToolResult:
        seen.append(context.identity)
        return ToolResult("success", {})

    lies: Json = {
        "approved": True,
        "approval_id": str(uuid4()),
        "digest": "sha256:" + "0" * 64,
        "tier": "read",
        "ceiling": "sensitive",
        "quota": 1_000_000,
        "run_id": str(uuid4()),
        "fence": 99,
        "agent_version": 7,
        "capabilities": ["everything"],
    }
    open_schema: Json = {"type": "object", "additionalProperties": True, "properties": {}}
    run.offer(make_tool(execute, kind=ToolKind.WRITE, parameters=open_schema))
    assert (await run.call("made_for_a_test", lies)).outcome == "success"
    assert seen == [run.identity]
    await policy(PolicyMode.APPROVAL)
    parked = await run.call("made_for_a_test", lies)
    assert isinstance(parked, Parked)
    assert parked.requested["digest"] != lies["digest"]
    assert str(parked.approval_id) != lies["approval_id"]
    rows = Approval.objects.filter(run_id=run.identity.run_id)
    assert await in_database(rows.count) == 0  # a question is staged by the host alone
    assert len(seen) == 1


async def test_what_cannot_be_shown_exactly_cannot_be_approved(
    run: Run, make_tool: MakeTool, policy: Any
) -> None:
    await policy(PolicyMode.APPROVAL)
    run.offer(make_tool(kind=ToolKind.WRITE, parameters=TAKES_TEXT))
    for text in ("pay \u202e001 to bob", "key sk-abcdefghijklmnopqrstuvwxyz012345", "bell \x07"):
        outcome = await run.call("made_for_a_test", {"text": text})
        assert outcome.denial is Reason.INVALID_ARGUMENTS, text
        assert asked(outcome.why)[-1] == ("schema", "denied")
    assert isinstance(await run.call("made_for_a_test", {"text": "a\r\nb é"}), Parked)


async def test_the_question_names_the_target(run: Run, make_tool: MakeTool, policy: Any) -> None:
    await policy(PolicyMode.APPROVAL)
    found = Target("“Plan”, version 3", "plan@3")
    digests = set()
    for version in ("plan@3", "plan@4"):
        found = Target(found.text, version)
        run.offer(make_tool(kind=ToolKind.WRITE, target=lambda *_, found=found: found))
        parked = await run.call("made_for_a_test")
        assert isinstance(parked, Parked)
        assert parked.requested["target"] == "“Plan”, version 3"
        digests.add(parked.requested["digest"])
    assert len(digests) == 2


@pytest.mark.req("UIX-004")
async def test_an_update_is_bound_to_the_version_it_was_asked_about(
    run: Run, make_tool: MakeTool
) -> None:
    plan = {"title": "Plan", "kind": "text", "content": "08:15 ferry"}
    saved = json.loads((await run.call("create_artifact", plan)).model_view)["artifact"]
    change = {"artifact_id": saved["id"], "expected_version": 1, "content": "09:15 ferry"}
    await in_database(
        policies.decide, actor="system:tests", family="artifacts", mode=PolicyMode.APPROVAL
    )
    try:
        first = await run.call("update_artifact", change)
        assert isinstance(first, Parked)
        assert first.requested["target"] == "“Plan”, version 1"
        await in_database(
            writing.update,
            actor=run.member,
            artifact_id=UUID(saved["id"]),
            content="08:45 ferry",
            expected_version=1,
        )
        second = await run.call("update_artifact", change)
        assert isinstance(second, Parked)
        assert second.requested["target"] == "“Plan”, version 2"
        assert second.requested["digest"] != first.requested["digest"]
        missing = await run.call("update_artifact", {**change, "artifact_id": str(uuid4())})
        assert missing.denial is Reason.INVALID_ARGUMENTS
    finally:
        await in_database(FamilyPolicy.objects.filter(family="artifacts").delete)


@pytest.mark.req("INP-012", "BND-006")
async def test_no_change_begins_after_a_stop(run: Run, make_tool: MakeTool) -> None:
    tool = Counting()
    run.offer(make_tool(tool, kind=ToolKind.WRITE))
    assert (await run.call("made_for_a_test")).outcome == "success"
    await in_database(claims.request_stop, run.identity.conversation_id)
    outcome = await run.call("made_for_a_test")
    assert (outcome.denial, outcome.ends_turn) == (Reason.BATCH_STOPPED, Reason.BATCH_STOPPED)
    assert asked(outcome.why)[-1] == ("member", "denied")
    assert tool.runs == 1
    begun = await in_database(reservations.reserved, run.identity.run_id)
    assert len(begun) == 1


@pytest.mark.parametrize("seen", [{"denial": Reason.BATCH_STOPPED}, {"repeat": "refused"}])
def test_a_rule_that_kept_a_call_away_is_named(seen: Any) -> None:
    call = ToolCall("call-0", 1, 0, "made_for_a_test", {})
    told = {"message": "The turn was stopped before this call."}
    ended = ToolOutcome(call=call, outcome="denied", model_view="{}", member_view=told)
    ended = replace(ended, **{"denial": Reason.REPEAT_REFUSED, **seen})
    (line,) = permission.reasons_of(ended)
    assert line == {
        "by": "member" if "denial" in seen else "repeat",
        "outcome": "denied",
        "code": str(ended.denial),
        "text": told["message"],
    }
    assert permission.reasons_of(replace(ended, why=(line,))) == (line,)


async def test_a_repeat_says_so_and_a_call_that_ran_says_nothing(
    run: Run, make_tool: MakeTool
) -> None:
    tool = Counting()
    run.offer(make_tool(tool, kind=ToolKind.WRITE, suppress_identical_repeat=True))
    first = await run.call("made_for_a_test", snapshot="step-1")
    again = await run.call("made_for_a_test", snapshot="step-2")
    assert permission.reasons_of(first) == ()
    assert asked(permission.reasons_of(again))[-1] == ("repeat", "narrowed")
    assert tool.runs == 1
