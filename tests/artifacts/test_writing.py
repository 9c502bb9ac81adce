"""The one writer: versions, conflicts, fences, and calls that come twice."""

import hashlib
import threading
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import uuid4

import pytest
from django.contrib.auth.models import Permission
from django.db import IntegrityError, connection, transaction

from agents.members.models import Member
from artifacts import reading, writing
from artifacts.models import Artifact, ArtifactUserObjectPermission, ArtifactVersion
from artifacts.writing import Draft, RunWrite
from audit.models import AuditEvent
from audit.reasons import Reason
from audit.refusals import Conflict, Invalid, NotFound, Refusal
from tools.effects.claims import LeaseLost

PLAN = Draft("Plan", "markdown", "# Plan\n\n* one\n")


def rows(artifact_id: Any) -> list[tuple[str, str]]:
    return list(
        AuditEvent.objects.filter(subject_kind="artifact", subject_id=str(artifact_id))
        .order_by("at", "sequence")
        .values_list("action", "actor")
    )


@pytest.mark.req("ART-007", "ART-008")
def test_versions_hang_from_one_root_and_stay_readable(db: None, alice: Member) -> None:
    first = writing.create(actor=alice, draft=PLAN)
    root = first.artifact.id
    second = writing.update(actor=alice, artifact_id=root, content="# New", expected_version=1)
    assert (first.number, second.number, second.artifact.head) == (1, 2, 2)
    assert reading.version(alice, root).content == "# New"
    assert reading.version(alice, root, 1).content == PLAN.content
    assert first.digest == "sha256:" + hashlib.sha256(PLAN.content.encode()).hexdigest()
    assert first.author_principal == f"member:{alice.pk}"
    assert rows(root) == [
        ("artifact_created", f"member:{alice.pk}"),
        ("artifact_updated", f"member:{alice.pk}"),
    ]


@pytest.mark.req("ART-006")
def test_it_refuses_a_stale_version_and_says_which_is_current(db: None, alice: Member) -> None:
    root = writing.create(actor=alice, draft=PLAN).artifact.id
    writing.update(actor=alice, artifact_id=root, content="two", expected_version=1)
    for stale in (1, 3):
        with pytest.raises(Conflict) as refused:
            writing.update(actor=alice, artifact_id=root, content="x", expected_version=stale)
        assert refused.value.current == 2
    assert ArtifactVersion.objects.filter(artifact_id=root).count() == 2


