"""The explorer of the audit, as an administrator uses it."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.conftest import send, wait_until_done
from tests.stack import Person


@pytest.fixture
def explorer(signed_in: Callable[..., Page], person: Callable[..., Person]) -> Page:
    """An administrator's page on a screen of 1280 pixels, after somebody has asked something."""
    asking = signed_in()
    send(asking, 'call: search_about {"question": "limits"}\nthen:\nsay: A secret word.')
    wait_until_done(asking)
    page = signed_in(person("ada", "administrator"), viewport={"width": 1280, "height": 800})
    page.goto("/admin/audit/auditevent/")
    return page


def fits(page: Page) -> bool:
    return bool(page.evaluate("document.documentElement.scrollWidth <= 1280"))


def test_rows_are_filtered_and_a_run_is_followed_without_its_words(explorer: Page) -> None:
    page = explorer
    assert fits(page)
    page.get_by_label("Action").select_option("tool_called")
    page.get_by_label("Outcome").select_option("success")
    page.get_by_role("button", name="Show").click()
    expect(page.locator("#result_list tbody tr").first).to_contain_text("tool_called")
    assert fits(page)
    page.locator("#result_list tbody tr .field-run a").first.click()
    expect(page.get_by_role("heading", name="What the turn did")).to_be_visible()
    expect(page.locator("#turn-steps")).to_contain_text("search_about")
    expect(page.locator("#audit-rows")).to_contain_text("turn_ended")
    assert "secret word" not in page.content()
    assert fits(page)


def test_an_empty_list_says_so_and_leads_back(explorer: Page) -> None:
    page = explorer
    page.get_by_label("Actor", exact=True).fill("member:nobody")
    page.get_by_role("button", name="Show").click()
    expect(page.get_by_text("No row fits these filters.")).to_be_visible()
    assert fits(page)
    page.get_by_role("link", name="Show everything").click()
    expect(page.locator("#result_list tbody tr").first).to_be_visible()


def test_filtered_rows_are_taken_along_as_a_file(explorer: Page) -> None:
    page = explorer
    page.get_by_label("Action").select_option("tool_called")
    page.get_by_role("button", name="Show").click()
    with page.expect_download() as taken:
        page.get_by_role("button", name="JSON Lines").click()
    assert taken.value.suggested_filename.endswith(".jsonl")
