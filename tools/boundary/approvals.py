"""A person's decision on one exact staged call: asked, given, taken back, used once.

Every change of state is one conditional statement on the database clock, under the lock of the
run's claim, so that of two that come together exactly one wins. Whoever changes something is
given the changed rows through `tell` in the same transaction, before its audit rows, to write the
frames people see; nothing here knows the journal.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, Protocol
from uuid import UUID

import orjson
from django.db import connection, transaction

from audit import canonical, funnel
from audit.funnel import Record
from audit.limits import limit
from audit.reasons import Action, Outcome, Reason
from audit.refusals import Conflict, NotFound
from tools.boundary.contract import Json, RunIdentity, Target
from tools.boundary.models import Approval, ApprovalState
from tools.boundary.querysets import Asked
from tools.effects import claims

LIFETIME_MINUTES = limit(
    "approval.lifetime", 15, "minutes", "Time in which a call can be approved, and then be made."
)
REASON_CHARACTERS = limit(
    "approval.reason", 500, "characters", "Length of what a member writes with a decision."
)
SWEPT_AT_ONCE: Final = 200  # expired questions one sweep settles; the next tick takes the rest

Decision = Literal["approve", "deny"]
Tell = Callable[[Sequence[Approval]], None]

DECIDED: Final[dict[Decision, ApprovalState]] = {
    "approve": ApprovalState.APPROVED,
    "deny": ApprovalState.DENIED,
}
# What a decided row says to people; a call that was made had been approved.
OUTCOMES: Final[dict[ApprovalState, str]] = {
    ApprovalState.APPROVED: "approved",
    ApprovalState.CONSUMED: "approved",
    ApprovalState.DENIED: "denied",
    ApprovalState.EXPIRED: "expired",
    ApprovalState.WITHDRAWN: "withdrawn",
    ApprovalState.SUPERSEDED: "superseded",
}
# How the audit names each end.
AUDITED: Final[dict[ApprovalState, tuple[Outcome, Reason | None]]] = {
    ApprovalState.APPROVED: (Outcome.SUCCESS, None),
    ApprovalState.DENIED: (Outcome.DENIED, Reason.MEMBER_DENIED),
    ApprovalState.EXPIRED: (Outcome.DENIED, Reason.APPROVAL_EXPIRED),
    ApprovalState.WITHDRAWN: (Outcome.CANCELLED, Reason.MEMBER_DENIED),
    ApprovalState.SUPERSEDED: (Outcome.CANCELLED, Reason.BATCH_STOPPED),
    ApprovalState.ANSWERED: (Outcome.SUCCESS, None),
}
COLUMNS: Final = ", ".join(str(field.column) for field in Approval._meta.concrete_fields)


class Person(Asked, Protocol):
    """Who decides, with the name the audit knows them by."""

    @property
    def principal(self) -> str: ...


@dataclass(frozen=True)
class Staging:
    """What is kept of a call that has to be asked about, besides whose run it is."""

    approval_id: UUID
    input_id: UUID
    call_id: str
    tool: str
    label: str
    effect: str
    target: str
    arguments: Json
    digest: str


def digest_of(identity: RunIdentity, tool: str, arguments: Json, target: Target | None) -> str:
    """What an approval is bound to: tool, canonical arguments, target version, agent version and
    member. One byte more or less gives another digest.
    """
    return canonical.digest(
        {
            "tool": tool,
            "arguments": arguments,
            "target": None if target is None else target.version,
            "agent": str(identity.agent_id),
            "agent_version": identity.agent_version,
            "member": identity.member_id,
        }
    )


def stage(identity: RunIdentity, staging: Staging) -> Approval:
    """Keep a call for its member to decide, in the transaction that gives the run up.

    A call of a run that nobody watches is kept unasked: it does not expire, and nobody can approve
    it before its member has answered. Then it comes here again, and is asked about.
    """
    is_asked = identity.watched or _is_answered(identity.run_id, staging.call_id)
    state = ApprovalState.PENDING if is_asked else ApprovalState.UNASKED
    (row,) = _changed(
        f"""
        INSERT INTO boundary_approval
               (id, run_id, input_id, call_id, conversation_id, member_id, agent_id, agent_version,
                tool, label, effect, target, arguments, digest, state, reason, expires_at)
        VALUES (%s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s, %s::jsonb, %s, %s, '',
                CASE WHEN %s THEN clock_timestamp() + make_interval(mins => %s) END)
        RETURNING {COLUMNS}
        """,
        [
            *(staging.approval_id, identity.run_id, staging.input_id, staging.call_id),
            *(identity.conversation_id, identity.member_id, identity.agent_id),
            *(identity.agent_version, staging.tool, staging.label, staging.effect),
            *(staging.target, canonical.dump(staging.arguments), staging.digest, str(state)),
            *(is_asked, LIFETIME_MINUTES),
        ],
    )
    return row


def of_call(run_id: UUID, call_id: str) -> Approval | None:
    """What was asked about a call and is not stale by an answer; for the worker that holds it."""
    rows = Approval.objects.filter(run_id=run_id, call_id=call_id)
    return rows.exclude(state=ApprovalState.ANSWERED).first()


def consume(approval: Approval, *, fence: int, digest: str) -> Reason | None:
    """Use an approval for the call that runs now, or say why it cannot be used.

    In a transaction that has proved the fence. Succeeds at most once for a row.
    """
    used = _changed(
        f"""
        UPDATE boundary_approval SET state = 'consumed', fence = %s
         WHERE id = %s AND state = 'approved' AND digest = %s AND expires_at > clock_timestamp()
        RETURNING {COLUMNS}
        """,
        [fence, approval.id, digest],
    )
    if used:
        return None
    if approval.digest != digest:
        return Reason.APPROVAL_MISMATCH
    return Reason.APPROVAL_EXPIRED if approval.state == "approved" else Reason.APPROVAL_SETTLED


def decide(
    *, member: Person, approval_id: UUID, decision: Decision, digest: str, reason: str, tell: Tell
) -> Approval:
    """Record what the member decided about the exact call that `digest` stands for.

    The same decision again answers with the same row. The run goes on once nothing more is asked;
    a denial settles the run's other questions. Raises `NotFound` unless the member is the one who
    is asked, `Conflict` with `APPROVAL_MISMATCH` for another digest, `APPROVAL_EXPIRED`, or
    `APPROVAL_SETTLED` when it was decided otherwise.
    """
    with transaction.atomic():
        row, is_open = _held(member, approval_id)
        if row.digest != digest:
            raise Conflict(Reason.APPROVAL_MISMATCH, "This is not the call you were shown.")
        wanted = DECIDED[decision]
        if OUTCOMES.get(ApprovalState(row.state)) == OUTCOMES[wanted]:
            return row
        settled = is_open and _changed(
            f"""
            UPDATE boundary_approval
               SET state = %s, reason = %s, decided_at = clock_timestamp()
             WHERE id = %s AND state = 'pending' AND digest = %s
               AND expires_at > clock_timestamp()
            RETURNING {COLUMNS}
            """,
            [str(wanted), reason, row.id, digest],
        )
        if not settled:
            raise _too_late(row)
        _settle(settled, actor=member.principal, tell=tell, ends=decision == "deny")
        return settled[0]


def withdraw(*, member: Person, approval_id: UUID, tell: Tell) -> Approval:
    """Take a question back before it is decided; its call settles as denied by the member.

    Repeating it answers the same. Raises `NotFound`, or `Conflict` with `APPROVAL_EXPIRED` or
    `APPROVAL_SETTLED` when it was decided: an approved call is taken back by stopping the run.
    """
    with transaction.atomic():
        row, is_open = _held(member, approval_id)
        if row.state == ApprovalState.WITHDRAWN:
            return row
        settled = is_open and _changed(
            f"""
            UPDATE boundary_approval SET state = 'withdrawn', decided_at = clock_timestamp()
             WHERE id = %s AND state IN ('unasked', 'pending')
               AND (expires_at IS NULL OR expires_at > clock_timestamp())
            RETURNING {COLUMNS}
            """,
            [row.id],
        )
        if not settled:
            raise _too_late(row)
        _settle(settled, actor=member.principal, tell=tell, ends=True)
        return settled[0]


def answer(*, member: Person, approval_id: UUID, tell: Tell) -> None:
    """The member has come to a run nobody watched: its call is staged anew, to be decided.

    A repeat changes nothing. Raises `NotFound`, or `Conflict(APPROVAL_SETTLED)` for a call that
    was decided or is being asked about.
    """
    with transaction.atomic():
        row, is_open = _held(member, approval_id)
        if row.state == ApprovalState.ANSWERED:
            return
        settled = is_open and _changed(
            f"""
            UPDATE boundary_approval SET state = 'answered', decided_at = clock_timestamp()
             WHERE id = %s AND state = 'unasked'
            RETURNING {COLUMNS}
            """,
            [row.id],
        )
        if not settled:
            raise _too_late(row)
        _settle(settled, actor=member.principal, tell=tell, ends=False)


def supersede(run_ids: Sequence[UUID], *, actor: str, tell: Tell) -> list[Approval]:
    """Settle every open question of runs that are ending, whose claims the caller holds."""
    settled = _changed(
        f"""
        UPDATE boundary_approval SET state = 'superseded', decided_at = clock_timestamp()
         WHERE run_id = ANY(%s) AND state IN ('unasked', 'pending', 'approved')
        RETURNING {COLUMNS}
        """,
        [list(run_ids)],
    )
    if settled:
        tell(settled)
        _record(settled, actor)
    return settled


def drop(run_id: UUID, call_id: str) -> None:
    """A call was settled without its approval: nobody can use or give that any more."""
    with connection.cursor() as cursor:
        cursor.execute(
            "UPDATE boundary_approval SET state = 'superseded', decided_at = clock_timestamp()"
            " WHERE run_id = %s AND call_id = %s AND state IN ('unasked', 'pending', 'approved')",
            [run_id, call_id],
        )


def expire(*, tell: Tell) -> list[UUID]:
    """Settle questions whose time is over and let their runs go on; returns the runs.

    One transaction a run, so that one that cannot be settled holds nobody up.
    """
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT DISTINCT run_id FROM boundary_approval"
            " WHERE state = 'pending' AND expires_at <= clock_timestamp() LIMIT %s",
            [SWEPT_AT_ONCE],
        )
        due = [run_id for (run_id,) in cursor.fetchall()]
    return [run_id for run_id in due if _expired(run_id, tell)]


def _is_answered(run_id: UUID, call_id: str) -> bool:
    rows = Approval.objects.filter(run_id=run_id, call_id=call_id)
    return rows.filter(state=ApprovalState.ANSWERED).exists()


def _expired(run_id: UUID, tell: Tell) -> bool:
    with transaction.atomic():
        claims.lock(run_id)
        settled = _changed(
            f"""
            UPDATE boundary_approval SET state = 'expired', decided_at = clock_timestamp()
             WHERE run_id = %s AND state = 'pending' AND expires_at <= clock_timestamp()
            RETURNING {COLUMNS}
            """,
            [run_id],
        )
        if settled:
            _settle(settled, actor="system:approvals", tell=tell, ends=True)
        return bool(settled)


def _held(member: Person, approval_id: UUID) -> tuple[Approval, bool]:
    """The member's approval as it is under the lock of its run, and whether that is open."""
    visible = Approval.objects.visible_to(member).filter(id=approval_id)
    found = visible.first()
    if found is None:
        raise NotFound()
    is_open = claims.lock(found.run_id)
    return visible.get(), is_open


