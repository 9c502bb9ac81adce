"""Renderable content is written only where the server attests it, and stays bound to its origin."""

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any
from uuid import UUID, uuid4

import pytest
from django.contrib.auth.models import Permission
from django.db import IntegrityError, transaction

from agents.members.models import Member
from artifacts import outputs, reading, writing
from artifacts.kinds.content import Kind
from artifacts.models import Artifact, ArtifactUserObjectPermission, ArtifactVersion
from artifacts.renderable.attestation import LANGUAGE, Attestation, Unattested
from artifacts.renderable.binding import BindingChanged
from artifacts.renderable.envelope import ENVELOPE_BYTES, normalise
from artifacts.writing import Draft, RunWrite
from audit.models import AuditEvent
from audit.refusals import Invalid, NotFound
from tests.artifacts.envelopes import Json, ferries, payload, referring
from tools.boundary.contract import ArtifactOutput, Revision, RunIdentity

StartRun = Callable[..., RunWrite]


def attested(run: RunWrite, candidate: Json) -> tuple[RunWrite, Draft]:
    """The write of a call that declared the envelope, as the server makes it."""
    accepted = normalise(candidate)
    proof = Attestation.of(run.run_id, run.call_id, accepted)
    return replace(run, attestation=proof), Draft("Ferries", "renderable", accepted.text, LANGUAGE)


def identity(run: RunWrite, member: Member) -> RunIdentity:
    return RunIdentity(
        run_id=run.run_id,
        fence=run.fence,
        member_id=member.pk,
        conversation_id=uuid4(),
        agent_id=UUID(run.principal.removeprefix("agent:")),
        agent_version=1,
    )


def keep(run: RunWrite, member: Member, *declared: Any, call: str = "run:1:1") -> Any:
    made = tuple(
        one if isinstance(one, ArtifactOutput) else ArtifactOutput(one) for one in declared
    )
    return outputs.keep(identity(run, member), call, made)


def version_of(frame: Any) -> ArtifactVersion:
    return ArtifactVersion.objects.select_related("artifact").get(
        artifact_id=frame.data["artifact_id"], number=frame.data["version"]
    )


@pytest.mark.req("REN-018")
def test_the_attestation_covers_one_call_one_write_and_one_content(
    db: None, alice: Member, start_run: StartRun
) -> None:
    run, draft = attested(start_run(), ferries())
    other = start_run()
    forged = normalise(payload("other")).text
    for wrong_run, wrong_draft in (
        (replace(run, attestation=None), draft),
        (replace(run, call_id="run:1:2"), draft),
        (replace(other, attestation=run.attestation), draft),
        (run, replace(draft, content=forged)),
        (run, replace(draft, content=draft.content + " ")),
        (run, replace(draft, language="")),
    ):
        with pytest.raises(Invalid):
            writing.create(actor=alice, draft=wrong_draft, run=wrong_run)
    with pytest.raises(Invalid):  # nobody's own hand, not even the owner's
        writing.create(actor=alice, draft=draft)
    # an attestation opens nothing but its kind
    for kind in ("code", "text", "markdown"):
        with pytest.raises(Invalid):
            writing.create(actor=alice, draft=replace(draft, kind=kind), run=run)
    assert not Artifact.objects.filter(owner=alice).exists()

    kept = writing.create(actor=alice, draft=draft, run=run)
    assert (kept.artifact.kind, kept.language, kept.content) == (
        "renderable",
        LANGUAGE,
        draft.content,
    )


