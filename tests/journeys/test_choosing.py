"""Choosing how agents work for oneself, in the browser."""

from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect


@pytest.mark.req("UIX-006")
@pytest.mark.parametrize("width", [1200, 360])
def test_what_is_chosen_is_kept(signed_in: Callable[..., Page], width: int) -> None:
    page = signed_in(viewport={"width": width, "height": 800})
    page.goto("/account")
    section = page.get_by_role("region", name="How agents work for you")
    plain = section.get_by_role("checkbox", name="Answer in plain words")
    shorten = section.get_by_role("checkbox", name="Shorten long results of tools")
    wait = section.get_by_role("radio", name="Wait for its turn")
    expect(plain).not_to_be_checked()
    expect(section.get_by_role("radio", name="Tell the running answer")).to_be_checked()
    plain.focus()
    page.keyboard.press("Space")
    section.get_by_text("Wait for its turn").click()
    section.get_by_role("button", name="Save").click()
    expect(page.get_by_text("Saved.")).to_be_visible()
    page.reload()
    expect(plain).to_be_checked()
    expect(shorten).not_to_be_checked()
    expect(wait).to_be_checked()
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
