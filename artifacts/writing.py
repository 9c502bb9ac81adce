"""The one writer of artifacts, for people and for runs. Nothing else makes a version."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models.functions import Now

from artifacts import comparing, editing
from artifacts.editing import Hunk
from artifacts.kinds import content as contents
from artifacts.models import Artifact, ArtifactVersion
from artifacts.querysets import Actor
from artifacts.renderable import binding
from artifacts.renderable.attestation import Attestation
from audit import funnel, hiding
from audit.reasons import Action, Outcome, Reason
from audit.refusals import Conflict, Invalid, NotFound, Refusal
from tools.effects import claims

READ_ONLY: Final = "This artifact is shared for reading only."


@dataclass(frozen=True)
class Draft:
    """What is to be kept. `language` is for code alone."""

    title: str
    kind: str
    content: str
    language: str = ""


@dataclass(frozen=True)
class RunWrite:
    """The call of a run that writes. `fence` proves that the run still belongs to its worker.

    `attestation` stands behind renderable content, and for no other kind does it change anything.
    """

    run_id: UUID
    fence: int
    call_id: str
    principal: str
    attestation: Attestation | None = None


@dataclass(frozen=True)
class _Change:
    """What is to become the next version, and of which one."""

    content: str
    language: str | None
    expected_version: int


class _Moved(Exception):
    """The artifact has another newest version than was expected: `head`."""

    def __init__(self, head: int) -> None:
        super().__init__(head)
        self.head = head


def create(
    *,
    actor: Actor,
    draft: Draft,
    conversation_id: UUID | None = None,
    run: RunWrite | None = None,
) -> ArtifactVersion:
    """A new artifact of the actor with its first version.

    A call that has written before gets what it wrote then. Raises `Invalid` (a malformed graph:
    `contents.BrokenContract`), `Refusal(ACCOUNT_INACTIVE)`, `Refusal(CALL_ID_REUSED)` when the
    call wrote something else, and `LeaseLost` when the run has been taken over.
    """
    title = checked_title(draft.title)
    _check(draft.kind, draft.content, draft.language, run)
    if not actor.is_active:
        raise Refusal(Reason.ACCOUNT_INACTIVE, "This account is switched off.")
    with transaction.atomic():
        earlier = _earlier(run, draft.content)
        if earlier is not None:
            return earlier
        artifact = Artifact.objects.create(
            id=uuid4(),
            owner_id=actor.pk,
            title=title,
            kind=draft.kind,
            conversation_id=conversation_id,
        )
        return _append(artifact, 1, draft.content, draft.language, _author(actor, run), run)


def update(
    *,
    actor: Actor,
    artifact_id: UUID,
    content: str,
    expected_version: int,
    language: str | None = None,
    run: RunWrite | None = None,
) -> ArtifactVersion:
    """The next version of an artifact; `language` None keeps the newest version's.

    Raises `Conflict` when `expected_version` is no longer the newest; its details hold the newest
    number and tag and what has changed since. Raises `NotFound` for an artifact the actor cannot
    see, `Refusal(FORBIDDEN)` for one they may only read, and otherwise as `create`.
    """
    change = _Change(content, language, expected_version)
    try:
        return _changed(actor, artifact_id, change, run)
    except _Moved as moved:  # what differs is found out without holding the artifact's lock
        raise _conflict(artifact_id, expected_version, moved.head) from None


def edit(
    *,
    actor: Actor,
    artifact_id: UUID,
    base_version: int,
    tag: str,
    hunks: Sequence[Hunk],
    run: RunWrite | None = None,
) -> ArtifactVersion:
    """The next version, made from an exact one by hunks that all name lines of it.

    `tag` must be that of the base version: `Conflict(CONTENT_MISMATCH)` otherwise. Raises `Invalid`
    for hunks that cannot stand (`editing.apply`), and otherwise as `update` with the base version
    as the expected one.
    """
    root = _editable(actor, artifact_id)
    base = ArtifactVersion.objects.filter(artifact=root, number=base_version).first()
    if base is None:
        raise _conflict(artifact_id, base_version, root.head)
    if base.tag != tag:
        raise Conflict(
            Reason.CONTENT_MISMATCH,
            f"This is not the tag of version {base_version}. Read the artifact again.",
            current=root.head,
            details=_newest(artifact_id, root.head),
        )
    return update(
        actor=actor,
        artifact_id=artifact_id,
        content=editing.apply(base.content, hunks),
        expected_version=base_version,
        run=run,
    )


def restore(
    *, actor: Actor, artifact_id: UUID, version: int, expected_version: int
) -> ArtifactVersion:
    """A new version with the content of an earlier one. Raises `NotFound` for a version that is not
    there, and otherwise as `update`.
    """
    root = _editable(actor, artifact_id)
    earlier = ArtifactVersion.objects.filter(artifact=root, number=version).first()
    if earlier is None:
        raise NotFound()
    return update(
        actor=actor,
        artifact_id=artifact_id,
        content=earlier.content,
        expected_version=expected_version,
        language=earlier.language,
    )


def delete(*, actor: Actor, artifact_id: UUID) -> None:
    """Hide an artifact from everybody; its versions stay in the database.

    By its owner: raises `Refusal(FORBIDDEN)` for people it is shared with, `NotFound` for others.
    """
    with transaction.atomic():
        owned = Artifact.objects.owned_by(actor).filter(id=artifact_id)
        if not owned.update(deleted_at=Now(), updated_at=Now()):
            raise _unreachable(actor, artifact_id, "Only its owner may delete this artifact.")
        funnel.record(
            action=Action.ARTIFACT_DELETED,
            actor=f"member:{actor.pk}",
            outcome=Outcome.SUCCESS,
            subject=("artifact", str(artifact_id)),
        )


def checked_title(text: str) -> str:
    """The title with single spaces; raises `Invalid` for one that is empty, too long or hides."""
    title = " ".join(text.split())
    if not title:
        reason = Reason.MISSING_FIELD
    elif len(title) > contents.TITLE_CHARACTERS:
        reason = Reason.TOO_LONG
    elif hiding.hides(title):
        reason = Reason.INVALID_FIELD
    else:
        return title
    raise Invalid([{"field": "title", "reason": str(reason)}])


def digest_of(content: str) -> str:
    """`sha256:` and the hexadecimal digest of the UTF-8 bytes, as a download has them."""
    return f"sha256:{hashlib.sha256(content.encode()).hexdigest()}"


def _changed(
    actor: Actor, artifact_id: UUID, change: _Change, run: RunWrite | None
) -> ArtifactVersion:
    """Append the version in one transaction that holds the artifact; raises `_Moved`."""
    content, language = change.content, change.language
    with transaction.atomic():
        earlier = _earlier(run, content)
        if earlier is not None:
            return earlier
        artifact = _locked(actor, artifact_id)
        if artifact.head != change.expected_version:
            raise _Moved(artifact.head)
        if language is None:
            language = _newest_of(artifact, "language").language
        _check(artifact.kind, content, language, run)
        if artifact.kind == contents.Kind.RENDERABLE:
            binding.check(before=_newest_of(artifact, "content").content, after=content)
        number = artifact.head + 1
        Artifact.objects.filter(id=artifact.id).update(head=number, updated_at=Now())
        artifact.head = number
        return _append(artifact, number, content, language, _author(actor, run), run)


def _check(kind: str, content: str, language: str, run: RunWrite | None) -> None:
    """Raise unless the content keeps its kind's contract, or is attested where that is needed."""
    attestation = run.attestation if run else None
    if run is None or attestation is None or kind != contents.Kind.RENDERABLE:
        contents.check(kind=kind, content=content, language=language)
    else:
        attestation.confirm(
            run_id=run.run_id, write_id=run.call_id, content=content, language=language
        )


