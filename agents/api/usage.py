"""What the caller used of models, by day, and what their budgets leave."""

from datetime import UTC, datetime, timedelta
from typing import Any, Final

from rest_framework import serializers

from agents.api.fields import Lenient, Whole, many
from agents.api.operations import Call, Door, Effect, Operation, operation
from agents.gateway import budgets
from agents.gateway.models import ModelCall, Period, Unit

TAG: Final = "usage"
DEFAULT_DAYS: Final = 31
MOST_DAYS: Final = 366
MOST_BUDGETS: Final = 100


class UsageQuery(Lenient):
    """How many days back, today included; days are those of UTC."""

    days = serializers.IntegerField(
        required=False, default=DEFAULT_DAYS, min_value=1, max_value=MOST_DAYS
    )


class UsageDay(serializers.Serializer[Any]):
    """One day's model calls. `cost` is in millionths of the unit of money."""

    day = serializers.DateField()
    calls = Whole()
    failed = Whole()
    input_tokens = Whole()
    output_tokens = Whole()
    reasoning_tokens = Whole()
    cached_tokens = Whole()
    cost = Whole()


class BudgetLeft(serializers.Serializer[Any]):
    """A budget that counts for the caller: tokens, or millionths of the unit of money.

    `is_shared` says that all people of a group use it together.
    """

    unit = serializers.ChoiceField(choices=Unit.values)
    period = serializers.ChoiceField(choices=Period.values)
    amount = Whole()
    used = Whole()
    is_shared = serializers.BooleanField()
    renews_in_s = Whole()


class Usage(serializers.Serializer[Any]):
    """Days on which models were called, the newest first, and the budgets of today."""

    items = many(UsageDay(), MOST_DAYS)
    budgets = many(BudgetLeft(), MOST_BUDGETS)


class OwnUsage(Door):
    """What one's own model calls used."""

    @operation(
        Operation("usage_read", TAG, Effect.READ, query=UsageQuery),
        summary="Read what one used of models, by day.",
        answer=Usage,
    )
    def get(self, call: Call) -> Any:
        today = datetime.now(UTC).replace(hour=0, minute=0, second=0, microsecond=0)
        since = today - timedelta(days=call.query["days"] - 1)
        days = ModelCall.objects.visible_to(call.member).since(since).by_day()
        return {
            "items": [_day(day) for day in days],
            "budgets": budgets.mine(call.member)[:MOST_BUDGETS],
        }


def _day(day: dict[str, Any]) -> dict[str, Any]:
    return {
        "day": day["day"].isoformat(),
        "calls": day["calls"],
        "failed": day["failed"],
        "input_tokens": day["sum_prompt_tokens"],
        "output_tokens": day["sum_completion_tokens"],
        "reasoning_tokens": day["sum_reasoning_tokens"],
        "cached_tokens": day["sum_cached_tokens"],
        "cost": day["sum_cost"],
    }
