"""The staged writer: a run writes one artifact part by part, each part in a commit of its own.

begin -> append (1, 2, 3 …) -> finalize | discard, in this order and no other. Every step proves the
fence of the run that began. A part is kept once: its receipt is made from the receipt before it
and its own digest, so that the last receipt stands for all parts in their order. Nothing is an
artifact before `finalize`, which hands the joined parts to the one writer.
"""

import hashlib
from dataclasses import dataclass
from typing import Final
from uuid import UUID, uuid4

from django.db import transaction

from artifacts import writing
from artifacts.kinds import content as contents
from artifacts.models import (
    TAG_CHARACTERS,
    ArtifactVersion,
    StagedArtifact,
    StagedPart,
    StagedState,
)
from artifacts.querysets import Actor
from artifacts.writing import Draft, RunWrite
from audit import funnel
from audit.limits import limit
from audit.reasons import Action, Outcome, Reason
from audit.refusals import Conflict, Invalid, NotFound, Refusal
from tools.effects import claims

PART_CHARACTERS = limit(
    "artifact.part", 20_000, "characters", "Length of one part of an artifact written in parts."
)
PARTS = limit("artifact.parts", 100, "count", "Parts one artifact may be written in.")
OPEN = limit(
    "artifact.staged", 3, "count", "Artifacts one turn may be writing in parts at the same time."
)
SWEPT_AT_ONCE: Final = 200  # the next tick takes the rest
SWEEPER: Final = "system:artifacts"


@dataclass(frozen=True)
class Receipt:
    """What is given for a part. `receipt` stands for this part and all before it."""

    title: str
    ordinal: int
    digest: str
    receipt: str
    characters: int


def begin(
    *,
    actor: Actor,
    title: str,
    kind: str,
    language: str,
    conversation_id: UUID | None,
    run: RunWrite,
) -> StagedArtifact:
    """Begin a new artifact without content. The same call again gets what it began.

    Raises `Invalid` for a title, kind or language that no artifact may have,
    `Refusal(LIMIT_REACHED)` while the run has three of them open, and `LeaseLost`.
    """
    heading = writing.checked_title(title)
    contents.check_heading(kind=kind, language=language)
    with transaction.atomic():
        claims.prove(run.run_id, run.fence)
        mine = StagedArtifact.objects.visible_to(actor).of_run(run.run_id)
        earlier: StagedArtifact | None = mine.filter(call_id=run.call_id).first()
        if earlier is not None:
            return earlier
        if mine.filter(state=StagedState.OPEN).count() >= OPEN:
            raise Refusal(
                Reason.LIMIT_REACHED,
                f"{OPEN} artifacts are being written in parts. Finish or discard one first.",
            )
        staged: StagedArtifact = StagedArtifact.objects.create(
            id=uuid4(),
            run_id=run.run_id,
            call_id=run.call_id,
            owner_id=actor.pk,
            conversation_id=conversation_id,
            title=heading,
            kind=kind,
            language=language,
        )
        _record(Action.ARTIFACT_STAGED, staged, run.principal)
        return staged


def append(*, actor: Actor, staged_id: UUID, ordinal: int, content: str, run: RunWrite) -> Receipt:
    """Keep the next part; the same part again gets the same receipt.

    Raises `Conflict(CONTENT_MISMATCH)` when the ordinal was used with other content, `Invalid` for
    an ordinal that is not the next one, an empty part, and a part or a whole that is too long,
    `Conflict` when it is finished or discarded, `NotFound`, and `LeaseLost`.
    """
    digest = writing.digest_of(_storable(content))
    with transaction.atomic():
        staged = _open(actor, staged_id, run)
        kept = StagedPart.objects.filter(staged=staged, ordinal=ordinal).first()
        if kept is not None and kept.digest == digest:
            return _receipt(staged, kept)
        if kept is not None:
            raise Conflict(
                Reason.CONTENT_MISMATCH,
                f"Part {ordinal} was kept with other content. The next part is {staged.parts + 1}.",
            )
        if ordinal != staged.parts + 1:
            raise _invalid(
                "ordinal",
                Reason.INVALID_FIELD,
                f"The next part is {staged.parts + 1}, not {ordinal}.",
            )
        if ordinal > PARTS:
            raise _invalid("ordinal", Reason.TOO_LONG, f"{PARTS} parts are allowed.")
        left = contents.CONTENT_CHARACTERS - staged.characters
        if len(content) > left:
            words = f"{left:,} characters are left for this artifact."
            raise _invalid("content", Reason.TOO_LONG, words)
        part = StagedPart.objects.create(
            staged=staged,
            ordinal=ordinal,
            content=content,
            digest=digest,
            receipt=_chained(staged.receipt, digest),
        )
        staged.parts = ordinal
        staged.characters += len(content)
        staged.receipt = part.receipt
        staged.save(update_fields=["parts", "characters", "receipt"])
        return _receipt(staged, part)


