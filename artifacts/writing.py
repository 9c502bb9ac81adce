"""The one writer of artifacts, for people and for runs. Nothing else makes a version."""

import hashlib
from dataclasses import dataclass
from uuid import UUID, uuid4

from django.db import transaction
from django.db.models.functions import Now

from artifacts.kinds import content as contents
from artifacts.models import Artifact, ArtifactVersion
from artifacts.querysets import Actor
from audit import funnel
from audit.reasons import Action, Outcome, Reason
from audit.refusals import Conflict, Invalid, NotFound, Refusal
from tools.effects import claims


@dataclass(frozen=True)
class Draft:
    """What is to be kept. `language` is for code alone."""

    title: str
    kind: str
    content: str
    language: str = ""


@dataclass(frozen=True)
class RunWrite:
    """The call of a run that writes. `fence` proves that the run still belongs to its worker."""

    run_id: UUID
    fence: int
    call_id: str
    principal: str


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
    title = " ".join(draft.title.split())
    if not 0 < len(title) <= contents.TITLE_CHARACTERS:
        reason = Reason.TOO_LONG if title else Reason.MISSING_FIELD
        raise Invalid([{"field": "title", "reason": str(reason)}])
    contents.check(kind=draft.kind, content=draft.content, language=draft.language)
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

    Raises `Conflict` with the current version when `expected_version` is no longer the newest,
    `NotFound` for an artifact the actor cannot see, `Refusal(FORBIDDEN)` for one they may only
    read, and otherwise as `create`.
    """
    with transaction.atomic():
        earlier = _earlier(run, content)
        if earlier is not None:
            return earlier
        artifact = _locked(actor, artifact_id)
        if artifact.head != expected_version:
            raise Conflict(current=artifact.head)
        if language is None:
            newest = ArtifactVersion.objects.only("language").get(
                artifact=artifact, number=artifact.head
            )
            language = newest.language
        contents.check(kind=artifact.kind, content=content, language=language)
        number = artifact.head + 1
        Artifact.objects.filter(id=artifact.id).update(head=number, updated_at=Now())
        artifact.head = number
        return _append(artifact, number, content, language, _author(actor, run), run)


def digest_of(content: str) -> str:
    """`sha256:` and the hexadecimal digest of the UTF-8 bytes, as a download has them."""
    return f"sha256:{hashlib.sha256(content.encode()).hexdigest()}"


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
    if artifact is not None:
        return artifact
    if Artifact.objects.visible_to(actor).filter(id=artifact_id).exists():
        raise Refusal(Reason.FORBIDDEN, "This artifact is shared for reading only.")
    raise NotFound()


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
