"""What the turn worker counts is there to be scraped, although another process answers."""

import re
import urllib.request

import pytest

from tests.patience import until
from tests.stack import ANSWER_S, Stack
from tests.turns.conftest import Desk
from tools.effects.models import RunClaim

pytestmark = pytest.mark.stack


def count(stack: Stack, name: str) -> float:
    """One sample of the web process's metrics page."""
    with urllib.request.urlopen(f"{stack.url}/metrics", timeout=ANSWER_S) as answer:
        found = re.search(rf"^{re.escape(name)} (\S+)$", answer.read().decode(), re.MULTILINE)
    return float(found.group(1)) if found else 0.0


def test_turns_models_and_first_tokens_are_counted_once(desk: Desk, stack: Stack) -> None:
    names = (
        'kaizen_turn_ended_total{terminal="completed"}',
        'kaizen_model_call_total{outcome="complete"}',
        "kaizen_first_token_seconds_count",
    )
    # Work that earlier tests left behind would be counted too.
    until(
        lambda: not RunClaim.objects.filter(queue="turns", state="running").exists(), "no turn runs"
    )
    before = [count(stack, name) for name in names]
    desk.answered("say: Hello\n")
    once = [each + 1 for each in before]
    until(lambda: [count(stack, name) for name in names] >= once, "the turn is counted")
    assert [count(stack, name) for name in names] == once