@pytest.mark.req("REN-018", "REN-015")
def test_outputs_go_through_the_one_writer_under_the_member_of_the_run(
    db: None, alice: Member, start_run: StartRun
) -> None:
    run = start_run()
    kept = keep(run, alice, ferries(), ArtifactOutput(referring(), title="  Result of job 17 "))
    assert kept.failed == 0
    first, second = map(version_of, kept.saved)
    assert [frame.kind for frame in kept.saved] == ["artifact_saved"] * 2
    assert kept.saved[0].data == {
        "artifact_id": str(first.artifact_id),
        "version": 1,
        "title": "departures",
        "kind": "renderable",
    }
    assert second.artifact.title == "Result of job 17"
    assert json.loads(first.content) == ferries()
    assert first.digest == writing.digest_of(first.content)
    assert (first.run_id, first.call_id) == (run.run_id, "run:1:1/output/1")
    assert (first.author_principal, first.artifact.owner_id) == (run.principal, alice.pk)
    rows = AuditEvent.objects.filter(run_id=run.run_id, action="artifact_created")
    assert sorted(row.subject_id for row in rows) == sorted(
        frame.data["artifact_id"] for frame in kept.saved
    )

    # the call that is made again by whoever took the run over has what it wrote
    assert keep(run, alice, ferries(), referring()).saved == kept.saved
    assert Artifact.objects.filter(owner=alice).count() == 2


@pytest.mark.req("REN-013")
def test_a_later_version_keeps_provenance_and_markings(
    db: None, alice: Member, start_run: StartRun
) -> None:
    run = start_run()
    (saved,) = keep(run, alice, ferries()).saved
    base = Revision(UUID(saved.data["artifact_id"]), 1)
    provenance = ferries()["provenance"]
    changes = [
        {"security": {"markings": {"banner": "PUBLIC", "rows": "INTERNAL // CREW"}}},
        {"security": {"markings": {"banner": "INTERNAL"}}},
        {"security": {"markings": ["INTERNAL", "INTERNAL // CREW"]}},
        *({"provenance": {**provenance, part: "other"}} for part in ("cluster", "dataset", "job")),
        {"provenance": {**provenance, "context": {}}},
    ]
    for number, change in enumerate(changes):
        again = ArtifactOutput(ferries(**change), revises=base)
        assert keep(run, alice, again, call=f"run:2:{number}").failed == 1
        accepted = normalise(ferries(**change))
        proof = Attestation.of(run.run_id, f"w{number}", accepted)
        with pytest.raises(BindingChanged) as refused:
            writing.update(
                actor=alice,
                artifact_id=base.artifact_id,
                content=accepted.text,
                expected_version=1,
                language=LANGUAGE,
                run=replace(run, call_id=f"w{number}", attestation=proof),
            )
        assert "new artifact" in refused.value.message
        (as_new,) = keep(run, alice, ferries(**change), call=f"run:3:{number}").saved
        assert as_new.data["artifact_id"] != saved.data["artifact_id"]

    reordered = {"job": "job-17", "dataset": "departures", "cluster": "north"}
    same = ferries(
        text_fallback="Two ferries.",
        provenance={**reordered, "context": provenance["context"]},
    )
    (second,) = keep(run, alice, ArtifactOutput(same, revises=base), call="run:4:1").saved
    assert (second.data["artifact_id"], second.data["version"]) == (saved.data["artifact_id"], 2)
    # and the base has moved on
    assert keep(run, alice, ArtifactOutput(same, revises=base), call="run:4:2").failed == 1


@pytest.mark.req("REN-013", "REN-014")
def test_people_cannot_change_what_a_trusted_tool_made(
    db: None, alice: Member, start_run: StartRun
) -> None:
    (saved,) = keep(start_run(), alice, ferries()).saved
    version = version_of(saved)
    target = {"actor": alice, "artifact_id": version.artifact_id, "expected_version": 1}
    for language in (None, LANGUAGE, "json"):
        with pytest.raises(Invalid) as refused:
            writing.update(content=version.content, language=language, **target)
        assert LANGUAGE in refused.value.message
    with pytest.raises(Invalid):
        writing.restore(version=1, **target)
    assert reading.artifact(alice, version.artifact_id).head == 1


def test_an_output_never_changes_an_artifact_of_another_kind_or_person(
    db: None, alice: Member, bob: Member, start_run: StartRun
) -> None:
    notes = writing.create(actor=alice, draft=Draft("Notes", "text", "mine"))
    foreign = version_of(keep(start_run(), bob, ferries()).saved[0])
    for number, target in enumerate((notes.artifact_id, foreign.artifact_id, uuid4())):
        declared = ArtifactOutput(ferries(), revises=Revision(target, 1))
        kept = keep(start_run(call_id=f"run:1:{number}"), alice, declared)
        assert (kept.saved, kept.failed) == ((), 1)
    assert ArtifactVersion.objects.filter(artifact_id=notes.artifact_id).count() == 1


