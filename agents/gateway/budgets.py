"""Budgets: reserved before a call, settled when its outcome is committed. Database clock only.

Whoever reserves locks the rows of all budgets that count for the person, in the order of their
ids, and changes them in one conditional UPDATE: all of them or none. So a limit is kept to the
last token however many workers ask at once.
"""

import time
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.core.exceptions import ValidationError
from django.db import connection, transaction

from agents.gateway.models import Budget
from agents.members.models import Member
from audit import funnel
from audit.limits import limit
from audit.reasons import Action, Outcome, Reason
from audit.refusals import FieldProblem, Invalid, RateLimited
from tools.effects import claims

HOLD_S = limit(
    "budget.hold", 45, "seconds", "How long a reservation outlives a call that nobody renews."
)
# How old this process's knowledge may be that no budget exists at all. Only the door believes
# it; before a call is made, the database is asked.
NONE_FRESH_S: Final = 5.0

_MINE: Final = f"""
    enabled AND (member_id = %(member)s OR group_id IN
        (SELECT group_id FROM {Member.groups.through._meta.db_table} WHERE member_id = %(member)s))
"""
_NOW: Final = "clock_timestamp() AT TIME ZONE 'UTC'"
_STARTS: Final = f"date_trunc(period, {_NOW})::date"
_RENEWS_IN_S: Final = (
    f"ceil(extract(epoch FROM date_trunc(period, {_NOW}) + ('1 ' || period)::interval - {_NOW}))"
)
_USED: Final = f"CASE WHEN period_start = {_STARTS} THEN used ELSE 0 END"
_HELD: Final = f"CASE WHEN period_start = {_STARTS} THEN held ELSE 0 END"
_WANTED: Final = "CASE unit WHEN 'tokens' THEN %(tokens)s ELSE %(money)s END"

# Locked in this order by everybody who changes several, so nobody waits in a circle.
LOCK: Final = f"""
SELECT period, {_WANTED} > amount - ({_USED}) - ({_HELD}), ({_RENEWS_IN_S})::bigint
  FROM gateway_budget WHERE {_MINE} ORDER BY id FOR UPDATE
"""
RESERVE: Final = f"""
WITH reserved AS (
    UPDATE gateway_budget
       SET period_start = {_STARTS}, used = {_USED}, held = ({_HELD}) + {_WANTED}
     WHERE {_MINE}
       AND NOT EXISTS (SELECT 1 FROM gateway_budget
                        WHERE {_MINE} AND {_WANTED} > amount - ({_USED}) - ({_HELD}))
       AND (%(fence)s::bigint IS NULL OR EXISTS (
           SELECT 1 FROM effects_runclaim WHERE run_id = %(holder)s AND fence = %(fence)s
              AND settled_at IS NULL))
    RETURNING id, unit, period_start)
INSERT INTO gateway_budgethold
       (budget_id, holder_id, fence, amount, certain, period_start, expires_at)
SELECT id, %(holder)s, %(fence)s, {_WANTED},
       CASE unit WHEN 'tokens' THEN %(certain_tokens)s ELSE %(certain_money)s END,
       period_start, clock_timestamp() + make_interval(secs => %(hold_s)s)
  FROM reserved
"""
LOCK_TO_SETTLE: Final = f"""
SELECT 1 FROM gateway_budget
 WHERE ({_MINE}) OR id IN (SELECT budget_id FROM gateway_budgethold WHERE holder_id = %(holder)s)
 ORDER BY id FOR UPDATE
"""
# What was used counts towards every budget of the person, also one that was made meanwhile.
SETTLE: Final = f"""
WITH ended AS (
    DELETE FROM gateway_budgethold
     WHERE holder_id = %(holder)s AND fence IS NOT DISTINCT FROM %(fence)s
    RETURNING budget_id, amount, certain, period_start),
given_back AS (
    SELECT budget_id, period_start, sum(amount) AS amount, sum(certain) AS certain
      FROM ended GROUP BY budget_id, period_start)
UPDATE gateway_budget AS budget
   SET period_start = {_STARTS},
       held = ({_HELD}) - COALESCE((SELECT sum(amount) FROM given_back
           WHERE budget_id = budget.id
             AND given_back.period_start = budget.period_start
             AND given_back.period_start = {_STARTS}), 0),
       used = ({_USED}) + CASE WHEN %(is_known)s THEN {_WANTED}
           ELSE COALESCE((SELECT sum(certain) FROM given_back WHERE budget_id = budget.id), 0) END
 WHERE ({_MINE}) OR id IN (SELECT budget_id FROM given_back)
"""
RELEASE: Final = """
WITH orphaned AS (
    SELECT hold.id FROM gateway_budgethold AS hold
      LEFT JOIN effects_runclaim AS claim ON claim.run_id = hold.holder_id
     WHERE CASE WHEN hold.fence IS NULL THEN hold.expires_at < clock_timestamp()
           ELSE claim.fence IS DISTINCT FROM hold.fence OR claim.settled_at IS NOT NULL
                OR claim.lease_until IS NULL OR claim.lease_until < clock_timestamp() END),
budgets AS (
    SELECT id FROM gateway_budget
     WHERE id IN (SELECT budget_id FROM gateway_budgethold WHERE id IN (SELECT id FROM orphaned))
     ORDER BY id FOR UPDATE)
SELECT (SELECT array_agg(id) FROM orphaned), (SELECT count(*) FROM budgets)
"""
GIVE_BACK: Final = """
WITH ended AS (
    DELETE FROM gateway_budgethold WHERE id = ANY(%s) RETURNING budget_id, amount, period_start),
given_back AS (
    SELECT budget_id, period_start, sum(amount) AS amount, count(*) AS holds
      FROM ended GROUP BY budget_id, period_start),
changed AS (
    UPDATE gateway_budget AS budget SET held = held - given_back.amount FROM given_back
     WHERE budget.id = given_back.budget_id AND budget.period_start = given_back.period_start)
SELECT COALESCE(sum(holds), 0) FROM given_back
"""
SPENT: Final = f"""
SELECT period, ({_RENEWS_IN_S})::bigint FROM gateway_budget
 WHERE {_MINE} AND {_USED} >= amount ORDER BY 2 DESC LIMIT 1
"""
TIGHTEST: Final = f"""
SELECT period, ({_RENEWS_IN_S})::bigint FROM gateway_budget
 WHERE {_MINE} ORDER BY (amount - ({_USED}) - ({_HELD}))::float / GREATEST(amount, 1) LIMIT 1
"""
RENEW_HOLD: Final = """
UPDATE gateway_budgethold SET expires_at = clock_timestamp() + make_interval(secs => %s)
 WHERE holder_id = %s AND fence IS NULL
"""


