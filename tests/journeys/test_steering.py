"""What a member says while an answer is being written."""

import secrets
from collections.abc import Callable, Iterator
from dataclasses import dataclass

import pytest
from playwright.sync_api import Locator, Page, expect

from tests.journeys.conftest import said, send, wait_until_done
from tests.stack import Stack


@dataclass
class Held:
    """A page whose answer is being written until it is let go."""

    page: Page
    release: Callable[[], None]

    @property
    def field(self) -> Locator:
        return self.page.get_by_role("textbox", name="Message", exact=True)

    @property
    def chips(self) -> Locator:
        return self.page.get_by_role("list", name="Waiting messages").get_by_role("listitem")

    @property
    def received(self) -> Locator:
        """What the server has; a message is on the page before that."""
        return self.chips.get_by_role("button", name="Remove")

    def say(self, text: str, key: str) -> None:
        """Write something, press a key, and wait until the server has it."""
        before = self.received.count()
        self.field.fill(text)
        self.field.press(key)
        expect(self.received).to_have_count(before + 1)

    def convert(self, way: str) -> None:
        """Make the other kind of what waits alone; both may be shown for a moment."""
        self.chips.get_by_role("button", name=way).click()
        expect(self.chips.get_by_role("button", name=way)).to_have_count(0)
        expect(self.received).to_have_count(1)


@pytest.fixture
def held(stack: Stack, signed_in: Callable[..., Page]) -> Iterator[Held]:
    """An answer that has begun."""
    page, gate = signed_in(), secrets.token_hex(4)
    send(page, f"say: It has begun.\nhold: {gate}\nthen:\nsay: Steered.")
    expect(said(page, "It has begun.")).to_be_visible()
    yield Held(page, lambda: stack.release(gate))
    stack.release(gate)


@pytest.mark.req("INP-003")
def test_enter_steers_and_the_answer_takes_it_up(held: Held) -> None:
    held.say("Shorter, please.", "Enter")
    expect(held.chips).to_have_count(1)
    expect(held.chips).to_contain_text("Steering")
    held.release()
    wait_until_done(held.page)
    expect(held.chips).to_have_count(0)
    note = held.page.locator(".steered")
    expect(note).to_contain_text("You added")
    expect(note).to_contain_text("Shorter, please.")
    expect(held.page.locator(".turn")).to_have_count(1)
    held.page.reload()
    expect(note).to_contain_text("Shorter, please.")


def test_the_other_way_queues_behind_the_answer(held: Held) -> None:
    held.say("say: Second answer.", "Control+Enter")
    held.say("say: Third answer.", "Control+Enter")
    expect(held.chips).to_have_count(2)
    expect(held.chips.first).to_contain_text("Queued")
    expect(held.page.locator(".turn")).to_have_count(1)
    held.page.reload()
    expect(held.chips).to_have_count(2)
    held.release()
    expect(said(held.page, "Third answer.")).to_be_visible()
    expect(held.page.locator(".bubble").last).to_have_text("say: Third answer.")
    expect(held.chips).to_have_count(0)


def test_the_buttons_say_both_ways_while_something_is_written(held: Held) -> None:
    steer = held.page.get_by_role("button", name="Steer", exact=True)
    queue = held.page.get_by_role("button", name="Queue", exact=True)
    expect(steer).to_be_hidden()
    held.field.fill("say: Later.")
    expect(steer).to_be_visible()
    expect(held.page.get_by_role("button", name="Stop")).to_be_visible()
    queue.click()
    expect(held.chips).to_contain_text("Queued")
    expect(held.field).to_have_value("")


def test_the_setting_decides_what_enter_does(held: Held) -> None:
    settings = held.page.context.new_page()
    settings.goto("/account")
    settings.get_by_label("Wait for its turn").check(force=True)
    preferences = settings.locator("form", has=settings.get_by_label("Wait for its turn"))
    preferences.get_by_role("button", name="Save").click()
    expect(settings.get_by_role("status").get_by_text("Saved.")).to_be_visible()
    held.page.reload()
    expect(said(held.page, "It has begun.")).to_be_visible()
    held.say("say: Later.", "Enter")
    expect(held.chips).to_contain_text("Queued")


def test_what_waits_is_changed_converted_and_removed(held: Held) -> None:
    held.say("say: Frist.", "Control+Enter")
    held.chips.get_by_role("button", name="Edit").click()
    editor = held.page.get_by_role("textbox", name="Edit", exact=True)
    expect(editor).to_be_focused()
    editor.fill("say: First.")
    editor.press("Enter")
    expect(held.chips).to_contain_text("say: First.")
    held.convert("Steer with it now")
    expect(held.chips).to_contain_text("Steering")
    held.convert("Queue it instead")
    expect(held.chips).to_contain_text("Queued")
    held.received.click()
    expect(held.chips).to_have_count(0)
    held.release()
    wait_until_done(held.page)
    held.page.reload()
    expect(said(held.page, "It has begun.")).to_be_visible()
    expect(held.page.locator(".turn")).to_have_count(1)
    expect(held.page.get_by_role("group", name="Version")).to_have_count(0)


def test_the_up_arrow_changes_what_waits_last(held: Held) -> None:
    held.say("say: Wait.", "Control+Enter")
    held.field.press("ArrowUp")
    expect(held.page.get_by_role("textbox", name="Edit", exact=True)).to_have_value("say: Wait.")
    held.page.keyboard.press("Escape")
    expect(held.field).to_be_focused()


def test_it_shows_what_waits_in_a_second_tab(held: Held) -> None:
    second = held.page.context.new_page()
    second.goto(held.page.url)
    held.say("Shorter, please.", "Enter")
    listed = second.get_by_role("list", name="Waiting messages").get_by_role("listitem")
    expect(listed).to_contain_text("Shorter, please.")


def test_stop_ends_what_runs_and_what_waits_and_the_next_message_works(held: Held) -> None:
    held.say("say: Never asked.", "Control+Enter")
    expect(held.chips).to_have_count(1)
    held.field.press("Escape")
    wait_until_done(held.page)
    expect(held.chips).to_have_count(0)
    expect(held.page.locator(".ending > span").first).to_have_text("Stopped")
    send(held.page, "say: Works again.")
    expect(said(held.page, "Works again.")).to_be_visible()


def test_what_waits_fits_a_phone_with_targets_for_fingers(held: Held) -> None:
    held.say("Shorter, please, and " + "with many words " * 20, "Enter")
    held.say("say: " + "x" * 300, "Control+Enter")
    expect(held.chips).to_have_count(2)
    page = held.page
    page.set_viewport_size({"width": 360, "height": 740})
    held.field.fill("Half a thought")
    for name in ("Steer", "Queue", "Stop"):
        button = page.get_by_role("button", name=name, exact=True)
        expect(button).to_be_in_viewport(ratio=1)
        box = button.bounding_box()
        assert box is not None
        assert box["height"] >= 44, name
    remove = held.chips.last.get_by_role("button", name="Remove")
    expect(remove).to_be_in_viewport(ratio=1)
    held.chips.last.get_by_role("button", name="Edit").click()
    expect(page.get_by_role("textbox", name="Edit", exact=True)).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") == 360