def test_an_operator_can_read_why_an_output_was_not_kept(
    db: None, alice: Member, start_run: StartRun, caplog: pytest.LogCaptureFixture
) -> None:
    hidden = "otto-private-words"
    keep(start_run(), alice, payload({"password": hidden}), ferries(), {hidden: 1})
    first, third = (record.getMessage() for record in caplog.records)
    assert first.startswith("output 1 of call run:1:1 not kept: ")
    assert "has a field for a credential" in first
    assert third.startswith("output 3 of call run:1:1 not kept: ")
    assert hidden not in caplog.text


@pytest.mark.req("REN-019")
def test_a_member_who_is_switched_off_keeps_nothing(
    db: None, alice: Member, start_run: StartRun
) -> None:
    alice.is_active = False
    alice.save()
    kept = keep(start_run(), alice, ferries(), ferries())
    assert (kept.saved, kept.failed) == ((), 2)
    assert not Artifact.objects.filter(owner=alice).exists()


@pytest.mark.req("REN-004")
def test_the_database_holds_the_largest_envelope_and_no_other_text_of_its_size(
    db: None, alice: Member, start_run: StartRun
) -> None:
    room = ENVELOPE_BYTES - len(normalise(payload("")).text)
    largest = payload("x" * room)
    (saved,) = keep(start_run(), alice, largest).saved
    version = version_of(saved)
    assert len(version.content) == ENVELOPE_BYTES
    for changes in ({"language": ""}, {"content": version.content + " "}):
        row = {"artifact": version.artifact, "number": 2, "digest": "", "author_principal": "x"}
        values = {"content": version.content, "language": LANGUAGE, **changes}
        with pytest.raises(IntegrityError), transaction.atomic():
            ArtifactVersion.objects.create(id=uuid4(), **row, **values)


@pytest.mark.req("REN-025")
def test_markings_open_and_close_nothing(
    db: None, alice: Member, bob: Member, charlie: Member, start_run: StartRun
) -> None:
    open_to_all = {"markings": {"banner": "PUBLIC", "rows": "RELEASABLE TO ALL MEMBERS"}}
    closed = {"markings": ["TOP SECRET"]}
    run = start_run()
    marked_open, marked_closed = map(
        version_of,
        keep(run, alice, ferries(security=open_to_all), ferries(security=closed)).saved,
    )
    for version in (marked_open, marked_closed):
        with pytest.raises(NotFound):
            reading.version(charlie, version.artifact_id)
    ArtifactUserObjectPermission.objects.create(
        user=bob,
        content_object=marked_closed.artifact,
        permission=Permission.objects.get(codename="view_shared_artifact"),
    )
    assert reading.version(bob, marked_closed.artifact_id) == marked_closed
    assert list(reading.visible(bob)) == [marked_closed.artifact]
    assert set(reading.visible(alice)) == {marked_open.artifact, marked_closed.artifact}


def test_the_words_of_the_refusal_name_what_is_reserved(db: None, alice: Member) -> None:
    for draft in (
        Draft("Ferries", "renderable", "{}"),
        Draft("Ferries", "code", "{}", LANGUAGE),
        Draft("Ferries", "markdown", "{}", LANGUAGE),
        Draft("Ferries", "code", "{}", LANGUAGE.replace("-", "_")),
        Draft("Ferries", "code", "{}", LANGUAGE.replace("-", "")),
        Draft("Ferries", "code", "{}", f"{LANGUAGE}."),
        Draft("Ferries", "code", "{}", LANGUAGE.title()),
    ):
        with pytest.raises(Invalid) as refused:
            writing.create(actor=alice, draft=draft)
        assert LANGUAGE in refused.value.message
        assert Kind.RENDERABLE in refused.value.message
    assert issubclass(Unattested, Invalid)
