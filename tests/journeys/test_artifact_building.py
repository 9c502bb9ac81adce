"""An artifact while a model writes it: it fills up, can be watched, and becomes what was kept."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.artifacts import panel
from tests.journeys.conftest import send, wait_until_done
from tests.stack import Stack

LINES = "".join(f"- Harbour number {number}\n" for number in range(1, 60))
CALL = json.dumps({"title": "Harbours", "kind": "markdown", "content": f"# Harbours\n\n{LINES}"})


@pytest.mark.req("UIX-001")
def test_it_fills_up_is_watched_and_becomes_the_artifact(
    signed_in: Callable[..., Page], stack: Stack
) -> None:
    page = signed_in()
    send(page, f"split: 60\ncall: create_artifact {CALL}\nhold: watched\nthen:\nsay: Kept.")
    card = page.locator(".building")
    expect(card).to_contain_text("Harbours")
    expect(card).to_contain_text("Harbour number 59")
    expect(page.get_by_role("button", name="Open: Harbours")).to_have_count(0)
    page.get_by_role("button", name="Watch").click()
    expect(panel(page).get_by_role("heading", name="Harbours").first).to_be_visible()
    expect(panel(page).get_by_role("listitem").last).to_contain_text("Harbour number")
    stack.release("watched")
    expect(page.get_by_role("button", name="Open: Harbours")).to_be_visible()
    expect(card).to_have_count(0)
    expect(page.get_by_role("tab", name="Preview")).to_be_visible()
    expect(panel(page).get_by_text("Harbour number 59")).to_be_visible()
    expect(panel(page).get_by_text("Version 1")).to_be_visible()
    wait_until_done(page)
    page.reload()
    expect(panel(page).get_by_text("Harbour number 59")).to_be_visible()


def test_a_page_that_is_loaded_meanwhile_shows_what_was_written(
    signed_in: Callable[..., Page], stack: Stack
) -> None:
    page = signed_in()
    send(page, f"split: 60\ncall: create_artifact {CALL}\nhold: loaded\nthen:\nsay: Kept.")
    expect(page.locator(".building")).to_contain_text("Harbour number 59")
    page.reload()
    expect(page.locator(".building")).to_contain_text("Harbours")
    expect(page.locator(".building")).to_contain_text("Harbour number 59")
    stack.release("loaded")
    expect(page.get_by_role("button", name="Open: Harbours")).to_be_visible()
    wait_until_done(page)


def test_a_stopped_answer_leaves_no_placeholder(
    signed_in: Callable[..., Page], stack: Stack
) -> None:
    page = signed_in()
    send(page, f"split: 60\ncall: create_artifact {CALL}\nhold: stopped\nthen:\nsay: Kept.")
    expect(page.locator(".building")).to_contain_text("Harbour number 59")
    page.get_by_role("button", name="Stop").click()
    expect(page.locator(".building")).to_have_count(0)
    wait_until_done(page)
    stack.release("stopped")