@dataclass(frozen=True, slots=True)
class Amount:
    """What a call may use at most, or has used. `money` is in millionths of the unit of money."""

    tokens: int
    money: int


@dataclass(frozen=True, slots=True)
class Exhausted:
    """A budget that has no room left. `renews_in_s` is in whole seconds, at least 1."""

    period: str  # a `Period`
    renews_in_s: int

    @property
    def message(self) -> str:
        """What a person reads."""
        return f"Your budget for models is used up. It renews in {self._wait()}."

    def _wait(self) -> str:
        hours = self.renews_in_s / 3_600
        if hours < 1:
            return f"{max(1, round(self.renews_in_s / 60))} minutes"
        return f"{round(hours)} hours" if hours < 48 else f"{round(hours / 24)} days"


def reserve(
    member_id: int, *, holder_id: UUID, fence: int | None, most: Amount, certain: Amount
) -> Exhausted | None:
    """Hold `most` of every budget of the person, or of none and say which has no room left.

    A hold belongs to the run with this fence, or to a call outside any run when `fence` is None;
    then it has to be renewed (`renew`). `certain` is what is owed even if the outcome of the
    call is never learnt. A person without budgets may use what they like. Raises `LeaseLost` when
    the run is worked elsewhere by now.
    """
    values: dict[str, Any] = {
        "member": member_id,
        "holder": holder_id,
        "fence": fence,
        "tokens": most.tokens,
        "money": most.money,
        "certain_tokens": certain.tokens,
        "certain_money": certain.money,
        "hold_s": int(HOLD_S),
    }
    while True:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute(LOCK, values)
            budgets = cursor.fetchall()
            full = [Exhausted(period, max(1, wait)) for period, is_full, wait in budgets if is_full]
            if full:
                return max(full, key=lambda budget: budget.renews_in_s)
            if not budgets:
                return None
            cursor.execute(RESERVE, values)
            if cursor.rowcount > 0:
                return None
        if fence is not None:
            claims.prove(holder_id, fence)
        # A budget without room was made between the two statements: look again.


