"""Asking differently: editing, retrying, going back, going on after a stop, summing up."""

import secrets
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.conftest import said, send, wait_until_done


def edit(page: Page, text: str) -> None:
    """Change the newest question in place and ask it anew."""
    page.get_by_role("textbox", name="Message", exact=True).press("ArrowUp")
    page.get_by_role("textbox", name="Edit your question").fill(text)
    page.keyboard.press("Control+Enter")


@pytest.fixture
def edited(signed_in: Callable[..., Page]) -> Page:
    """A conversation whose second question was asked in two ways."""
    page = signed_in()
    for text in ("say: One.", "say: Two."):
        send(page, text)
        wait_until_done(page)
    edit(page, "say: Two, differently.")
    expect(said(page, "Two, differently.")).to_be_visible()
    wait_until_done(page)
    return page


def test_an_edit_makes_a_sibling_and_loses_nothing(edited: Page) -> None:
    page = edited
    expect(said(page, "One.")).to_be_visible()
    expect(said(page, "Two.")).to_have_count(0)
    place = page.get_by_role("group", name="Version 2 of 2")
    expect(place).to_contain_text("2/2")
    expect(place.get_by_role("button", name="Next version")).to_be_disabled()
    place.get_by_role("button", name="Previous version").click()
    expect(said(page, "Two.")).to_be_visible()
    expect(page.get_by_role("group", name="Version 1 of 2")).to_be_visible()
    page.wait_for_load_state("networkidle")
    page.reload()
    expect(said(page, "Two.")).to_be_visible()
    expect(said(page, "Two, differently.")).to_have_count(0)


def test_the_conversation_goes_on_from_the_branch_on_the_page(edited: Page) -> None:
    page = edited
    with page.expect_response("**/branch"):
        page.get_by_role("button", name="Previous version").click()
    send(page, "say: Three.")
    expect(said(page, "Three.")).to_be_visible()
    wait_until_done(page)
    page.reload()
    expect(page.locator(".bubble")).to_have_text(["say: One.", "say: Two.", "say: Three."])
    page.get_by_role("button", name="Next version").click()
    expect(page.locator(".bubble")).to_have_text(["say: One.", "say: Two, differently."])


def test_a_second_tab_shows_the_branch_that_was_chosen(edited: Page) -> None:
    second = edited.context.new_page()
    second.goto(edited.url)
    expect(said(second, "Two, differently.")).to_be_visible()
    edited.get_by_role("button", name="Previous version").click()
    expect(said(second, "Two.")).to_be_visible()


def test_escape_leaves_the_question_as_it_was(edited: Page) -> None:
    page = edited
    page.get_by_role("textbox", name="Message", exact=True).press("ArrowUp")
    page.get_by_role("textbox", name="Edit your question").fill("say: Not this.")
    page.keyboard.press("Escape")
    expect(page.locator(".bubble").last).to_have_text("say: Two, differently.")
    expect(page.locator(".turn")).to_have_count(2)


def test_retry_asks_the_same_beside_the_first(signed_in: Callable[..., Page]) -> None:
    page = signed_in()
    send(page, "say: The same.")
    wait_until_done(page)
    page.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("group", name="Version 2 of 2")).to_be_visible()
    expect(page.locator(".bubble")).to_have_text("say: The same.")
    expect(said(page, "The same.")).to_have_count(1)


def test_what_would_start_another_answer_is_hidden_while_one_is_written(
    signed_in: Callable[..., Page],
) -> None:
    page = signed_in()
    send(page, "say: One.")
    wait_until_done(page)
    pencil = page.get_by_role("button", name="Edit message")
    expect(pencil).to_have_count(1)
    send(page, f"say: Two.\nhold: {secrets.token_hex(4)}")
    expect(said(page, "Two.")).to_be_visible()
    for name in ("Edit message", "Try again"):
        expect(page.get_by_role("button", name=name)).to_have_count(0)
    expect(page.get_by_role("button", name="Copy message")).to_have_count(2)
    page.get_by_role("button", name="Stop").click()
    expect(pencil).to_have_count(2)


def test_a_stopped_answer_can_be_gone_on_with(signed_in: Callable[..., Page]) -> None:
    page = signed_in()
    send(page, f"say: As far as here.\nhold: {secrets.token_hex(4)}")
    expect(said(page, "As far as here.")).to_be_visible()
    page.get_by_role("button", name="Stop").click()
    ending = page.locator(".ending")
    expect(ending.get_by_role("button", name="Try again")).to_be_visible()
    ending.get_by_role("button", name="Continue").click()
    expect(page.locator(".bubble").last).to_have_text("Continue where you stopped.")
    wait_until_done(page)
    expect(page.locator(".turn")).to_have_count(2)
    expect(said(page, "As far as here.")).to_be_visible()


def test_an_edit_that_does_not_arrive_is_kept_and_can_be_taken_back(edited: Page) -> None:
    page = edited
    page.route("**/inputs", lambda route: route.abort())
    edit(page, "say: Lost on the way.")
    note = page.get_by_role("alert")
    expect(note).to_contain_text("Not sent.")
    note.get_by_role("button", name="Put it back into the message field").click()
    field = page.get_by_role("textbox", name="Message", exact=True)
    expect(field).to_have_value("say: Lost on the way.")
    expect(said(page, "Two, differently.")).to_be_visible()


def test_earlier_messages_are_summed_up_on_request(signed_in: Callable[..., Page]) -> None:
    page = signed_in()
    send(page, "say: A long story.")
    wait_until_done(page)
    page.get_by_role("button", name="of the model’s memory is used").click()
    page.get_by_role("menuitem", name="Sum up earlier messages").click()
    line = page.locator(".compaction")
    expect(line).to_contain_text("Earlier messages were summarised")
    wait_until_done(page)
    page.reload()
    expect(line).to_be_visible()
    expect(page.locator(".bubble")).to_have_count(1)
    send(page, "say: And on.")
    expect(said(page, "And on.")).to_be_visible()