@pytest.mark.req("ART-005", "ART-006")
def test_of_many_writers_with_one_base_exactly_one_wins(committed_db: None, alice: Member) -> None:
    root = writing.create(actor=alice, draft=PLAN).artifact.id
    together = threading.Barrier(8)
    outcomes: list[str] = []

    def write(number: int) -> None:
        try:
            together.wait(10)
            writing.update(
                actor=alice, artifact_id=root, content=f"by {number}", expected_version=1
            )
            outcomes.append("won")
        except Conflict as conflict:
            outcomes.append(f"stale {conflict.current}")
        finally:
            connection.close()

    threads = [threading.Thread(target=write, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert sorted(outcomes) == ["stale 2"] * 7 + ["won"]
    assert Artifact.objects.get(id=root).head == 2
    assert ArtifactVersion.objects.filter(artifact_id=root).count() == 2


def test_one_call_writes_once_however_often_it_comes(
    committed_db: None, alice: Member, start_run: Callable[..., RunWrite]
) -> None:
    run = start_run()
    together = threading.Barrier(6)
    made: list[Any] = []

    def write() -> None:
        try:
            together.wait(10)
            version = writing.create(actor=alice, draft=PLAN, run=run)
            made.append((version.id, version.artifact.id))
        finally:
            connection.close()

    threads = [threading.Thread(target=write) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(30)
    assert len(made) == 6
    assert len(set(made)) == 1
    assert ArtifactVersion.objects.filter(run_id=run.run_id).count() == 1
    assert len(rows(made[0][1])) == 1


def test_a_call_id_cannot_be_used_for_something_else(
    db: None, alice: Member, start_run: Callable[..., RunWrite]
) -> None:
    run = start_run()
    first = writing.create(actor=alice, draft=PLAN, run=run)
    with pytest.raises(Refusal) as refused:
        writing.update(
            actor=alice,
            artifact_id=first.artifact.id,
            content="other",
            expected_version=1,
            run=run,
        )
    assert refused.value.reason is Reason.CALL_ID_REUSED
    next_call = replace(run, call_id="run:1:2")
    second = writing.update(
        actor=alice,
        artifact_id=first.artifact.id,
        content="other",
        expected_version=1,
        run=next_call,
    )
    assert (second.number, second.author_principal) == (2, run.principal)


@pytest.mark.req("ART-019")
def test_a_worker_that_was_taken_over_writes_nothing(
    db: None, alice: Member, start_run: Callable[..., RunWrite]
) -> None:
    run = start_run(lease_s=0)
    kept = writing.create(actor=alice, draft=PLAN, run=run)
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE effects_runclaim SET fence = fence + 1 WHERE run_id = %s", [run.run_id]
        )
    old = replace(run, call_id="run:1:2")
    with pytest.raises(LeaseLost):
        writing.create(actor=alice, draft=PLAN, run=old)
    with pytest.raises(LeaseLost):
        writing.update(
            actor=alice, artifact_id=kept.artifact.id, content="x", expected_version=1, run=old
        )
    newer = replace(old, fence=run.fence + 1)
    assert writing.create(actor=alice, draft=PLAN, run=newer).number == 1
    assert ArtifactVersion.objects.filter(run_id=run.run_id).count() == 2


@pytest.mark.req("ART-005")
def test_only_who_may_edit_can_write(db: None, alice: Member, bob: Member, charlie: Member) -> None:
    root = writing.create(actor=alice, draft=PLAN).artifact.id
    _share(root, bob, "view_shared_artifact")
    with pytest.raises(Refusal) as refused:
        writing.update(actor=bob, artifact_id=root, content="x", expected_version=1)
    assert refused.value.reason is Reason.FORBIDDEN
    for stranger, artifact_id in ((charlie, root), (charlie, uuid4())):
        with pytest.raises(NotFound):
            writing.update(actor=stranger, artifact_id=artifact_id, content="x", expected_version=1)
    _share(root, bob, "edit_artifact")
    assert writing.update(actor=bob, artifact_id=root, content="x", expected_version=1).number == 2
    assert rows(root)[-1] == ("artifact_updated", f"member:{bob.pk}")


def test_somebody_switched_off_writes_nothing(db: None, alice: Member) -> None:
    root = writing.create(actor=alice, draft=PLAN).artifact.id
    alice.is_active = False
    with pytest.raises(Refusal) as refused:
        writing.create(actor=alice, draft=PLAN)
    assert refused.value.reason is Reason.ACCOUNT_INACTIVE
    with pytest.raises(NotFound):
        writing.update(actor=alice, artifact_id=root, content="x", expected_version=1)


@pytest.mark.req("ART-009", "ART-025")
@pytest.mark.parametrize(
    ("changes", "field", "reason"),
    [
        ({"title": " \n "}, "title", "missing_field"),
        ({"title": "t" * 201}, "title", "too_long"),
        ({"title": "Plan \u202egpj.exe"}, "title", "invalid_field"),
        ({"title": "Plan\x00"}, "title", "invalid_field"),
        ({"title": "Plan\u200b"}, "title", "invalid_field"),
        ({"title": "\ufeff"}, "title", "invalid_field"),
        ({"title": "\u3164"}, "title", "invalid_field"),
        ({"kind": "spreadsheet"}, "kind", "invalid_field"),
        ({"kind": "renderable"}, "kind", "invalid_field"),
        ({"content": " \n"}, "content", "missing_field"),
        ({"content": "x" * 100_001}, "content", "too_long"),
        ({"content": "a\x00b"}, "content", "invalid_field"),
        ({"content": "a\ud800b"}, "content", "invalid_field"),
        ({"language": "python"}, "language", "invalid_field"),
        ({"kind": "code", "language": "Python 3"}, "language", "invalid_field"),
        (
            {"kind": "code", "language": "kamiwaza-renderable-artifact"},
            "language",
            "invalid_field",
        ),
    ],
)
def test_it_refuses_content_its_kind_does_not_allow(
    db: None, alice: Member, changes: dict[str, str], field: str, reason: str
) -> None:
    with pytest.raises(Invalid) as refused:
        writing.create(actor=alice, draft=replace(PLAN, **changes))
    assert refused.value.fields == [{"field": field, "reason": reason}]
    assert not Artifact.objects.visible_to(alice).exists()


@pytest.mark.req("ART-025")
def test_the_longest_content_of_every_kind_is_kept_exactly(db: None, alice: Member) -> None:
    for kind, language in (("markdown", ""), ("text", ""), ("code", "html")):
        content = "漢" * 99_999 + "\n"
        made = writing.create(actor=alice, draft=Draft("Long", kind, content, language))
        kept = reading.version(alice, made.artifact.id)
        assert (kept.content, kept.language) == (content, language)


def test_an_update_keeps_the_language_unless_it_names_another(db: None, alice: Member) -> None:
    root = writing.create(actor=alice, draft=Draft("S", "code", "a", "sql")).artifact.id
    kept = writing.update(actor=alice, artifact_id=root, content="b", expected_version=1)
    other = writing.update(
        actor=alice, artifact_id=root, content="c", expected_version=2, language="python"
    )
    assert [kept.language, other.language] == ["sql", "python"]


@pytest.mark.req("ART-007")
def test_the_database_refuses_to_change_or_remove_a_version(db: None, alice: Member) -> None:
    version = writing.create(actor=alice, draft=PLAN)
    rows_of = ArtifactVersion.objects.filter(id=version.id)
    for attempt in (lambda: rows_of.update(content="other"), rows_of.delete):
        with pytest.raises(Exception, match=r"append-only|permission denied"), transaction.atomic():
            attempt()
    with pytest.raises(IntegrityError), transaction.atomic():
        ArtifactVersion.objects.create(
            id=uuid4(), artifact=version.artifact, number=1, content="x", digest="d"
        )


def _share(artifact_id: Any, member: Member, codename: str) -> None:
    ArtifactUserObjectPermission.objects.create(
        user=member,
        content_object_id=artifact_id,
        permission=Permission.objects.get(codename=codename),
    )
