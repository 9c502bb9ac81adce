"""Taking a run: claim, authority, snapshot and start in one transaction.

A run that another worker began is taken up where its journal ends.
"""

import logging
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import InterfaceError, OperationalError, transaction

from agents.conversations import inputs
from agents.conversations.inputs import Claimed
from agents.conversations.models import InputKind, InputStatus
from agents.definitions.models import AgentVersion
from agents.engine import required
from agents.engine.controllers.host import HOST_PROTOCOL
from agents.engine.controllers.tomo import Tomo
from agents.gateway import deployments
from agents.gateway.calls import CallSubject
from agents.gateway.connection import USUAL, Connection, Lifecycle
from agents.gateway.models import Deployment
from agents.journal import append as journal
from agents.journal.append import Draft
from agents.journal.frames import Kind
from agents.journal.prepared import Insertion, together
from agents.prompts.settings_projection import Settings
from agents.turns import projecting, recovery
from agents.turns.models import Turn
from agents.turns.recovery import Past
from agents.turns.transcript import History, Transcripts
from agents.turns.window import budget_characters
from audit import funnel
from audit.reasons import Action, Reason
from audit.refusals import Refusal
from tools.boundary import exposure
from tools.boundary.contract import RunIdentity, Tier, ToolDescriptor
from tools.effects import claims
from tools.effects.claims import MAX_ATTEMPTS, Claim

STARTED = Insertion(Turn)

log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Admitted:
    """A claimed run with everything frozen that its turn needs.

    `refused` is set when the turn can only be ended; then `connection` is None. `opening` is the
    history for the first model step, where it has been read already. `offered` is the run's whole
    catalogue, of which every step is offered a part; `discoveries` how many searches for tools the
    agent asks for, None where it says nothing.
    """

    claim: Claim
    identity: RunIdentity
    input_id: UUID
    accepted_at: datetime
    member_principal: str
    member_name: str
    time_zone: str
    persona: str
    version_digest: str
    connection: Connection | None
    history_characters: int
    offered: dict[str, ToolDescriptor]
    past: Past = field(default_factory=Past)
    lifecycle: Lifecycle = USUAL
    refused: Reason | None = None
    opening: History | None = None
    kind: str = InputKind.MESSAGE
    message: str = ""
    settings: Settings | None = None
    discoveries: int | None = None

    @property
    def call_subject(self) -> CallSubject:
        """For whom the turn's model calls are made."""
        return CallSubject(
            member_id=self.identity.member_id,
            agent_id=self.identity.agent_id,
            conversation_id=self.identity.conversation_id,
            run_id=self.claim.run_id,
            fence=self.claim.fence,
        )

    def history(self, transcripts: Transcripts) -> History:
        """What the model sees of the conversation now."""
        return transcripts.history(
            self.identity.conversation_id,
            self.claim.run_id,
            budget_characters=self.history_characters,
        )


def take(owner: str, *, lease_s: float, transcripts: Transcripts) -> Admitted | None:
    """Claim the oldest run that nobody works and start or take up its turn; None when idle.

    The history for its first model step is read along.

    A fault while starting leaves the claim in place, so that the attempt counts and the run
    cannot loop for ever.
    """
    taken: list[Claim] = []
    try:
        with transaction.atomic(), together():
            taken = claims.claim(owner, limit=1, lease_s=lease_s)
            admitted = _admit(taken[0]) if taken else None
        if admitted is None or admitted.refused is not None:
            return admitted
        return replace(admitted, opening=admitted.history(transcripts))
    except (OperationalError, InterfaceError):  # the database's trouble, not the run's
        raise
    except Exception:  # a poisoned run must not stop the others
        log.exception("run %s could not be started", taken[0].run_id if taken else None)
        for claim in taken:
            claims.postpone(claim.run_id, delay_s=lease_s)
        return None


def _admit(claim: Claim) -> Admitted:
    asked, answering = inputs.claimed(claim.run_id)
    usual = deployments.usual()
    row, newest = asked.first(), answering.first()
    if row is None:
        raise LookupError(f"no input for run {claim.run_id}")
    turn = None if claim.is_first else _begun(claim)
    version = turn.agent_version if turn and newest else newest
    refused = _refusal(row, version, claim)
    chosen = turn.snapshot.get("settings", {}) if turn else projecting.chosen(row)
    deployment = None
    if refused is None and version is not None:
        try:
            deployment = deployments.chat_deployment(row.deployment_id, usual=usual)
            connection = deployments.connection(
                deployment, effort=projecting.effort(chosen, version)
            )
        except Refusal as error:
            refused = error.reason
    if refused is not None or version is None or deployment is None:
        return _refused(claim, row, version, refused or Reason.AGENT_UNAVAILABLE)
    if turn is None:
        offered = _offer(version, row.message, row.families_off)
        owed = required.bound(row.message, offered)
        _start(claim, row, version, deployment, offered, owed)
        past = recovery.beginning(owed)
    else:
        offered = exposure.catalogue(turn.snapshot["offered"])
        past = _taken_up(claim, row, turn.snapshot.get("required_tool", ""))
    return Admitted(
        claim=claim,
        identity=_identity(claim, row, version),
        input_id=row.id,
        accepted_at=row.created_at,
        member_principal=f"member:{row.member_id}",
        member_name=row.member_display_name or row.member_username,
        time_zone=row.time_zone,
        persona=version.content["persona"],
        version_digest=version.digest,
        connection=connection,
        lifecycle=deployments.lifecycle(deployment),
        history_characters=budget_characters(
            deployment.context_window, deployment.max_output_tokens
        ),
        offered=offered,
        past=past,
        kind=row.kind,
        message=row.message,
        settings=projecting.settings(chosen, version, deployment.model, offered),
        discoveries=version.content.get("posture", {}).get("discoveries"),
    )


