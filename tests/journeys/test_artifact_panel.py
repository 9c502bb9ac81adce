"""The panel beside the chat: opening, closing, resizing, and the sheet on a phone."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.artifacts import keep_in_chat, kept, panel, tab
from tests.journeys.conftest import said, send, wait_until_done
from tests.stack import Person

PHONE = {"width": 360, "height": 740}
OPENED = re.compile(r"#artifact=[0-9a-f-]{36}$")


def width(page: Page) -> float:
    box = page.locator(".dock").bounding_box()
    assert box is not None
    return box["width"]


@pytest.mark.req("UIX-001")
def test_a_card_opens_the_artifact_beside_a_chat_that_stays_usable(
    signed_in: Callable[..., Page],
) -> None:
    page = signed_in()
    keep_in_chat(page)
    page.get_by_role("button", name="Open: Ferry plan").click()
    expect(panel(page).get_by_role("heading", name="Ferry plan").first).to_be_visible()
    expect(panel(page).get_by_text("40 minutes")).to_be_visible()
    expect(page).to_have_url(OPENED)
    send(page, "say: Still here.")
    expect(said(page, "Still here.")).to_be_visible()
    expect(panel(page).get_by_text("40 minutes")).to_be_visible()


def test_it_loads_no_editor_before_somebody_looks_at_a_source(
    signed_in: Callable[..., Page],
) -> None:
    page = signed_in()
    scripts: list[str] = []
    page.on("request", lambda sent: scripts.append(sent.url))
    keep_in_chat(page)
    assert not [url for url in scripts if "artifact_panel" in url or "artifact_editor" in url]
    page.get_by_role("button", name="Open: Ferry plan").click()
    expect(panel(page).get_by_text("40 minutes")).to_be_visible()
    assert not [url for url in scripts if "artifact_editor" in url]
    tab(page, "Source").click()
    expect(page.get_by_role("textbox", name="Source of Ferry plan")).to_be_visible()
    assert [url for url in scripts if "artifact_editor" in url]


def test_back_forward_and_reload_follow_the_panel(signed_in: Callable[..., Page]) -> None:
    page = signed_in()
    keep_in_chat(page)
    page.get_by_role("button", name="Open: Ferry plan").click()
    expect(panel(page).get_by_text("40 minutes")).to_be_visible()
    page.go_back()
    expect(panel(page)).to_have_count(0)
    expect(page).not_to_have_url(OPENED)
    expect(said(page, "Kept.")).to_be_visible()
    page.go_forward()
    expect(panel(page).get_by_text("40 minutes")).to_be_visible()
    page.reload()
    expect(panel(page).get_by_text("40 minutes")).to_be_visible()


def test_the_keyboard_alone_opens_walks_and_closes_it(signed_in: Callable[..., Page]) -> None:
    page = signed_in()
    keep_in_chat(page)
    opener = page.get_by_role("button", name="Open: Ferry plan")
    opener.focus()
    page.keyboard.press("Enter")
    expect(tab(page, "Preview")).to_be_focused()
    page.keyboard.press("ArrowRight")
    expect(tab(page, "Source")).to_be_focused()
    expect(tab(page, "Source")).to_have_attribute("aria-selected", "true")
    page.keyboard.press("End")
    expect(page.get_by_role("button", name="Look at version 1")).to_be_visible()
    page.keyboard.press("Escape")
    expect(panel(page)).to_have_count(0)
    expect(opener).to_be_focused()
    expect(page).not_to_have_url(OPENED)


def test_its_width_changes_by_mouse_and_keyboard_and_is_remembered(
    signed_in: Callable[..., Page],
) -> None:
    page = signed_in()
    keep_in_chat(page)
    page.get_by_role("button", name="Open: Ferry plan").click()
    edge = page.get_by_role("separator", name="Width of the artifact panel")
    expect(edge).to_have_attribute("aria-orientation", "vertical")
    before = width(page)
    edge.focus()
    page.keyboard.press("ArrowLeft")
    wider = width(page)
    assert wider > before
    expect(edge).to_have_attribute("aria-valuenow", str(round(wider)))
    page.keyboard.press("End")
    least = width(page)
    assert least < before
    box = edge.bounding_box()
    assert box is not None
    page.mouse.move(box["x"] + 5, 300)
    page.mouse.down()
    page.mouse.move(box["x"] - 75, 300, steps=4)
    page.mouse.up()
    assert abs(width(page) - least - 80) < 8
    chosen = width(page)
    page.reload()
    expect(panel(page).get_by_text("40 minutes")).to_be_visible()
    assert width(page) == chosen


def test_on_a_phone_it_covers_everything_and_goes_by_the_back_button(
    signed_in: Callable[..., Page],
) -> None:
    page = signed_in(viewport=PHONE, is_mobile=True, has_touch=True)
    keep_in_chat(page)
    page.get_by_role("button", name="Open: Ferry plan").click()
    sheet = page.get_by_role("dialog", name="Artifact panel")
    expect(sheet.get_by_text("40 minutes")).to_be_visible()
    covered = sheet.evaluate("it => [it.offsetLeft, it.offsetTop, it.offsetWidth, it.offsetHeight]")
    assert covered == [0, 0, PHONE["width"], PHONE["height"]]
    expect(page.locator(".main")).to_have_attribute("inert", "")
    for name in ("Source", "History", "Preview"):
        tab(page, name).click()
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"]
    page.get_by_role("button", name="Back to the chat").click()
    expect(sheet).to_have_count(0)
    expect(page.locator(".main")).not_to_have_attribute("inert", "")
    page.get_by_role("button", name="Open: Ferry plan").click()
    expect(sheet).to_be_visible()
    page.go_back()
    expect(sheet).to_have_count(0)


def test_a_new_version_by_the_agent_shows_up_in_the_open_panel(
    signed_in: Callable[..., Page],
) -> None:
    page = signed_in()
    keep_in_chat(page)
    page.get_by_role("button", name="Open: Ferry plan").click()
    expect(panel(page).get_by_text("40 minutes")).to_be_visible()
    artifact = page.url.split("#artifact=")[1]
    send(
        page,
        f'call: update_artifact {{"artifact_id": "{artifact}", "expected_version": 1,'
        ' "content": "It takes an hour."}\nthen:\nsay: Changed.',
    )
    expect(panel(page).get_by_text("It takes an hour.")).to_be_visible()
    expect(panel(page).get_by_text("Version 2")).to_be_visible()
    wait_until_done(page)


def test_the_list_opens_the_same_over_the_full_width(
    signed_in: Callable[..., Page], person: Callable[..., Person]
) -> None:
    alice = person("alice")
    kept(alice, "Winter log", "Ice from **December**.")
    kept(alice, "Fuel model", "print(1)\n", "code", "python")
    page = signed_in(alice)
    page.get_by_role("link", name="Artifacts").click()
    page.get_by_role("combobox", name="Kind").select_option("Document")
    page.get_by_role("searchbox", name="Search titles").fill("winter")
    page.get_by_role("button", name="Search", exact=True).last.click()
    expect(page.get_by_role("link", name="Fuel model")).to_have_count(0)
    page.get_by_role("link", name="Winter log").click()
    expect(panel(page).get_by_text("December")).to_be_visible()
    tab(page, "Preview").focus()
    page.keyboard.press("Escape")
    expect(page).to_have_url(re.compile("/artifacts$"))


def test_search_leads_to_an_artifact(
    signed_in: Callable[..., Page], person: Callable[..., Person]
) -> None:
    alice = person("alice")
    kept(alice, "Almanac of tides", "High at **noon**.")
    page = signed_in(alice)
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Search conversations").fill("almanac")
    page.get_by_role("option", name="Almanac of tides").click()
    expect(panel(page).get_by_text("noon")).to_be_visible()
