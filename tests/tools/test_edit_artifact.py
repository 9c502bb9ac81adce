"""edit_artifact: what changes, what the model and people see, and what is refused whole."""

import asyncio
import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import Permission

from agents.journal.offloading import in_database
from agents.members.models import Member
from artifacts import reading, writing
from artifacts.kinds import graph
from artifacts.models import ArtifactUserObjectPermission, ArtifactVersion
from artifacts.writing import Draft
from audit.reasons import ErrorClass, Reason
from tests.tools.conftest import Run
from tools.boundary import policies, registry
from tools.boundary.contract import Authority, Parked, Presentation, Tier, ToolCall
from tools.boundary.models import PolicyMode
from tools.effects.claims import LeaseLost

PLAN = {"title": "Plan", "kind": "markdown", "content": "# Plan\n\n* one\n* two\n"}
PUT = {"op": "PUT", "first": 3, "last": 3, "lines": ["* uno"]}


def edit(base: dict[str, Any], *hunks: dict[str, Any]) -> dict[str, Any]:
    return {
        "artifact_id": base["id"],
        "base_version": base["version"],
        "tag": base["tag"],
        "hunks": list(hunks) or [PUT],
    }


async def made(run: Run, **changes: str) -> dict[str, Any]:
    """A plan the run has just created, as the model was told of it."""
    outcome = await run.call("create_artifact", {**PLAN, **changes})
    reference: dict[str, Any] = json.loads(outcome.model_view)["artifact"]
    return reference


async def newest(run: Run, base: dict[str, Any]) -> ArtifactVersion:
    return await in_database(reading.version, run.member, UUID(base["id"]))


@pytest.mark.req("ART-001", "ART-008", "TST-002")
async def test_an_edit_changes_its_lines_and_answers_with_the_new_reference(run: Run) -> None:
    base = await made(run)
    outcome = await run.call("edit_artifact", edit(base))
    kept = await newest(run, base)
    assert kept.content == "# Plan\n\n* uno\n* two\n"
    assert json.loads(outcome.model_view) == {
        "outcome": "success",
        "artifact": {
            "id": base["id"],
            "version": 2,
            "tag": kept.tag,
            "digest": writing.digest_of(kept.content),
            "title": "Plan",
            "kind": "markdown",
        },
        "message": "Saved. Tell the member its title; do not repeat the content.",
    }
    assert outcome.member_view == {
        "message": "Saved “Plan”, version 2.",
        "artifact_id": base["id"],
        "version": 2,
    }
    saved = {"artifact_id": base["id"], "version": 2, "title": "Plan", "kind": "markdown"}
    assert outcome.presentation == (Presentation("artifact_saved", saved),)
    assert kept.author_principal == f"agent:{run.identity.agent_id}"


async def test_an_edit_builds_on_what_a_read_or_an_edit_returned(run: Run) -> None:
    base = await made(run)
    read = json.loads((await run.call("read_artifact", {"artifact_id": base["id"]})).model_view)
    first = await run.call("edit_artifact", edit(read["artifact"]))
    second = json.loads(first.model_view)["artifact"]
    cut = {"op": "CUT", "first": 4, "last": 4}
    shifting = edit(second, cut, {"op": "PUT", "after": 0, "lines": ["!"]})
    told = json.loads((await run.call("edit_artifact", shifting)).model_view)["message"]
    assert told.startswith("Line numbers have shifted: read the artifact again")
    assert (await newest(run, base)).content == "!\n# Plan\n\n* uno\n"


@pytest.mark.req("ART-004", "ART-006")
async def test_a_stale_edit_writes_nothing_and_says_what_has_changed(run: Run) -> None:
    base = await made(run)
    await in_database(
        writing.update,
        actor=run.member,
        artifact_id=UUID(base["id"]),
        content=f"zero\n{PLAN['content']}",
        expected_version=1,
    )
    outcome = await run.call("edit_artifact", edit(base))
    again = await run.call("edit_artifact", edit({**base, "version": 9}))
    kept = await newest(run, base)
    assert (kept.number, kept.content) == (2, f"zero\n{PLAN['content']}")
    assert json.loads(outcome.model_view) == {
        "outcome": "error",
        "error_class": "invalid_argument",
        "message": "The artifact has a newer version. Read it, then change that.",
        "current_version": 2,
        "current_tag": kept.tag,
        "changed_since": "@@ -1,3 +1,4 @@\n+zero\n # Plan\n \n * one",
        "retryable": True,
    }
    assert outcome.member_view == {"message": "Nothing was saved."}
    assert (outcome.ends_turn, again.error_class) == (None, ErrorClass.INVALID_ARGUMENT)


