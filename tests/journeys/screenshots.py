"""The pictures of the README. Run by `make screenshots`; writes docs/screenshots/*.png."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import BrowserContext, Page, expect

from agents.definitions import versions
from tests.journeys.conftest import send, wait_until_done
from tests.stack import ROOT, Person, Stack
from tools.boundary import policies
from tools.boundary.models import PolicyMode

FOLDER = ROOT / "docs" / "screenshots"
WIDE = {"width": 1280, "height": 800}
PHONE = {"width": 390, "height": 800}

QUESTION = "We release on Friday. Plan the week for the three of us, riskiest work first."
PLAN = """Here is the week with the **riskiest work first**. Each day ends with something you \
can show.

| Day | Work | Owner | Hours |
|:--|:--|:--|--:|
| Monday | Run the migration on a copy | Bob | 5 |
| Tuesday | Load test, then fix what it finds | Alice | 6 |
| Wednesday | Five people try it, unaided | Charlie | 3 |
| Thursday | Buffer, release notes | All | 4 |

Keep one number honest all week:

```python
def ratio(ours: float, theirs: float) -> float:
    \"\"\"How many times slower we are; 1.0 is a tie.\"\"\"
    return round(ours / theirs, 2)
```

If Tuesday's ratio is above **2.0**, move the trial to Thursday and release on Monday instead."""
FOLLOW_UP = "Which agents could help us with this?"
KEEP = "Keep the plan as an artifact, please."
KEPT = {"title": "Plan for the release", "kind": "markdown", "content": PLAN}
ANSWERS = {
    "answers": [
        {"contains": QUESTION, "script": f"think: Five days.\nsay: {json.dumps(PLAN)}"},
        {
            "contains": FOLLOW_UP,
            "script": "call: list_available_agents {}\n"
            'call: conversation_history_search {"query": "release"}\nthen:\n'
            "say: Two places to start: **Kaizen** can draft the release notes as an artifact, and"
            " your earlier chat about the freeze already lists what must not change.",
        },
        {
            "contains": KEEP,
            "script": f"call: create_artifact {json.dumps(KEPT)}\nthen:\nsay: Kept as version 1.",
        },
    ]
}
PLANNER = {
    "name": "Release planner",
    "description": "Plans releases: the riskiest work first, one owner for each day.",
    "persona": "You plan releases for a small team.\n\n- Put the riskiest work first.\n"
    "- Give each day one owner and one thing to show.\n- Say what you are unsure of, and why.",
    "capability_ceiling": "write",
    "posture": {"tools": ["artifacts"]},
}
OTHERS = (
    "What must not change during the freeze?",
    "Shorten the welcome mail",
    "Explain database locks to a new colleague",
    "Questions for the customer call",
)


@pytest.fixture
def natural(stack: Stack, tmp_path: Path, person: Callable[..., Person]) -> Iterator[Stack]:
    """The stack with a model that answers natural questions."""
    fixture = tmp_path / "answers.json"
    fixture.write_text(json.dumps(ANSWERS), encoding="utf-8")
    stack.kill("model")
    stack.start_model("--fixture", str(fixture))
    FOLDER.mkdir(parents=True, exist_ok=True)
    yield stack
    stack.kill("model")
    stack.start_model()


def picture(page: Page, name: str) -> None:
    """Write one picture once fonts are there and nothing moves."""
    page.evaluate("document.fonts.ready")
    page.mouse.move(0, 0)
    page.screenshot(path=FOLDER / f"{name}.png", animations="disabled", caret="hide")


def test_screenshots(
    natural: Stack, signed_in: Callable[..., Page], person: Callable[..., Person]
) -> None:
    who = person("alice")
    page = signed_in(who, viewport=WIDE, color_scheme="light")
    for text in reversed(OTHERS):
        page.goto("/")
        send(page, text)
        wait_until_done(page)
    page.goto("/")
    page.wait_for_timeout(300)
    picture(page, "home")
    send(page, QUESTION)
    wait_until_done(page)
    send(page, FOLLOW_UP)
    wait_until_done(page)
    page.wait_for_timeout(1_000)  # the list and the reading mark settle
    page.get_by_role("region", name="Messages").evaluate("thread => { thread.scrollTop = 0 }")
    picture(page, "chat-light")
    address = page.url
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search conversations").fill("freeze")
    expect(page.locator("mark").first).to_be_visible()
    picture(page, "search")

    page.goto(address)
    policies.decide(actor="system:tests", family="artifacts", mode=PolicyMode.APPROVAL)
    send(page, KEEP)
    expect(page.get_by_role("button", name="Approve once")).to_be_visible()
    page.wait_for_timeout(600)
    picture(page, "approval")
    page.get_by_role("button", name="Approve once").click()
    wait_until_done(page)
    policies.decide(actor="system:tests", family="artifacts", mode=PolicyMode.ON)
    page.get_by_role("button", name="Open").click()
    expect(page.get_by_role("tab", name="Preview")).to_be_visible()
    page.wait_for_timeout(600)
    picture(page, "artifact")

    dark = signed_in(who, viewport=WIDE, color_scheme="dark")
    dark.goto(address)
    wait_until_done(dark)
    dark.wait_for_timeout(600)
    dark.locator(".tools summary").first.click()
    dark.get_by_role("region", name="Messages").evaluate("it => { it.scrollTop = it.scrollHeight }")
    picture(dark, "chat-dark")

    phone = signed_in(who, viewport=PHONE, device_scale_factor=2, is_mobile=True, has_touch=True)
    phone.goto(address)
    wait_until_done(phone)
    phone.wait_for_timeout(600)
    phone.get_by_role("region", name="Messages").evaluate("it => { it.scrollTop = 0 }")
    picture(phone, "phone")


def test_screenshot_of_the_studio(
    natural: Stack, signed_in: Callable[..., Page], person: Callable[..., Person]
) -> None:
    who = person("alice")
    agent = versions.create(actor=who.member, content=PLANNER)
    page = signed_in(who, viewport=WIDE)
    page.goto(f"/agents/{agent.agent_id}")
    page.wait_for_timeout(600)
    picture(page, "agent")


def test_screenshot_of_the_sign_in_page(
    natural: Stack, new_context: Callable[..., BrowserContext]
) -> None:
    page = new_context(viewport=WIDE).new_page()
    page.goto("/sign-in")
    picture(page, "sign-in")
