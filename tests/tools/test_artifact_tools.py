"""create_artifact, update_artifact and read_artifact: exactly what the model and people see."""

import json
from collections.abc import Callable
from dataclasses import replace
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import Permission
from django.db import connection

from agents.journal.offloading import in_database
from agents.members.models import Member
from artifacts import reading, writing
from artifacts.kinds import graph
from artifacts.models import Artifact, ArtifactUserObjectPermission, ArtifactVersion
from artifacts.writing import Draft
from audit.reasons import ErrorClass, Reason
from tests.tools.conftest import Run
from tools.boundary import registry
from tools.boundary.contract import Presentation, ToolCall
from tools.boundary.memory import RunMemory
from tools.effects.claims import LeaseLost

PLAN = {"title": "Plan", "kind": "markdown", "content": "# Plan\n\n* one\n"}


@pytest.mark.req("ART-008", "TST-002")
async def test_creating_answers_with_the_durable_reference(run: Run) -> None:
    outcome = await run.call("create_artifact", PLAN)
    view = json.loads(outcome.model_view)
    artifact_id = view["artifact"]["id"]
    kept = await in_database(reading.version, run.member, UUID(artifact_id))
    assert view == {
        "outcome": "success",
        "artifact": {
            "id": str(kept.artifact.id),
            "version": 1,
            "tag": kept.tag,
            "digest": kept.digest,
            "title": "Plan",
            "kind": "markdown",
        },
        "message": "Saved. Tell the member its title; do not repeat the content.",
    }
    assert outcome.member_view == {
        "message": "Saved “Plan”, version 1.",
        "artifact_id": artifact_id,
        "version": 1,
    }
    assert outcome.presentation == (
        Presentation(
            "artifact_saved",
            {"artifact_id": artifact_id, "version": 1, "title": "Plan", "kind": "markdown"},
        ),
    )
    assert kept.content == PLAN["content"]
    assert kept.author_principal == f"agent:{run.identity.agent_id}"
    assert kept.artifact.owner_id == run.member.pk
    assert kept.artifact.conversation_id == run.identity.conversation_id


@pytest.mark.req("TST-002")
async def test_updating_appends_a_version_of_the_same_root(run: Run) -> None:
    created = json.loads((await run.call("create_artifact", PLAN)).model_view)["artifact"]
    arguments = {"artifact_id": created["id"], "expected_version": 1, "content": "# Other"}
    outcome = await run.call("update_artifact", arguments)
    updated = json.loads(outcome.model_view)["artifact"]
    assert (updated["id"], updated["version"]) == (created["id"], 2)
    assert updated["digest"] == writing.digest_of("# Other")
    assert outcome.member_view["message"] == "Saved “Plan”, version 2."


@pytest.mark.req("ART-006")
async def test_updating_an_old_version_says_which_is_current(run: Run) -> None:
    created = json.loads((await run.call("create_artifact", PLAN)).model_view)["artifact"]
    arguments = {"artifact_id": created["id"], "expected_version": 1, "content": "two"}
    await run.call("update_artifact", arguments)
    stale = await run.call("update_artifact", {**arguments, "content": "three"})
    assert json.loads(stale.model_view) == {
        "outcome": "error",
        "error_class": "invalid_argument",
        "message": "The artifact has a newer version. Read it, then change that.",
        "current_version": 2,
        "current_tag": writing.digest_of("two")[7:23],
        "changed_since": "@@ -1,3 +1 @@\n-# Plan\n-\n-* one\n+two\n\\ No newline at end of file",
        "retryable": True,
    }
    assert stale.ends_turn is None
    assert stale.member_view == {"message": "Nothing was saved."}


@pytest.mark.req("ART-016")
async def test_a_malformed_graph_gets_the_whole_contract_back(run: Run) -> None:
    arguments = {"title": "G", "kind": "graph", "content": '{"nodes": []}'}
    outcome = await run.call("create_artifact", arguments)
    view = json.loads(outcome.model_view)
    assert view["retry"]["expected_schema"] == graph.EXPECTED_SCHEMA
    assert view["found"] == ["graph lacks schema_version", "graph lacks edges"]
    assert outcome.repair is not None
    assert outcome.repair.same_tool_required
    assert await in_database(Artifact.objects.visible_to(run.member).count) == 0


@pytest.mark.req("ART-002", "TST-002")
async def test_reading_gives_numbered_lines_of_an_exact_version(run: Run) -> None:
    created = json.loads((await run.call("create_artifact", PLAN)).model_view)["artifact"]
    await run.call(
        "update_artifact",
        {"artifact_id": created["id"], "expected_version": 1, "content": "new\n"},
    )
    outcome = await run.call(
        "read_artifact", {"artifact_id": created["id"], "version": 1, "first_line": 2, "lines": 2}
    )
    assert json.loads(outcome.model_view) == {
        "outcome": "success",
        "artifact": {
            "id": created["id"],
            "version": 1,
            "newest_version": 2,
            "tag": created["digest"][7:23],
            "digest": created["digest"],
            "title": "Plan",
            "kind": "markdown",
            "language": "",
        },
        "first_line": 2,
        "last_line": 3,
        "total_lines": 3,
        "next_line": None,
        "lines": "2: \n3: * one",
    }
    assert outcome.member_view == {
        "message": "Read lines 2 to 3 of “Plan”, version 1.",
        "artifact_id": created["id"],
        "version": 1,
    }
    assert outcome.presentation == ()