def settle(member_id: int, *, holder_id: UUID, fence: int | None, used: Amount | None) -> None:
    """End the holds of a run or call and count what was used, in the caller's transaction.

    `used` None means that nobody learnt it: then what was certain counts. Safe to repeat only
    with nothing used.
    """
    values: dict[str, Any] = {
        "member": member_id,
        "holder": holder_id,
        "fence": fence,
        "is_known": used is not None,
        "tokens": used.tokens if used else 0,
        "money": used.money if used else 0,
    }
    with transaction.atomic(savepoint=False), connection.cursor() as cursor:
        cursor.execute(LOCK_TO_SETTLE, values)
        cursor.execute(SETTLE, values)


def renew(holder_id: UUID) -> None:
    """Keep the holds of a call outside any run for another `HOLD_S` seconds."""
    with connection.cursor() as cursor:
        cursor.execute(RENEW_HOLD, [int(HOLD_S), holder_id])


def release_orphans() -> int:
    """Give back what is held for runs and calls that nobody works any more; how many holds.

    A run's worker is dead when its lease has run out or another one holds a newer fence.
    """
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(RELEASE)
        orphaned, _ = cursor.fetchone()
        if not orphaned:
            return 0
        cursor.execute(GIVE_BACK, [orphaned])
        (count,) = cursor.fetchone()
    return int(count)


def exhausted(member_id: int) -> Exhausted | None:
    """The budget of the person that is used up and renews last, None when all have room."""
    return _one(SPENT, member_id)


def tightest(member_id: int) -> Exhausted | None:
    """The budget of the person with the least room, None without budgets."""
    return _one(TIGHTEST, member_id)


def _one(question: str, member_id: int) -> Exhausted | None:
    with connection.cursor() as cursor:
        cursor.execute(question, {"member": member_id})
        row = cursor.fetchone()
    return Exhausted(row[0], max(1, row[1])) if row else None


def check_at_the_door(member_id: int) -> None:
    """Raise `RateLimited(BUDGET_EXHAUSTED)` when a budget of the person is used up already.

    Where no budget exists at all this costs a question every `NONE_FRESH_S` seconds, not one for
    each message.
    """
    if not _some.exist():
        return
    spent = exhausted(member_id)
    if spent is not None:
        raise RateLimited(
            spent.message, retry_after_s=spent.renews_in_s, reason=Reason.BUDGET_EXHAUSTED
        )


class _Existence:
    """Whether there are budgets, as this process knows."""

    def __init__(self) -> None:
        self._none_until = 0.0

    def exist(self) -> bool:
        now = time.monotonic()
        if now < self._none_until:
            return False
        found = bool(Budget.objects.enabled().exists())
        self._none_until = 0.0 if found else now + NONE_FRESH_S
        return found

    def forget(self) -> None:
        self._none_until = 0.0


_some = _Existence()


@transaction.atomic
def save(*, actor: str, budget: Budget) -> None:
    """Store a new budget, or another amount of one, or whether it is kept; with an audit row.

    What is used and held stays as it is. Raises `Invalid` for values the model does not allow.
    """
    try:
        budget.full_clean()
    except ValidationError as error:
        raise Invalid(_problems(error)) from error
    is_new = budget.pk is None
    if is_new:
        budget.save()
    else:
        budget.save(update_fields=["amount", "enabled"])
    funnel.record(
        action=Action.BUDGET_CREATED if is_new else Action.BUDGET_CHANGED,
        actor=actor,
        outcome=Outcome.SUCCESS,
        subject=("budget", str(budget.pk)),
        details={
            "of": f"member:{budget.member_id}" if budget.member_id else f"group:{budget.group_id}",
            "unit": budget.unit,
            "period": budget.period,
            "amount": budget.amount,
            "enabled": budget.enabled,
        },
    )
    _some.forget()


def _problems(error: ValidationError) -> list[FieldProblem]:
    fields = error.message_dict if hasattr(error, "error_dict") else {"budget": []}
    return [{"field": name, "reason": str(Reason.INVALID_FIELD)} for name in fields]


def mine(member: Member) -> list[dict[str, Any]]:
    """The person's budgets with what of each is used in its present period."""
    columns = ["unit", "period", "amount", "used", "is_shared", "renews_in_s"]
    with connection.cursor() as cursor:
        cursor.execute(
            f"SELECT unit, period, amount, {_USED}, group_id IS NOT NULL, ({_RENEWS_IN_S})::bigint"
            f" FROM gateway_budget WHERE {_MINE} ORDER BY id",
            {"member": member.pk},
        )
        return [dict(zip(columns, row, strict=True)) for row in cursor.fetchall()]