def _begun(claim: Claim) -> Turn | None:
    """The turn that an earlier holder of the run had begun."""
    return Turn.objects.select_related("agent_version").filter(id=claim.run_id).first()


def _refusal(row: Claimed, version: AgentVersion | None, claim: Claim) -> Reason | None:
    """Why the turn can only be ended, read again at this instant."""
    if claim.attempts > MAX_ATTEMPTS:
        return Reason.ATTEMPTS_EXHAUSTED
    if not row.member_is_active:
        return Reason.ACCOUNT_INACTIVE
    if version is None or row.conversation_deleted_at is not None:
        return Reason.AGENT_UNAVAILABLE
    if claim.stop_requested:
        return Reason.STOPPED
    return None


def _offer(
    version: AgentVersion, message: str, families_off: Sequence[str]
) -> dict[str, ToolDescriptor]:
    content = version.content
    offered = exposure.offer(
        families=granted_families(content),
        ceiling=Tier(content["capability_ceiling"]),
        surface=content["mode"],
        message=message,
        switched_off=frozenset(families_off),
    )
    return {descriptor.name: descriptor for descriptor in offered}


def granted_families(content: dict[str, Any]) -> frozenset[str]:
    """The tool families a definition was granted."""
    return frozenset(content.get("posture", {}).get("tools", ()))


def _start(
    claim: Claim,
    row: Claimed,
    version: AgentVersion,
    deployment: Deployment,
    offered: dict[str, ToolDescriptor],
    required_tool: str,
) -> None:
    """Freeze the snapshot and journal the start; the claim was taken in this transaction."""
    STARTED.add(
        Turn(
            id=claim.run_id,
            input_id=row.id,
            conversation_id=row.conversation_id,
            member_id=row.member_id,
            agent_version_id=version.pk,
            deployment_id=deployment.id,
            snapshot={
                "agent": str(row.agent_id),
                "agent_version": version.number,
                "agent_digest": version.digest,
                "deployment": str(deployment.id),
                "model": deployment.model,
                "ceiling": version.content["capability_ceiling"],
                "offered": list(offered),
                "required_tool": required_tool,
                "settings": projecting.chosen(row),
                "controller": {"id": Tomo.id, "version": Tomo.version},
                "host_protocol": HOST_PROTOCOL,
            },
        )
    )
    inputs.set_status(row.id, InputStatus.ACTIVE)
    journal.append(
        row.conversation_id,
        [
            Draft(
                Kind.AGENT_RUN_STARTED,
                {
                    "agent": {"id": str(row.agent_id), "name": row.agent_name},
                    "version": version.number,
                    "model": deployment.model,
                },
            )
        ],
        run_id=claim.run_id,
        input_id=row.id,
    )


def _taken_up(claim: Claim, row: Claimed, required_tool: str) -> Past:
    """Say that the run goes on; live text that was never journaled is void."""
    past = recovery.rebuild(claim.run_id, claim.fence, required_tool=required_tool)
    reason = "approval_settled" if past.waited else "taken_over"
    (resumed,) = journal.append(
        row.conversation_id,
        [Draft(Kind.AGENT_RUN_RESUMED, {"reason": reason})],
        run_id=claim.run_id,
        input_id=row.id,
    )
    if not past.waited:
        funnel.record(
            action=Action.TURN_TAKEN_OVER,
            actor="system:turns",
            outcome="success",
            subject=("agent", str(row.agent_id)),
            run_id=claim.run_id,
            details={"fence": claim.fence, "attempt": claim.attempts},
        )
    return replace(past, worked_s=recovery.worked_s(past.moments, resumed.at))


def _identity(claim: Claim, row: Claimed, version: AgentVersion | None) -> RunIdentity:
    return RunIdentity(
        run_id=claim.run_id,
        fence=claim.fence,
        member_id=row.member_id,
        conversation_id=row.conversation_id,
        agent_id=row.agent_id,
        agent_version=version.number if version else 0,
    )


def _refused(claim: Claim, row: Claimed, version: AgentVersion | None, reason: Reason) -> Admitted:
    return Admitted(
        claim=claim,
        identity=_identity(claim, row, version),
        input_id=row.id,
        accepted_at=row.created_at,
        member_principal=f"member:{row.member_id}",
        member_name="",
        time_zone="UTC",
        persona="",
        version_digest=version.digest if version else "",
        connection=None,
        history_characters=0,
        offered={},
        refused=reason,
    )
