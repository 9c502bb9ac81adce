"""Keeps the envelopes that trusted results declare: normalised, attested, then written as always.

The only place that attests. All outputs of a call are written in one transaction, each counted.
"""

import logging
from typing import Final

from django.contrib.auth import get_user_model
from django.db import transaction

from artifacts import writing
from artifacts.kinds.content import TITLE_CHARACTERS, Kind
from artifacts.models import ArtifactVersion
from artifacts.querysets import Actor
from artifacts.renderable import attestation, envelope
from artifacts.renderable.attestation import Attestation
from audit.limits import limit
from audit.refusals import Refusal
from tools.boundary.contract import ArtifactOutput, KeptOutputs, Presentation, RunIdentity
from tools.boundary.redaction import kept_values, readable

OUTPUTS = limit(
    "renderable.outputs", 4, "count", "Artifacts of one tool call's result that are kept."
)
ENDING: Final = ".json"

logger = logging.getLogger(__name__)


def keep(identity: RunIdentity, call_id: str, outputs: tuple[ArtifactOutput, ...]) -> KeptOutputs:
    """Write the first four declared outputs, each under the member of the run.

    What is not fit, not allowed or past the fourth counts as failed. The same call again gets
    what it wrote. Raises `LeaseLost`, and faults of the database, after which nothing is written.
    """
    member = get_user_model().objects.filter(pk=identity.member_id, is_active=True).first()
    if member is None:
        return KeptOutputs((), len(outputs))
    saved = []
    with transaction.atomic():
        for number, output in enumerate(outputs[:OUTPUTS], 1):
            try:
                version = _written(member, identity, f"{call_id}/output/{number}", output)
            except Refusal as refusal:  # nothing of it is written; the others are not affected
                # Its words come from contracts and rights, never from what was declared.
                logger.warning("output %d of call %s not kept: %s", number, call_id, refusal)
                continue
            saved.append(_frame(version))
    return KeptOutputs(tuple(saved), len(outputs) - len(saved))


def _written(
    member: Actor, identity: RunIdentity, write_id: str, output: ArtifactOutput
) -> ArtifactVersion:
    accepted = envelope.normalise(output.envelope, secrets=kept_values())
    run = writing.RunWrite(
        run_id=identity.run_id,
        fence=identity.fence,
        call_id=write_id,
        principal=f"agent:{identity.agent_id}",
        attestation=Attestation.of(identity.run_id, write_id, accepted),
    )
    if output.revises is not None:
        return writing.update(
            actor=member,
            artifact_id=output.revises.artifact_id,
            content=accepted.text,
            expected_version=output.revises.expected_version,
            language=attestation.LANGUAGE,
            run=run,
        )
    title = readable(output.title).strip() or envelope.filename(accepted.text).removesuffix(ENDING)
    return writing.create(
        actor=member,
        draft=writing.Draft(
            title=title[:TITLE_CHARACTERS],
            kind=Kind.RENDERABLE,
            content=accepted.text,
            language=attestation.LANGUAGE,
        ),
        conversation_id=identity.conversation_id,
        run=run,
    )


def _frame(version: ArtifactVersion) -> Presentation:
    root = version.artifact
    return Presentation(
        "artifact_saved",
        {
            "artifact_id": str(root.id),
            "version": version.number,
            "title": root.title,
            "kind": root.kind,
        },
    )