@pytest.mark.req("ART-006")
async def test_of_two_edits_in_one_step_the_second_is_too_late(run: Run) -> None:
    base = await made(run)
    outcomes = await asyncio.gather(
        *(
            run.call("edit_artifact", edit(base, {**PUT, "first": line, "last": line}))
            for line in (3, 4)
        )
    )
    assert sorted(outcome.outcome for outcome in outcomes) == ["error", "success"]
    (late,) = (outcome for outcome in outcomes if outcome.outcome == "error")
    assert json.loads(late.model_view)["current_version"] == 2
    assert (await newest(run, base)).content in (
        "# Plan\n\n* uno\n* two\n",
        "# Plan\n\n* one\n* uno\n",
    )


@pytest.mark.req("ART-004")
async def test_another_tag_writes_nothing_and_names_the_right_one(run: Run) -> None:
    base = await made(run)
    outcome = await run.call("edit_artifact", edit({**base, "tag": "0" * 16}))
    view = json.loads(outcome.model_view)
    assert (view["current_tag"], view["current_version"]) == (base["tag"], 1)
    assert view["message"] == "This is not the tag of version 1. Read the artifact again."
    assert (await newest(run, base)).number == 1


@pytest.mark.req("ART-003", "ART-004")
@pytest.mark.parametrize(
    ("hunks", "says"),
    [
        ([PUT, {"op": "CUT", "first": 2, "last": 3}], "Hunks 2 and 1 overlap at line 3"),
        ([{"op": "CUT", "first": 5, "last": 5}], "the base version has 4 lines"),
        ([{"op": "PUT", "first": 1, "last": 1}], "PUT needs lines. To take lines out use CUT."),
        ([{**PUT, "lines": ["a\nb"]}], "every entry of lines is one line"),
        ([{**PUT, "lines": ["3: * uno"]}], "Leave out the line numbers"),
        ([{"op": "CUT", "first": 1, "last": 4}], "Some fields are not right."),
    ],
)
async def test_hunks_that_cannot_stand_are_explained(
    run: Run, hunks: list[dict[str, Any]], says: str
) -> None:
    base = await made(run)
    outcome = await run.call("edit_artifact", edit(base, *hunks))
    view = json.loads(outcome.model_view)
    assert says in view["message"]
    assert view["problems"]
    assert view["retryable"]
    assert (await newest(run, base)).number == 1


@pytest.mark.parametrize(
    "hunks",
    [
        [{**PUT, "first": 1, "last": 1}] * 33,
        [{"op": "REPLACE", "old": "one", "new": "uno"}],
        [{"op": "PUT", "first": 1, "last": 1, "lines": "one"}],
        [{"op": "PUT", "first": 0, "last": 1, "lines": ["x"]}],
        [{"op": "PUT", "first": 1, "last": 1, "lines": ["x"] * 401}],
        "@@ -2,1 +2,1 @@\n one\n-two\n+TWO\n",
        [],
    ],
)
async def test_what_is_no_hunk_never_reaches_the_text(run: Run, hunks: Any) -> None:
    base = await made(run)
    outcome = await run.call("edit_artifact", {**edit(base), "hunks": hunks})
    assert outcome.denial is Reason.INVALID_ARGUMENTS
    assert (await newest(run, base)).number == 1


async def test_untouched_lines_keep_bytes_a_model_never_sees(run: Run) -> None:
    content = "\ufeffone\r\nCafe\u0301 \u2014 a\u00a0b\u2028c \r\nthree\rmore\r\nlast"
    base = await made(run, content=content)
    read = json.loads((await run.call("read_artifact", {"artifact_id": base["id"]})).model_view)
    assert read["lines"].split("\n")[0] == "1: one"
    assert read["lines"].split("\n")[2] == "3: three␍more"
    assert read["remark"] == (
        "Line ends are crlf; edit_artifact keeps them by itself. The last line has no line end."
        " ␍ inside a line is a carriage return; write it as \\r."
    )
    hunk = {"op": "PUT", "first": 4, "last": 4, "lines": ["end", "of it"]}
    await run.call("edit_artifact", edit(base, hunk))
    kept = (await newest(run, base)).content
    assert kept == content.replace("last", "end\r\nof it")


