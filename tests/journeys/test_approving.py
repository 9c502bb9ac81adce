"""Calls that ask first: the card in the chat, the inbox, other tabs, and why."""

import json
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.journeys.conftest import said, send, wait_until_done
from tests.patience import promised
from tests.stack import Stack
from tools.boundary import policies
from tools.boundary.models import Approval, PolicyMode

SETTLED_MS = promised(2) * 1_000
NOTES = {
    "title": "Release notes",
    "kind": "markdown",
    "content": "\n".join(f"- change {number} \\n and its reason" for number in range(1, 120)),
}
ASK = f"call: create_artifact {json.dumps(NOTES)}\nthen:\nsay: Kept."


@pytest.fixture
def asking(
    stack: Stack, committed_db: None, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[[PolicyMode], None]]:
    """Have people asked before anything is kept as an artifact; calling it decides otherwise."""
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")

    def decide(mode: PolicyMode) -> None:
        policies.decide(actor="system:tests", family="artifacts", mode=mode)

    decide(PolicyMode.APPROVAL)
    yield decide
    decide(PolicyMode.ON)


@pytest.fixture
def asked(asking: object, signed_in: Callable[..., Page]) -> Page:
    """A page whose answer waits for a decision."""
    page = signed_in()
    send(page, ASK)
    expect(card(page)).to_be_visible()
    return page


def card(page: Page) -> Locator:
    """The card that asks."""
    return page.get_by_role("region", name="Approval needed: Saving an artifact")


def buttons(page: Page) -> Locator:
    """What would decide something."""
    return page.locator(".approval button")


@pytest.mark.req("UIX-004")
def test_the_card_says_exactly_what_would_run_and_as_whom(asked: Page) -> None:
    shown = card(asked)
    expect(shown.get_by_role("heading", name="Saving an artifact")).to_be_visible()
    expect(shown).to_contain_text("Changes data")
    expect(shown).to_contain_text("Alice")
    expect(shown.get_by_role("timer")).to_contain_text("Expires in 14:")
    exact = shown.get_by_role("region", name="Exactly this")
    assert json.loads(exact.text_content() or "") == NOTES
    assert exact.evaluate("it => it.scrollHeight > it.clientHeight && it.tabIndex === 0")
    focused = asked.evaluate("document.activeElement.id")
    assert focused == "message"


def test_approving_runs_the_call_once(asked: Page) -> None:
    card(asked).get_by_role("button", name="Approve once").click()
    expect(said(asked, "Kept.")).to_be_visible()
    expect(asked.get_by_text("You approved this call once")).to_be_visible()
    expect(buttons(asked)).to_have_count(0)
    expect(asked.locator(".saved")).to_have_count(1)
    asked.reload()
    expect(asked.get_by_text("You approved this call once")).to_be_visible()
    expect(buttons(asked)).to_have_count(0)


def test_denying_with_a_reason_runs_nothing_and_says_so(asked: Page) -> None:
    card(asked).get_by_role("button", name="Deny").click()
    reason = asked.get_by_role("textbox", name="Why not?")
    expect(reason).to_be_focused()
    reason.fill("Not before Friday.")
    reason.press("Enter")
    outcome = asked.get_by_text("You denied this call · Not before Friday.")
    expect(outcome).to_be_visible()
    wait_until_done(asked)
    asked.reload()
    expect(outcome).to_be_visible()
    expect(buttons(asked)).to_have_count(0)
    expect(asked.locator(".saved")).to_have_count(0)


def test_a_request_can_be_taken_back(asked: Page) -> None:
    card(asked).get_by_role("button", name="Withdraw").click()
    expect(asked.get_by_text("You withdrew this request.")).to_be_visible()
    expect(buttons(asked)).to_have_count(0)


@pytest.mark.parametrize("elsewhere", ["second tab", "other browser"])
def test_a_decision_settles_the_card_everywhere(
    asked: Page, elsewhere: str, new_context: Callable[..., object]
) -> None:
    context = asked.context
    if elsewhere == "other browser":
        context = new_context(storage_state=asked.context.storage_state())  # type: ignore[assignment]
    chat, inbox = context.new_page(), context.new_page()
    chat.goto(asked.url)
    inbox.goto("/inbox")
    expect(card(chat)).to_be_visible()
    expect(card(inbox)).to_be_visible()
    card(asked).get_by_role("button", name="Approve once").click()
    for page in (chat, inbox):
        expect(page.get_by_text("You approved this call once").first).to_be_visible(
            timeout=SETTLED_MS
        )
        expect(buttons(page)).to_have_count(0)


