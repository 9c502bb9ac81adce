"""The staged writer below the tools: sweeping, repeats of a call, and commits of its own."""

import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from django.db.models.functions import Now

from agents.members.models import Member
from artifacts import jobs, reading, staging, writing
from artifacts.models import Artifact, StagedArtifact, StagedPart
from artifacts.writing import RunWrite
from audit.models import AuditEvent
from audit.refusals import Conflict, Invalid, NotFound
from kaizen.celery import BEAT
from tests.patience import promised
from tools.effects.claims import LeaseLost
from tools.effects.models import RunClaim


def begin(alice: Member, run: RunWrite, **changes: Any) -> StagedArtifact:
    heading: dict[str, Any] = {"title": "Report", "kind": "text", "language": ""}
    values = {**heading, "conversation_id": None, **changes}
    return staging.begin(actor=alice, run=run, **values)


def append(alice: Member, run: RunWrite, staged: Any, ordinal: int, content: str) -> Any:
    return staging.append(
        actor=alice, staged_id=staged.id, ordinal=ordinal, content=content, run=run
    )


def actions(staged: StagedArtifact) -> list[tuple[str, str]]:
    rows = AuditEvent.objects.filter(subject_id=str(staged.id)).order_by("at", "sequence")
    return list(rows.values_list("action", "actor"))


def settle(run: RunWrite) -> None:
    RunClaim.objects.filter(run_id=run.run_id).update(state="settled", settled_at=Now())


def test_what_an_ended_run_left_behind_is_swept(
    db: None, alice: Member, start_run: Callable[..., RunWrite]
) -> None:
    ended, live = start_run(), start_run()
    left, going_on = begin(alice, ended), begin(alice, live)
    append(alice, ended, left, 1, "one")
    append(alice, live, going_on, 1, "one")
    assert staging.sweep() == 0
    settle(ended)
    jobs.sweep_staged()
    assert not StagedArtifact.objects.filter(id=left.id).exists()
    assert not StagedPart.objects.filter(staged_id=left.id).exists()
    assert StagedPart.objects.filter(staged_id=going_on.id).count() == 1
    assert actions(left) == [
        ("artifact_staged", ended.principal),
        ("artifact_unstaged", staging.SWEEPER),
    ]
    assert staging.sweep() == 0
    assert "artifacts.sweep_staged" in {tick["task"] for tick in BEAT.values()}


def test_a_run_that_waits_for_its_member_keeps_what_it_wrote(
    db: None, alice: Member, start_run: Callable[..., RunWrite]
) -> None:
    run = start_run()
    staged = begin(alice, run)
    RunClaim.objects.filter(run_id=run.run_id).update(state="waiting", lease_until=None)
    assert staging.sweep() == 0
    assert StagedArtifact.objects.filter(id=staged.id).exists()


def test_what_was_finished_is_swept_without_a_word_and_its_artifact_stays(
    db: None, alice: Member, start_run: Callable[..., RunWrite]
) -> None:
    run = start_run()
    staged = begin(alice, run)
    receipt = append(alice, run, staged, 1, "one").receipt
    made = staging.finalize(
        actor=alice, staged_id=staged.id, parts=1, receipt=receipt, run=replace(run, call_id="f")
    )
    settle(run)
    assert staging.sweep() == 1
    assert actions(staged) == [("artifact_staged", run.principal)]
    assert reading.version(alice, made.artifact.id).content == "one"


@pytest.mark.req("ART-017")
def test_the_same_calls_again_do_the_same_once(
    db: None, alice: Member, start_run: Callable[..., RunWrite]
) -> None:
    run = start_run()
    staged, again = begin(alice, run), begin(alice, run)
    assert staged.id == again.id
    receipt = append(alice, run, staged, 1, "one")
    assert append(alice, run, staged, 1, "one") == receipt
    call = replace(run, call_id="run:1:9")
    values: dict[str, Any] = {"actor": alice, "staged_id": staged.id, "parts": 1}
    made = [staging.finalize(**values, receipt=receipt.receipt, run=call) for _ in range(2)]
    assert made[0].id == made[1].id
    with pytest.raises(Conflict):
        staging.finalize(**values, receipt=receipt.receipt, run=replace(run, call_id="other"))
    assert Artifact.objects.visible_to(alice).count() == 1


@pytest.mark.req("ART-019")
def test_an_old_fence_opens_no_step(
    db: None, alice: Member, start_run: Callable[..., RunWrite]
) -> None:
    run = start_run()
    staged = begin(alice, run)
    receipt = append(alice, run, staged, 1, "one").receipt
    RunClaim.objects.filter(run_id=run.run_id).update(fence=run.fence + 1)
    old = replace(run, call_id="late")
    values: dict[str, Any] = {"actor": alice, "staged_id": staged.id, "run": old}
    for step in (
        lambda: begin(alice, old),
        lambda: append(alice, old, staged, 2, "two"),
        lambda: staging.finalize(**values, parts=1, receipt=receipt),
        lambda: staging.discard(**values),
    ):
        with pytest.raises(LeaseLost):
            step()
    newer = replace(old, fence=run.fence + 1)
    assert append(alice, newer, staged, 2, "two").ordinal == 2
    assert StagedArtifact.objects.get(id=staged.id).state == "open"


@pytest.mark.req("ART-018")
def test_of_two_parts_for_one_place_exactly_one_is_kept(
    committed_db: None, alice: Member, start_run: Callable[..., RunWrite]
) -> None:
    run = start_run()
    staged = begin(alice, run)
    together, outcomes = threading.Barrier(6), []

    def write(text: str) -> None:
        try:
            together.wait(promised(30))
            outcomes.append(append(alice, run, staged, 1, text).digest)
        except Conflict:
            outcomes.append("refused")
        finally:
            connection.close()

    threads = [threading.Thread(target=write, args=(text,)) for text in "aaabbb"]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(promised(30))
    assert outcomes.count("refused") == 3
    assert len(set(outcomes)) == 2
    assert StagedPart.objects.filter(staged=staged).count() == 1
    settle(run)


def test_parts_are_refused_by_what_is_wrong_with_them(
    db: None, alice: Member, bob: Member, start_run: Callable[..., RunWrite]
) -> None:
    run = start_run()
    staged = begin(alice, run)
    for content, reason in (
        ("", "missing_field"),
        ("x" * 20_001, "too_long"),
        ("a\x00b", "invalid_field"),
        ("a\ud800b", "invalid_field"),
    ):
        with pytest.raises(Invalid) as refused:
            append(alice, run, staged, 1, content)
        assert refused.value.fields == [{"field": "content", "reason": reason}]
    with pytest.raises(NotFound):
        append(bob, run, staged, 1, "x")
    with pytest.raises(NotFound):
        staging.of_run(alice, uuid4(), staged.id)
    alice.is_active = False
    with pytest.raises(NotFound):
        append(alice, run, staged, 1, "x")
    assert not StagedPart.objects.filter(staged=staged).exists()


def test_an_artifact_has_at_most_a_hundred_parts(
    db: None, alice: Member, start_run: Callable[..., RunWrite]
) -> None:
    run = start_run()
    staged = begin(alice, run)
    for ordinal in range(1, 101):
        receipt = append(alice, run, staged, ordinal, f"{ordinal}\n")
    with pytest.raises(Invalid):
        append(alice, run, staged, 101, "x")
    made = staging.finalize(
        actor=alice,
        staged_id=staged.id,
        parts=100,
        receipt=receipt.receipt,
        run=replace(run, call_id="f"),
    )
    assert made.digest == writing.digest_of("".join(f"{n}\n" for n in range(1, 101)))