@pytest.mark.req("ART-016")
async def test_an_edit_that_breaks_a_graph_gets_the_contract_back(run: Run) -> None:
    content = '{"schema_version": 1,\n"nodes": [],\n"edges": []}\n'
    base = await made(run, kind="graph", content=content)
    hunk = {"op": "PUT", "first": 2, "last": 2, "lines": ['"nodes": [{"id": "a"}],']}
    view = json.loads((await run.call("edit_artifact", edit(base, hunk))).model_view)
    assert view["retry"] == {"expected_schema": graph.EXPECTED_SCHEMA}
    assert view["found"] == ["graph.nodes[0] lacks label", "graph.nodes[0] lacks type"]
    assert (await newest(run, base)).number == 1


async def test_an_artifact_of_somebody_else_cannot_be_told_from_none(
    run: Run, charlie: Member
) -> None:
    foreign = await in_database(writing.create, actor=charlie, draft=Draft("S", "text", "hidden"))
    views = set()
    for artifact_id in (str(foreign.artifact.id), str(uuid4()), "../x"):
        arguments = edit({"id": artifact_id, "version": 1, "tag": foreign.tag})
        outcome = await run.call("edit_artifact", arguments)
        views.add((outcome.model_view, outcome.error_class))
    assert {error for _, error in views} == {ErrorClass.NOT_FOUND}
    assert len(views) == 1
    assert (await in_database(reading.version, charlie, foreign.artifact.id)).number == 1


@pytest.mark.req("ART-005")
async def test_what_is_shared_for_reading_cannot_be_edited(run: Run, bob: Member) -> None:
    foreign = await in_database(writing.create, actor=bob, draft=Draft("S", "text", "a\nb\nc\n"))

    def share() -> None:
        ArtifactUserObjectPermission.objects.create(
            user=run.member,
            content_object=foreign.artifact,
            permission=Permission.objects.get(codename="view_shared_artifact"),
        )

    await in_database(share)
    base = {"id": str(foreign.artifact.id), "version": 1, "tag": foreign.tag}
    outcome = await run.call("edit_artifact", edit(base))
    assert outcome.error_class is ErrorClass.FORBIDDEN
    assert (await in_database(reading.version, bob, foreign.artifact.id)).number == 1


@pytest.mark.req("ART-019")
async def test_a_run_that_was_taken_over_edits_nothing(run: Run) -> None:
    base = await made(run)
    run.identity = replace(run.identity, fence=run.identity.fence - 1)
    with pytest.raises(LeaseLost):
        await run.call("edit_artifact", edit(base))
    assert (await newest(run, base)).number == 1


async def test_one_call_edits_once_however_often_it_comes(run: Run) -> None:
    base = await made(run)
    values = {"actor": run.member, "artifact_id": UUID(base["id"]), "base_version": 1}

    def write() -> ArtifactVersion:
        return writing.edit(
            **values,
            tag=base["tag"],
            hunks=[writing.Hunk("CUT", first=4, last=4)],
            run=writing.RunWrite(run.identity.run_id, run.identity.fence, "x", "agent:x"),
        )

    first, second = await in_database(write), await in_database(write)
    assert (first.id, first.number) == (second.id, 2)


async def test_an_approval_names_what_would_be_edited(
    run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    base = await made(run)
    monkeypatch.setattr(policies, "mode_of", lambda family: PolicyMode.APPROVAL)
    run.authority = lambda _: Authority(frozenset(run.offered), Tier.WRITE)
    parked: Any = await run.make(ToolCall("run:9:1", 9, 1, "edit_artifact", edit(base)))
    assert isinstance(parked, Parked)
    assert parked.requested["target"] == "“Plan”, version 1"
    assert (await newest(run, base)).number == 1


@pytest.mark.req("ART-001")
def test_the_tools_are_the_houses_own(start_run: Callable[..., Run]) -> None:
    for name in ("read_artifact", "edit_artifact"):
        assert registry.ENTRIES[name].path.startswith("tools.builtin.")
    with pytest.raises(TypeError):
        registry.ENTRIES["edit_artifact"] = registry.Entry("packages_app.x.Y")  # type: ignore[index]