def finalize(
    *, actor: Actor, staged_id: UUID, parts: int, receipt: str, run: RunWrite
) -> ArtifactVersion:
    """Make the artifact out of all parts. `parts` and the last `receipt` prove what it is made of.

    The same call again gets what it made. Raises `Conflict(CONTENT_MISMATCH)` when they are not
    those of the parts kept, `Conflict` when it is finished or discarded, `NotFound`, and what
    `writing.create` raises; then it stays open.
    """
    with transaction.atomic():
        staged = _held(actor, staged_id, run)
        if staged.state == StagedState.FINISHED:
            made = ArtifactVersion.objects.filter(run_id=run.run_id, call_id=run.call_id)
            earlier: ArtifactVersion | None = made.select_related("artifact").first()
            if earlier is not None:
                return earlier
        _require_open(staged)
        if staged.parts == 0:
            raise _invalid("parts", Reason.INVALID_FIELD, "Nothing has been appended yet.")
        if (parts, receipt) != (staged.parts, staged.receipt):
            raise Conflict(
                Reason.CONTENT_MISMATCH,
                f"There are {staged.parts} parts, and the last receipt is {staged.receipt}.",
            )
        texts = StagedPart.objects.filter(staged=staged).order_by("ordinal")
        version = writing.create(
            actor=actor,
            draft=Draft(
                title=staged.title,
                kind=staged.kind,
                content="".join(texts.values_list("content", flat=True)),
                language=staged.language,
            ),
            conversation_id=staged.conversation_id,
            run=run,
        )
        _close(staged, StagedState.FINISHED)
        StagedArtifact.objects.filter(id=staged.id).update(made=version.artifact)
        return version


def discard(*, actor: Actor, staged_id: UUID, run: RunWrite) -> StagedArtifact:
    """Give it up with all its parts. Raises `Conflict` when it is finished or discarded,
    `NotFound`, and `LeaseLost`.
    """
    with transaction.atomic():
        staged = _open(actor, staged_id, run)
        _close(staged, StagedState.DISCARDED)
        _record(Action.ARTIFACT_UNSTAGED, staged, run.principal)
        return staged


def of_run(actor: Actor, run_id: UUID, staged_id: UUID) -> StagedArtifact:
    """One that this run writes, as it is now; raises `NotFound`."""
    rows = StagedArtifact.objects.visible_to(actor).of_run(run_id)
    staged: StagedArtifact | None = rows.filter(id=staged_id).first()
    if staged is None:
        raise NotFound()
    return staged


def sweep() -> int:
    """Forget those whose run has ended, with their parts; returns how many. Safe to run twice."""
    with transaction.atomic():
        rows = StagedArtifact.objects.abandoned().select_for_update(skip_locked=True, of=("self",))
        gone = list(rows[:SWEPT_AT_ONCE])
        for staged in gone:
            if staged.state == StagedState.OPEN:
                _record(Action.ARTIFACT_UNSTAGED, staged, SWEEPER)
        StagedArtifact.objects.filter(id__in=[staged.id for staged in gone]).delete()
    return len(gone)


def _held(actor: Actor, staged_id: UUID, run: RunWrite) -> StagedArtifact:
    """The row, held for the transaction, by the worker that owns the run."""
    claims.prove(run.run_id, run.fence)
    rows = StagedArtifact.objects.visible_to(actor).of_run(run.run_id)
    staged: StagedArtifact | None = rows.filter(id=staged_id).select_for_update().first()
    if staged is None:
        raise NotFound()
    return staged


def _open(actor: Actor, staged_id: UUID, run: RunWrite) -> StagedArtifact:
    staged = _held(actor, staged_id, run)
    _require_open(staged)
    return staged


def _require_open(staged: StagedArtifact) -> None:
    if staged.state == StagedState.FINISHED:
        raise Conflict(Reason.CONFLICT, f"It was finished before, as artifact {staged.made_id}.")
    if staged.state == StagedState.DISCARDED:
        raise Conflict(Reason.CONFLICT, "It was discarded before. Begin again.")


def _close(staged: StagedArtifact, state: StagedState) -> None:
    StagedArtifact.objects.filter(id=staged.id).update(state=state)
    StagedPart.objects.filter(staged=staged).delete()


def _chained(before: str, digest: str) -> str:
    """The receipt of a part: made from the one before it and the part's own digest."""
    return hashlib.sha256(f"{before}\n{digest}".encode()).hexdigest()[:TAG_CHARACTERS]


def _receipt(staged: StagedArtifact, part: StagedPart) -> Receipt:
    return Receipt(staged.title, part.ordinal, part.digest, part.receipt, staged.characters)


def _storable(content: str) -> str:
    """The part as it came; raises `Invalid` for one that cannot be kept."""
    if not content:
        raise _invalid("content", Reason.MISSING_FIELD, "The part is empty.")
    if len(content) > PART_CHARACTERS:
        words = f"A part has at most {PART_CHARACTERS:,} characters. Send the rest as the next."
        raise _invalid("content", Reason.TOO_LONG, words)
    if not contents.storable(content):
        raise _invalid("content", Reason.INVALID_FIELD, "The part holds characters of no text.")
    return content


def _invalid(field: str, reason: Reason, message: str) -> Invalid:
    return Invalid([{"field": field, "reason": str(reason)}], message)


def _record(action: Action, staged: StagedArtifact, actor: str) -> None:
    funnel.record(
        action=action,
        actor=actor,
        outcome=Outcome.SUCCESS,
        subject=("staged_artifact", str(staged.id)),
        run_id=staged.run_id,
        details={"parts": staged.parts, "kind": staged.kind},
    )