def test_a_decision_that_comes_too_late_says_what_was_decided(asked: Page) -> None:
    late = asked.context.new_page()
    late.goto("/inbox")
    late.route("**/inbox/items", lambda route: route.abort())
    late.evaluate("window.BroadcastChannel.prototype.dispatchEvent = () => false")
    expect(card(late)).to_be_visible()
    card(asked).get_by_role("button", name="Approve once").click()
    expect(asked.get_by_text("You approved this call once")).to_be_visible()
    card(late).get_by_role("button", name="Deny").click()
    late.keyboard.press("Enter")
    expect(late.get_by_role("alert")).not_to_be_empty()
    late.unroute("**/inbox/items")
    expect(late.get_by_text("You approved this call once").first).to_be_visible()


def test_the_inbox_counts_and_lists_what_waits_in_all_conversations(asked: Page) -> None:
    page = asked.context.new_page()
    page.goto("/")
    inbox = page.get_by_role("link", name="Inbox 1 waiting for you")
    inbox.click()
    expect(card(page)).to_have_count(1)
    expect(page.get_by_role("link", name="call: create_artifact").first).to_be_visible()
    card(page).get_by_role("button", name="Approve once").click()
    expect(page.get_by_role("link", name="Inbox", exact=True)).to_be_visible()
    page.reload()
    expect(page.get_by_text("Nothing waits for you.")).to_be_visible()
    expect(page.get_by_role("heading", name="Settled lately")).to_be_visible()
    expect(page.get_by_text("You approved this call once")).to_be_visible()
    wait_until_done(asked)


@pytest.mark.parametrize(
    ("key", "outcome"),
    [("Enter", "You approved this call once"), ("Backspace", "You denied this call")],
)
def test_the_keyboard_alone_decides(asked: Page, key: str, outcome: str) -> None:
    asked.keyboard.press(f"Control+Alt+{key}")
    expect(asked.get_by_text(outcome)).to_be_visible()
    wait_until_done(asked)


def test_the_keyboard_decides_nothing_while_it_is_unclear_what_about(asked: Page) -> None:
    page = asked.context.new_page()
    page.goto("/")
    send(page, ASK)
    expect(card(page)).to_be_visible()
    page.goto("/inbox")
    expect(card(page)).to_have_count(2)
    page.keyboard.press("Control+Alt+Enter")
    expect(card(page).first).to_be_focused()
    expect(card(page)).to_have_count(2)
    page.keyboard.press("Control+Alt+Enter")
    expect(card(page)).to_have_count(1)


def test_stopping_takes_the_question_away(asked: Page) -> None:
    asked.get_by_role("button", name="Stop").click()
    expect(asked.locator(".ending > span")).to_have_text("Stopped")
    expect(buttons(asked)).to_have_count(0)
    asked.reload()
    expect(asked.locator(".approval")).to_be_visible()
    expect(buttons(asked)).to_have_count(0)


def test_a_parked_call_says_why_it_asks(asked: Page) -> None:
    why = card(asked).locator(".why")
    why.get_by_text("Why?").click()
    steps = why.get_by_role("listitem")
    expect(steps.filter(has_text="Administrators’ policy")).to_be_visible()
    expect(steps.last).to_contain_text("Approval")


def test_a_denied_call_says_why(
    asking: Callable[[PolicyMode], None], signed_in: Callable[..., Page]
) -> None:
    asking(PolicyMode.OFF)
    page = signed_in()
    send(page, ASK)
    wait_until_done(page)
    call = page.locator(".tool[data-state=denied]").first
    expect(call).to_contain_text("Denied")
    call.get_by_text("Why?").click()
    expect(call.get_by_role("listitem").last).to_be_visible()
    page.reload()
    expect(page.locator(".tool[data-state=denied]").first).to_be_visible()


def test_a_card_fits_a_phone_with_targets_for_fingers(
    asking: object, signed_in: Callable[..., Page]
) -> None:
    page = signed_in(
        viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True, color_scheme="dark"
    )
    send(page, ASK)
    for path in (None, "/inbox"):
        if path:
            page.goto(path)
        expect(card(page)).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") == 360
        for name in ("Approve once", "Deny", "Withdraw"):
            box = card(page).get_by_role("button", name=name).bounding_box()
            assert box is not None
            assert box["height"] >= 44, name
    assert Approval.objects.filter(state="pending").exists()
