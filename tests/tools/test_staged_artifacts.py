"""Writing an artifact part by part: the order, the receipts, and what each step shows."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest

from agents.journal.offloading import in_database
from agents.members.models import Member
from agents.turns.actions import Actions
from artifacts import reading, writing
from artifacts.kinds import graph
from artifacts.models import Artifact, StagedArtifact, StagedPart
from audit.reasons import ErrorClass, Reason
from tests.tools.conftest import Run
from tools.boundary import exposure, policies
from tools.boundary.contract import Authority, Parked, Presentation, Tier, ToolCall
from tools.boundary.models import PolicyMode
from tools.effects.claims import LeaseLost

FAMILIES = frozenset({"artifacts", "artifacts_staged"})
STAGED = ["begin_artifact", "append_artifact", "finalize_artifact", "discard_artifact"]
PARTS = ("# Report\n\n", "First, the ferries.\r\n", "Then the buses")


@pytest.fixture
def run(start_run: Callable[..., Run], alice: Member) -> Run:
    """A run of alice whose agent has the staged writer too."""
    return start_run(alice, families=FAMILIES)


async def asked(run: Run, name: str, **arguments: Any) -> dict[str, Any]:
    """What a model reads of a call."""
    view: dict[str, Any] = json.loads((await run.call(name, arguments)).model_view)
    return view


async def begun(run: Run, **changes: str) -> str:
    heading = {"title": "Report", "kind": "markdown", **changes}
    return str((await asked(run, "begin_artifact", **heading))["draft_id"])


async def appended(run: Run, draft_id: str, *parts: str) -> list[dict[str, Any]]:
    return [
        await asked(run, "append_artifact", draft_id=draft_id, ordinal=ordinal, content=part)
        for ordinal, part in enumerate(parts, 1)
    ]


async def kept(run: Run) -> int:
    return await in_database(Artifact.objects.visible_to(run.member).count)


@pytest.mark.req("ART-017", "ART-018", "TST-002")
async def test_parts_become_one_artifact_exactly_as_they_came(run: Run) -> None:
    outcome = await run.call("begin_artifact", {"title": "Report", "kind": "markdown"})
    draft_id = json.loads(outcome.model_view)["draft_id"]
    assert json.loads(outcome.model_view) == {
        "outcome": "success",
        "draft_id": draft_id,
        "next_ordinal": 1,
        "characters_left": 100_000,
        "message": "Begun. Now call append_artifact with ordinal 1 and the first part.",
    }
    assert outcome.member_view == {"message": "Began “Report”."}
    for ordinal, part in enumerate(PARTS, 1):
        arguments = {"draft_id": draft_id, "ordinal": ordinal, "content": part}
        outcome = await run.call("append_artifact", arguments)
    receipt = json.loads(outcome.model_view)
    assert outcome.member_view == {"message": "Wrote part 3 of “Report”."}
    assert {name: receipt[name] for name in ("ordinal", "digest", "next_ordinal")} == {
        "ordinal": 3,
        "digest": writing.digest_of(PARTS[2]),
        "next_ordinal": 4,
    }
    arguments = {"draft_id": draft_id, "parts": 3, "receipt": receipt["receipt"]}
    outcome = await run.call("finalize_artifact", arguments)
    made = json.loads(outcome.model_view)["artifact"]
    assert outcome.member_view["message"] == "Saved “Report”, version 1."
    version = await in_database(reading.version, run.member, UUID(made["id"]))
    assert version.content == "".join(PARTS)
    assert version.artifact.conversation_id == run.identity.conversation_id
    assert (version.author_principal, version.tag) == (
        f"agent:{run.identity.agent_id}",
        made["tag"],
    )
    assert not await in_database(StagedPart.objects.filter(staged_id=draft_id).exists)


@pytest.mark.req("ART-020")
async def test_only_finalising_shows_something_saved(run: Run) -> None:
    actions = Actions()

    async def noted(name: str, **arguments: Any) -> Any:
        outcome = await run.call(name, arguments)
        actions.note(outcome, run.offered[name])
        return outcome

    began = await noted("begin_artifact", title="Report", kind="text")
    draft_id = json.loads(began.model_view)["draft_id"]
    part = await noted("append_artifact", draft_id=draft_id, ordinal=1, content="one")
    assert (began.presentation, part.presentation, actions.saved) == ((), (), [])
    assert await kept(run) == 0
    receipt = json.loads(part.model_view)["receipt"]
    done = await noted("finalize_artifact", draft_id=draft_id, parts=1, receipt=receipt)
    made = json.loads(done.model_view)["artifact"]
    saved = {"artifact_id": made["id"], "version": 1, "title": "Report", "kind": "text"}
    assert done.presentation == (Presentation("artifact_saved", saved),)
    assert [one.id for one in actions.saved] == [made["id"]]


@pytest.mark.req("ART-017")
async def test_any_other_order_is_refused(run: Run) -> None:
    unknown = await asked(run, "append_artifact", draft_id=str(uuid4()), ordinal=1, content="x")
    assert unknown["error_class"] == "not_found"
    draft_id = await begun(run)
    early = await asked(run, "finalize_artifact", draft_id=draft_id, parts=1, receipt="0" * 16)
    assert early["message"] == "Nothing has been appended yet."
    (part,) = await appended(run, draft_id, "one")
    values = {"draft_id": draft_id, "parts": 1, "receipt": part["receipt"]}
    assert (await asked(run, "finalize_artifact", **values))["outcome"] == "success"
    for name, arguments in (
        ("finalize_artifact", values),
        ("append_artifact", {"draft_id": draft_id, "ordinal": 2, "content": "more"}),
        ("discard_artifact", {"draft_id": draft_id}),
    ):
        late = await asked(run, name, **arguments)
        assert late["outcome"] == "error"
        assert late["message"].startswith("It was finished before, as artifact ")
    assert await kept(run) == 1


@pytest.mark.req("TST-002", "ART-017")
async def test_what_is_discarded_is_gone(run: Run) -> None:
    draft_id = await begun(run)
    (part,) = await appended(run, draft_id, "one")
    outcome = await run.call("discard_artifact", {"draft_id": draft_id})
    assert json.loads(outcome.model_view) == {
        "outcome": "success",
        "discarded": True,
        "message": "Discarded. Nothing of it was saved.",
    }
    assert outcome.member_view == {"message": "Discarded “Report”."}
    late = await asked(
        run, "finalize_artifact", draft_id=draft_id, parts=1, receipt=part["receipt"]
    )
    assert late["message"] == "It was discarded before. Begin again."
    assert not await in_database(StagedPart.objects.filter(staged_id=draft_id).exists)
    assert await kept(run) == 0


@pytest.mark.req("ART-018")
async def test_a_part_is_kept_once_under_its_ordinal(run: Run) -> None:
    draft_id = await begun(run)
    first, _ = await appended(run, draft_id, "one", "two")
    again = await asked(run, "append_artifact", draft_id=draft_id, ordinal=1, content="one")
    assert again["receipt"] == first["receipt"]
    other = await asked(run, "append_artifact", draft_id=draft_id, ordinal=1, content="uno")
    assert other["message"] == "Part 1 was kept with other content. The next part is 3."
    for wrong in (4, 100):
        view = await asked(run, "append_artifact", draft_id=draft_id, ordinal=wrong, content="x")
        assert view["message"] == f"The next part is 3, not {wrong}."
        assert view["problems"] == [{"field": "ordinal", "reason": "invalid_field"}]
    assert await in_database(StagedPart.objects.filter(staged_id=draft_id).count) == 2


@pytest.mark.req("ART-018")
async def test_the_last_receipt_stands_for_all_parts_in_their_order(run: Run) -> None:
    one, other = await begun(run), await begun(run, title="Other")
    receipts = [
        (await appended(run, one, "a", "end"))[-1]["receipt"],
        (await appended(run, other, "b", "end"))[-1]["receipt"],
    ]
    assert receipts[0] != receipts[1]
    for parts, receipt in ((2, receipts[1]), (1, receipts[0]), (3, receipts[0])):
        view = await asked(run, "finalize_artifact", draft_id=one, parts=parts, receipt=receipt)
        assert view["message"] == f"There are 2 parts, and the last receipt is {receipts[0]}."
        assert view["retryable"]
    assert await kept(run) == 0


@pytest.mark.req("ART-025")
async def test_parts_together_are_no_longer_than_one_artifact(run: Run) -> None:
    draft_id = await begun(run)
    await appended(run, draft_id, *["x" * 20_000] * 4, "x" * 19_999)
    view = await asked(run, "append_artifact", draft_id=draft_id, ordinal=6, content="ab")
    assert view["message"] == "1 characters are left for this artifact."
    last = await asked(run, "append_artifact", draft_id=draft_id, ordinal=6, content="\n")
    assert last["characters_left"] == 0
    too_long = await run.call(
        "append_artifact", {"draft_id": draft_id, "ordinal": 7, "content": "x" * 20_001}
    )
    assert too_long.denial is Reason.INVALID_ARGUMENTS


async def test_a_turn_writes_three_at_a_time(run: Run) -> None:
    drafts = [await begun(run, title=f"Report {number}") for number in range(3)]
    refused = await asked(run, "begin_artifact", title="One more", kind="text")
    assert refused["message"].startswith("3 artifacts are being written in parts.")
    await asked(run, "discard_artifact", draft_id=drafts[0])
    assert (await asked(run, "begin_artifact", title="One more", kind="text"))["draft_id"]


@pytest.mark.parametrize(
    "heading",
    [
        {"title": "A\u202eB", "kind": "text"},
        {"title": " ", "kind": "text"},
        {"title": "Q", "kind": "text", "language": "sql"},
        {"title": "Q", "kind": "code", "language": "kamiwaza-renderable-artifact"},
    ],
)
async def test_a_heading_that_no_artifact_may_have_begins_nothing(
    run: Run, heading: dict[str, str]
) -> None:
    outcome = await run.call("begin_artifact", heading)
    assert outcome.error_class is ErrorClass.INVALID_ARGUMENT
    assert not await in_database(StagedArtifact.objects.visible_to(run.member).exists)


@pytest.mark.req("ART-016")
async def test_a_broken_graph_stays_open_and_gets_the_contract_back(run: Run) -> None:
    draft_id = await begun(run, kind="graph")
    (part,) = await appended(run, draft_id, '{"nodes": []}')
    outcome = await run.call(
        "finalize_artifact", {"draft_id": draft_id, "parts": 1, "receipt": part["receipt"]}
    )
    view = json.loads(outcome.model_view)
    assert view["retry"] == {"expected_schema": graph.EXPECTED_SCHEMA}
    assert view["next"] == "Discard it with discard_artifact, then begin again."
    assert outcome.repair is not None
    assert not outcome.repair.retryable
    assert await kept(run) == 0
    assert (await asked(run, "discard_artifact", draft_id=draft_id))["discarded"]


async def test_no_other_run_reaches_what_a_run_writes(
    run: Run, start_run: Callable[..., Run], alice: Member, charlie: Member
) -> None:
    draft_id = await begun(run)
    (part,) = await appended(run, draft_id, "one")
    views = set()
    for member in (alice, charlie):
        other = await in_database(lambda who=member: start_run(who, families=FAMILIES))
        for named in (draft_id, str(uuid4()), "x"):
            for name, rest in (
                ("append_artifact", {"ordinal": 2, "content": "x"}),
                ("discard_artifact", {}),
            ):
                outcome = await other.call(name, {"draft_id": named, **rest})
                views.add((outcome.model_view, outcome.error_class))
        final = await other.call(
            "finalize_artifact", {"draft_id": draft_id, "parts": 1, "receipt": part["receipt"]}
        )
        assert final.error_class is ErrorClass.NOT_FOUND
    assert len(views) == 1
    assert views.pop()[1] is ErrorClass.NOT_FOUND
    staged = await in_database(StagedArtifact.objects.get, id=draft_id)
    assert (staged.parts, staged.state) == (1, "open")


@pytest.mark.req("ART-019")
async def test_an_expired_worker_neither_appends_nor_finalises(run: Run) -> None:
    draft_id = await begun(run)
    (part,) = await appended(run, draft_id, "one")
    live, run.identity = run.identity, replace(run.identity, fence=run.identity.fence - 1)
    for name, arguments in (
        ("begin_artifact", {"title": "X", "kind": "text"}),
        ("append_artifact", {"draft_id": draft_id, "ordinal": 2, "content": "two"}),
        ("finalize_artifact", {"draft_id": draft_id, "parts": 1, "receipt": part["receipt"]}),
        ("discard_artifact", {"draft_id": draft_id}),
    ):
        with pytest.raises(LeaseLost):
            await run.call(name, arguments)
    run.identity = live
    assert await kept(run) == 0
    assert (await asked(run, "append_artifact", draft_id=draft_id, ordinal=2, content="two"))[
        "ordinal"
    ] == 2


async def test_an_approval_names_what_would_be_finished(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    draft_id = await begun(run)
    (part,) = await appended(run, draft_id, "one")
    monkeypatch.setattr(policies, "mode_of", lambda family: PolicyMode.APPROVAL)
    run.authority = lambda _: Authority(frozenset(run.offered), Tier.WRITE)
    arguments = {"draft_id": draft_id, "parts": 1, "receipt": part["receipt"]}
    parked: Any = await run.make(ToolCall("run:9:1", 9, 1, "finalize_artifact", arguments))
    assert isinstance(parked, Parked)
    assert parked.requested["target"] == "“Report”, 1 parts, not finished"
    assert await kept(run) == 0


def offered(message: str, families: frozenset[str] = FAMILIES) -> list[str]:
    tools = exposure.offer(families=families, ceiling=Tier.WRITE, surface="chat", message=message)
    return [tool.name for tool in tools]


@pytest.mark.req("STR-016")
@pytest.mark.parametrize(
    "message",
    [
        "Create an artifact about ferries",
        "please write me a new artifact with the timetable",
        "Could you draft a long markdown artifact, with three chapters?",
        "Save a code artifact called report.py.",
        "generate another artifact",
    ],
)
def test_asking_for_a_new_artifact_ranks_the_staged_writer_first(message: str) -> None:
    names = offered(message)
    assert names[:4] == STAGED
    assert "create_artifact" in names  # a ranking, not a requirement
    without = offered(message, frozenset({"artifacts"}))
    assert set(without) == set(names) - set(STAGED)


@pytest.mark.req("STR-016")
@pytest.mark.parametrize(
    "message",
    [
        "Make the artifact shorter",
        "Make a change to the artifact",
        "Write a summary of this artifact.",
        "Draft a letter. The artifact stays as it is.",
        "What is an artifact?",
        "Write a poem",
    ],
)
def test_other_messages_leave_the_single_call_writer_before_it(message: str) -> None:
    names = offered(message)
    assert all(names.index("create_artifact") < names.index(name) for name in STAGED)


def test_an_agent_that_names_the_single_call_writer_means_it() -> None:
    names = offered("Create a new artifact with create_artifact")
    assert names.index("create_artifact") < names.index("begin_artifact")
