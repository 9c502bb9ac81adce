"""Sidebar, search, keyboard, small and dark screens, names for assistive technology."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.conftest import said, send, wait_until_done

PEARS = "Pears are ripe in August and plums follow them in September, says the gardener."
PAGES = (
    "/",
    "/inbox",
    "/usage",
    "/agents",
    "/account",
    "/archived",
    "/conversations",
    "/nothing-here",
)


@pytest.fixture
def with_history(signed_in: Callable[..., Page]) -> Page:
    """Somebody with two conversations, in the second."""
    page = signed_in()
    for text in (f"say: {PEARS}", "say: Snow falls in January."):
        page.goto("/")
        send(page, text)
        wait_until_done(page)
    return page


def test_search_finds_an_answer_and_opens_it_there(with_history: Page) -> None:
    page = with_history
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Search conversations")
    expect(field).to_be_focused()
    field.fill("gardener")
    hit = page.get_by_role("option").first
    expect(hit.locator("mark")).to_have_text("gardener")
    field.press("Enter")
    expect(page).to_have_url(re.compile(r"/c/.*\?m=\d+$"))
    expect(said(page, PEARS)).to_be_in_viewport()
    expect(page.locator(".topbar")).to_be_in_viewport()


def test_a_conversation_is_renamed_pinned_and_deleted_with_a_way_back(with_history: Page) -> None:
    page = with_history
    listed = page.get_by_role("navigation", name="Your conversations")

    def act(title: str, action: str) -> None:
        listed.get_by_role("button", name=f"Actions for {title}").click()
        page.get_by_role("menuitem", name=action, exact=True).click()

    act("say: Pears", "Rename")
    page.get_by_label("Title").fill("Fruit")
    page.get_by_role("button", name="Save").click()
    expect(listed.get_by_role("link", name="Fruit")).to_be_visible()
    act("Fruit", "Pin")
    expect(listed.get_by_role("heading").first).to_have_text("Pinned")
    act("Fruit", "Delete")
    expect(listed.get_by_role("link", name="Fruit")).to_have_count(0)
    page.get_by_role("button", name="Undo").click()
    expect(listed.get_by_role("link", name="Fruit")).to_be_visible()


def test_an_archived_conversation_can_be_brought_back(with_history: Page) -> None:
    page = with_history
    listed = page.get_by_role("navigation", name="Your conversations")
    listed.get_by_role("button", name="Actions for say: Pears").click()
    page.get_by_role("menuitem", name="Archive").click()
    expect(listed.get_by_role("link", name="say: Pears")).to_have_count(0)
    page.goto("/archived")
    page.get_by_role("button", name="Bring back").click()
    expect(page.locator(".list li")).to_have_count(0)
    page.reload()
    expect(listed.get_by_role("link", name="say: Pears")).to_be_visible()


def test_everything_in_a_chat_works_by_keyboard_alone(signed_in: Callable[..., Page]) -> None:
    page = signed_in()
    keyboard = page.keyboard
    field = page.get_by_role("textbox", name="Message")
    expect(field).to_be_focused()
    keyboard.type("say: one")
    keyboard.press("Shift+Enter")
    keyboard.type("more")
    expect(field).to_have_value("say: one\nmore")
    keyboard.press("Enter")
    wait_until_done(page)
    keyboard.press("ArrowUp")
    editor = page.get_by_role("textbox", name="Edit your question")
    expect(editor).to_be_focused()
    expect(editor).to_have_value("say: one\nmore")
    keyboard.press("Escape")
    expect(page.get_by_role("button", name="Edit message")).to_be_focused()
    keyboard.press("Shift+Escape")
    keyboard.type("again")
    keyboard.press("Tab")
    expect(page.get_by_role("button", name="Choose who answers")).to_be_focused()
    keyboard.press("Enter")
    expect(page.get_by_role("menuitemradio").first).to_be_focused()
    keyboard.press("Escape")
    keyboard.press("Shift+Escape")
    expect(field).to_be_focused()
    keyboard.press("Control+Shift+S")
    expect(page.get_by_role("navigation", name="Your conversations")).to_be_hidden()
    keyboard.press("Control+Shift+S")
    keyboard.press("Control+/")
    expect(page.get_by_role("heading", name="Keyboard shortcuts")).to_be_visible()
    keyboard.press("Escape")
    keyboard.press("Control+Shift+O")
    expect(page.get_by_role("heading", name=re.compile("What shall we work on"))).to_be_visible()


def test_enter_during_composition_sends_nothing(signed_in: Callable[..., Page]) -> None:
    page = signed_in()
    field = page.get_by_role("textbox", name="Message")
    field.fill("nihon")
    field.dispatch_event("keydown", {"key": "Enter", "isComposing": True})
    expect(field).to_have_value("nihon")
    expect(page.locator(".turn")).to_have_count(0)


def test_shortcuts_can_be_switched_off(signed_in: Callable[..., Page]) -> None:
    page = signed_in()
    page.goto("/account")
    page.get_by_role("checkbox", name="Keyboard shortcuts").uncheck()
    you = page.get_by_role("region", name="You", exact=True)
    you.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status").get_by_text("Saved.")).to_be_visible()
    page.keyboard.press("Control+k")
    expect(page.get_by_role("combobox", name="Search conversations")).to_be_hidden()


@pytest.mark.parametrize("path", PAGES)
def test_no_page_scrolls_sideways_at_360_pixels(signed_in: Callable[..., Page], path: str) -> None:
    page = signed_in(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    page.goto(path)
    expect(page.get_by_role("main")).to_be_visible()
    assert page.evaluate("document.documentElement.scrollWidth") == 360


def test_a_chat_fits_a_phone_with_targets_for_fingers(signed_in: Callable[..., Page]) -> None:
    page = signed_in(viewport={"width": 360, "height": 740}, has_touch=True, is_mobile=True)
    long_word, wide = "x" * 400, "| " + " | ".join(["column"] * 12) + " |"
    table = f"{wide}\\n|{'---|' * 12}\\n{wide}"
    send(page, f'say: "{long_word}\\n\\n{table}\\n\\n```\\n{long_word}\\n```"')
    wait_until_done(page)
    assert page.evaluate("document.documentElement.scrollWidth") == 360
    for name in ("Send", "Show sidebar", "Choose who answers"):
        box = page.get_by_role("button", name=name).bounding_box()
        assert box is not None
        assert box["height"] >= 44, name
    page.get_by_role("button", name="Show sidebar").tap()
    expect(page.get_by_role("link", name="New chat")).to_be_visible()


def test_everything_is_reached_at_twice_the_size(signed_in: Callable[..., Page]) -> None:
    # 1280 by 720 pixels at 200 % zoom.
    page = signed_in(viewport={"width": 640, "height": 360}, device_scale_factor=2)
    starter = page.get_by_role("button", name="Draft a document")
    starter.click()
    expect(page.get_by_role("textbox", name="Message")).to_have_value(re.compile("one-page"))
    send(page, "say: Still fine.")
    expect(said(page, "Still fine.")).to_be_in_viewport()
    assert page.evaluate("document.documentElement.scrollWidth") == 640


@pytest.mark.parametrize("theme", ["System", "Light", "Dark"])
def test_the_theme_follows_the_setting_or_the_system(
    signed_in: Callable[..., Page], theme: str
) -> None:
    page = signed_in(color_scheme="dark")
    page.goto("/account")
    page.get_by_label(theme).check(force=True)
    you = page.get_by_role("region", name="You", exact=True)
    you.get_by_role("button", name="Save").click()
    expect(page.get_by_role("status").get_by_text("Saved.")).to_be_visible()
    ground = page.evaluate("getComputedStyle(document.body).backgroundColor")
    level = int(re.findall(r"\d+", ground)[0])
    assert (level > 200) == (theme == "Light")


def test_the_parts_of_a_chat_have_names(signed_in: Callable[..., Page]) -> None:
    page = signed_in()
    send(page, "say: Named.")
    wait_until_done(page)
    expect(page.locator("body")).to_match_aria_snapshot(
        """
        - complementary "Conversations":
          - navigation "Main":
            - link "New chat"
            - button "Search"
            - link "Inbox"
            - link "Agents"
          - navigation "Your conversations":
            - heading "Today"
        - banner:
          - 'heading "say: Named."'
        - main:
          - region "Messages":
            - article:
              - heading "You asked"
              - button "Copy message"
              - button "Edit message"
              - heading "Kaizen"
              - paragraph: Named.
              - button "Copy answer"
              - button "Try again"
          - textbox "Message"
          - button /Choose who answers/
          - button "Send"
        """
    )


def test_an_unreachable_server_has_a_page_of_its_own(signed_in: Callable[..., Page]) -> None:
    page = signed_in(service_workers="allow")
    page.evaluate("navigator.serviceWorker.ready.then(() => true)")
    page.context.set_offline(True)
    page.goto("/account")
    expect(page.get_by_role("heading", name="Kaizen cannot be reached")).to_be_visible()
    page.context.set_offline(False)
    page.get_by_role("link", name="Try again").click()
    expect(page.get_by_role("heading", name="Account")).to_be_visible()