def _settle(settled: list[Approval], *, actor: str, tell: Tell, ends: bool) -> None:
    """Tell, wake and record. With `ends` the run will not go on to its other calls."""
    run_id = settled[0].run_id
    others: list[Approval] = []
    if ends:
        others = _changed(
            f"""
            UPDATE boundary_approval SET state = 'superseded', decided_at = clock_timestamp()
             WHERE run_id = %s AND state IN ('unasked', 'pending') RETURNING {COLUMNS}
            """,
            [run_id],
        )
    if not Approval.objects.filter(run_id=run_id, state__in=("unasked", "pending")).exists():
        claims.wake(run_id)
    tell([*settled, *others])
    _record([*settled, *others], actor)


def _record(settled: Sequence[Approval], actor: str) -> None:
    records = []
    for row in settled:
        outcome, reason = AUDITED[ApprovalState(row.state)]
        records.append(
            Record(
                Action.APPROVAL_SETTLED,
                actor,
                outcome,
                reason,
                ("approval", str(row.id)),
                row.run_id,
                {"tool": row.tool, "call_id": row.call_id, "call_digest": row.digest},
            )
        )
    funnel.record_all(records)


def record_requested(rows: Sequence[Approval]) -> None:
    """The audit rows of calls that were staged, in the transaction that staged them."""
    funnel.record_all(
        [
            Record(
                Action.APPROVAL_REQUESTED,
                f"agent:{row.agent_id}",
                Outcome.PENDING_CONFIRMATION,
                None,
                ("approval", str(row.id)),
                row.run_id,
                {
                    "tool": row.tool,
                    "tier": row.effect,
                    "call_id": row.call_id,
                    "call_digest": row.digest,
                    "member_id": row.member_id,
                    "agent_version": row.agent_version,
                },
            )
            for row in rows
        ]
    )


def _too_late(row: Approval) -> Conflict:
    if row.state in ("pending", "expired"):
        return Conflict(Reason.APPROVAL_EXPIRED, "The time to decide this is over.")
    return Conflict(Reason.APPROVAL_SETTLED, "This was settled before.")


def _changed(statement: str, values: list[Any]) -> list[Approval]:
    """The rows a statement returned, as it left them."""
    names = [field.attname for field in Approval._meta.concrete_fields]
    arguments = names.index("arguments")
    with connection.cursor() as cursor:
        cursor.execute(statement, values)
        rows = [list(row) for row in cursor.fetchall()]
    for row in rows:
        if isinstance(row[arguments], str):
            row[arguments] = orjson.loads(row[arguments])
    return [Approval.from_db("default", names, row) for row in rows]
