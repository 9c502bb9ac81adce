"""What a person used of models, by day, and what their budgets leave."""

from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any, Final, NamedTuple

from django.http import HttpRequest, HttpResponse
from django.utils.formats import number_format
from django.utils.translation import gettext as _
from django.views.decorators.http import require_safe

from agents.gateway import budgets
from agents.gateway.models import ModelCall, Period, Unit
from agents.members.models import Member
from agents.web.shell import page, signed_in

DAYS: Final = 31
MILLIONTHS: Final = 1_000_000
LEAST_SHOWN: Final = 100  # millionths


class Day(NamedTuple):
    """One day of UTC on which models were called."""

    day: Any
    calls: str
    failed: int
    read: str
    written: str
    cost: str
    tokens: int


class Budget(NamedTuple):
    """One budget with words for its amounts."""

    title: str
    said: str
    used: int
    amount: int
    is_shared: bool


@require_safe
@signed_in
def usage(request: HttpRequest, member: Member) -> HttpResponse:
    """The last 31 days, the newest first, and the budgets that count for the person."""
    today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
    rows = ModelCall.objects.visible_to(member).since(today - timedelta(days=DAYS - 1)).by_day()
    days = [_day(row) for row in rows]
    context = {
        "days": days,
        "most": max((day.tokens for day in days), default=0),
        "has_cost": any(day.cost for day in days),
        "budgets": [_budget(row) for row in budgets.mine(member)],
    }
    return page(request, member, "agents/usage.html", context)


def _day(row: dict[str, Any]) -> Day:
    read, written = row["sum_prompt_tokens"], row["sum_completion_tokens"]
    return Day(
        day=row["day"],
        calls=_whole(row["calls"]),
        failed=row["failed"],
        read=_whole(read),
        written=_whole(written),
        cost=_money(row["sum_cost"]) if row["sum_cost"] else "",
        tokens=read + written,
    )


def _budget(row: dict[str, Any]) -> Budget:
    said = _money if row["unit"] == Unit.MONEY else _whole
    unit = _("Money") if row["unit"] == Unit.MONEY else _("Tokens")
    period = _("each day") if row["period"] == Period.DAY else _("each month")
    return Budget(
        title=f"{unit} {period}",
        said=_("%(used)s of %(amount)s")
        % {"used": said(row["used"]), "amount": said(row["amount"])},
        used=min(row["used"], row["amount"]),
        amount=row["amount"],
        is_shared=row["is_shared"],
    )


def _whole(number: int) -> str:
    return number_format(number, force_grouping=True)


def _money(millionths: int) -> str:
    """In units of money with four decimals; less than the last of them is said to be less."""
    if 0 < millionths < LEAST_SHOWN:
        return f"< {number_format(Decimal(LEAST_SHOWN) / MILLIONTHS, decimal_pos=4)}"
    return number_format(Decimal(millionths) / MILLIONTHS, decimal_pos=4, force_grouping=True)