def _newest_of(artifact: Artifact, column: str) -> ArtifactVersion:
    """The newest version with one column of it."""
    return ArtifactVersion.objects.only(column).get(  # type: ignore[no-any-return]  # rows are Any
        artifact=artifact, number=artifact.head
    )


def _conflict(artifact_id: UUID, base: int, head: int) -> Conflict:
    """What a stale writer is told: the newest version and how it differs from theirs.

    For somebody who may edit the artifact, and so read it.
    """
    details = _newest(artifact_id, head)
    contents_by_number = dict(
        ArtifactVersion.objects.filter(
            artifact_id=artifact_id, number__in=(base, head)
        ).values_list("number", "content")
    )
    if base in contents_by_number and base != head:
        details["diff"] = comparing.unified(contents_by_number[base], contents_by_number[head])
    return Conflict(current=head, details=details)


def _newest(artifact_id: UUID, head: int) -> dict[str, Any]:
    newest = ArtifactVersion.objects.defer("content").get(artifact_id=artifact_id, number=head)
    return {"current": head, "tag": newest.tag, "diff": ""}


def _earlier(run: RunWrite | None, content: str) -> ArtifactVersion | None:
    """What the call has written before. Proving the fence lets the calls of a run in one by one."""
    if run is None:
        return None
    claims.prove(run.run_id, run.fence)
    earlier = (
        ArtifactVersion.objects.filter(run_id=run.run_id, call_id=run.call_id)
        .select_related("artifact")
        .first()
    )
    if earlier is not None and earlier.digest != digest_of(content):
        raise Refusal(Reason.CALL_ID_REUSED, "This call has written something else before.")
    return earlier


def _locked(actor: Actor, artifact_id: UUID) -> Artifact:
    artifact: Artifact | None = (
        Artifact.objects.editable_by(actor)
        .filter(id=artifact_id)
        .select_for_update(of=("self",), no_key=True)
        .first()
    )
    if artifact is None:
        raise _unreachable(actor, artifact_id, READ_ONLY)
    return artifact


def _editable(actor: Actor, artifact_id: UUID) -> Artifact:
    """An artifact the actor may write, not held; raises as `update`."""
    artifact: Artifact | None = Artifact.objects.editable_by(actor).filter(id=artifact_id).first()
    if artifact is None:
        raise _unreachable(actor, artifact_id, READ_ONLY)
    return artifact


def _unreachable(actor: Actor, artifact_id: UUID, words: str) -> Refusal:
    """Why an artifact cannot be changed: seen and not allowed, or not there."""
    if Artifact.objects.visible_to(actor).filter(id=artifact_id).exists():
        return Refusal(Reason.FORBIDDEN, words)
    return NotFound()


def _author(actor: Actor, run: RunWrite | None) -> str:
    return f"member:{actor.pk}" if run is None else run.principal


def _append(
    artifact: Artifact,
    number: int,
    content: str,
    language: str,
    author: str,
    run: RunWrite | None,
) -> ArtifactVersion:
    version = ArtifactVersion.objects.create(
        id=uuid4(),
        artifact=artifact,
        number=number,
        content=content,
        language=language,
        digest=digest_of(content),
        author_principal=author,
        run_id=run.run_id if run else None,
        call_id=run.call_id if run else "",
    )
    funnel.record(
        action=Action.ARTIFACT_CREATED if number == 1 else Action.ARTIFACT_UPDATED,
        actor=author,
        outcome=Outcome.SUCCESS,
        subject=("artifact", str(artifact.id)),
        run_id=run.run_id if run else None,
        details={"version": number, "digest": version.digest, "kind": artifact.kind},
    )
    return version