async def test_a_whole_range_fits_into_what_a_model_reads(run: Run) -> None:
    content = "\n".join('"\\' * 90 for _ in range(500))
    arguments = {"title": "Long", "kind": "text", "content": content}
    created = json.loads((await run.call("create_artifact", arguments)).model_view)["artifact"]
    outcome = await run.call("read_artifact", {"artifact_id": created["id"]})
    view = json.loads(outcome.model_view)
    assert "cut" not in view
    assert view["next_line"] == view["last_line"] + 1


async def test_foreign_missing_and_malformed_ids_look_alike(run: Run, charlie: Member) -> None:
    foreign = await in_database(
        writing.create, actor=charlie, draft=Draft("Secret", "text", "hidden")
    )
    for name, rest in (
        ("read_artifact", {}),
        ("update_artifact", {"expected_version": 1, "content": "x"}),
    ):
        views = set()
        for artifact_id in (str(foreign.artifact.id), str(uuid4()), "x", "../../etc/passwd"):
            outcome = await run.call(name, {"artifact_id": artifact_id, **rest})
            assert outcome.error_class is ErrorClass.NOT_FOUND
            views.add((outcome.model_view, str(outcome.member_view), outcome.ends_turn))
        assert len(views) == 1
    untouched = await in_database(reading.version, charlie, foreign.artifact.id)
    assert (untouched.number, untouched.content) == (1, "hidden")


@pytest.mark.req("TOOL-004")
async def test_no_view_tells_who_else_may_see_an_artifact(run: Run, bob: Member) -> None:
    created = json.loads((await run.call("create_artifact", PLAN)).model_view)["artifact"]

    def share() -> None:
        ArtifactUserObjectPermission.objects.create(
            user=bob,
            content_object=Artifact.objects.get(id=created["id"]),
            permission=Permission.objects.get(codename="edit_artifact"),
        )

    await in_database(share)
    told = []
    for name, rest in (
        ("read_artifact", {}),
        ("update_artifact", {"expected_version": 1, "content": "new"}),
    ):
        outcome = await run.call(name, {"artifact_id": created["id"], **rest})
        assert outcome.outcome == "success"
        shown = [part.data for part in outcome.presentation]
        told.append(f"{outcome.model_view} {outcome.member_view} {shown}")
    for secret in (bob.username, bob.display_name, run.member.username, "permission", "owner"):
        assert not [view for view in told if secret in view], secret


async def test_the_same_call_arriving_again_writes_once(run: Run) -> None:
    call = ToolCall("run:7:1", 7, 1, "create_artifact", dict(PLAN))
    first = await run.make(call)
    run.memory = RunMemory(run.offered)  # another worker, which did not see the result
    again = await run.make(call)
    assert (first.outcome, again.ends_turn) == ("success", Reason.AMBIGUOUS_WRITE)
    versions = ArtifactVersion.objects.filter(run_id=run.identity.run_id)
    assert await in_database(versions.count) == 1


@pytest.mark.req("ART-019", "TOOL-011")
async def test_a_run_that_was_taken_over_writes_nothing(run: Run) -> None:
    run.identity = replace(run.identity, fence=run.identity.fence - 1)
    with pytest.raises(LeaseLost):
        await run.call("create_artifact", PLAN)
    assert await in_database(Artifact.objects.visible_to(run.member).count) == 0


@pytest.mark.req("BND-003")
async def test_a_member_switched_off_between_admission_and_call_saves_nothing(
    run: Run,
) -> None:
    def switch_off() -> None:
        Member.objects.filter(pk=run.member.pk).update(is_active=False)

    await in_database(switch_off)
    for name, arguments in (
        ("create_artifact", PLAN),
        ("read_artifact", {"artifact_id": str(uuid4())}),
        ("conversation_history_search", {"query": "plan"}),
        ("list_available_agents", {}),
    ):
        outcome = await run.call(name, arguments)
        assert (outcome.outcome, outcome.error_class) == ("error", ErrorClass.NOT_FOUND)
    assert await in_database(Artifact.objects.filter(owner=run.member).count) == 0


@pytest.mark.req("REG-026", "REG-025")
async def test_declared_bounds_are_the_bounds_of_the_table(run: Run) -> None:
    longest = await run.call("create_artifact", {**PLAN, "content": "x" * 100_000})
    assert longest.outcome == "success"
    too_long = await run.call("create_artifact", {**PLAN, "content": "x" * 100_001})
    assert too_long.denial is Reason.INVALID_ARGUMENTS
    for name in ("create_artifact", "update_artifact"):
        content = registry.resolve(name).parameters["properties"]["content"]
        assert content["maxLength"] == 100_000


@pytest.mark.req("BND-033")
def test_only_creating_asks_for_repeats_to_be_suppressed() -> None:
    asks = {name for name in registry.ENTRIES if registry.resolve(name).suppress_identical_repeat}
    assert asks == {"create_artifact"}


async def test_a_database_that_fails_in_the_middle_closes_the_turn(
    run: Run, start_run: Callable[..., Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    def fail(*_: object, **__: object) -> None:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1/0")

    monkeypatch.setattr(writing, "_append", fail)
    outcome = await run.call("create_artifact", PLAN)
    assert (outcome.outcome, outcome.ends_turn) == ("error", Reason.AMBIGUOUS_WRITE)
    assert await in_database(Artifact.objects.visible_to(run.member).count) == 0
