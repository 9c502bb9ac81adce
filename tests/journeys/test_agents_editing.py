"""The studio: making, changing and trying an agent, versions, and two who write at once."""

import re
from collections.abc import Callable
from uuid import UUID

import pytest
from playwright.sync_api import Page, expect

from agents.definitions.sharing import Right
from agents.turns.models import Turn
from tests.journeys.agents import PERSONA, changed, made, shared, stored, trial
from tests.stack import Person, Stack


def instructions(page: Page) -> None:
    """Write one line more at the end of the instructions."""
    field = page.get_by_role("textbox", name="Instructions")
    field.press("Control+End")
    field.press_sequentially("- Mine.")


@pytest.mark.req("AGT-005")
@pytest.mark.parametrize("width", [1200, 360])
def test_an_agent_is_made_and_changed_by_keyboard(
    signed_in: Callable[..., Page], person: Callable[..., Person], stack: Stack, width: int
) -> None:
    alice = person("alice")
    page = signed_in(alice, viewport={"width": width, "height": 800})
    page.goto("/agents")
    page.get_by_role("link", name="New agent").press("Enter")
    create = page.get_by_role("button", name="Create")
    expect(create).to_be_enabled()  # a press before the page is ready would be lost
    create.press("Enter")
    expect(page.get_by_role("textbox", name="Name")).to_be_focused()
    expect(page.get_by_role("textbox", name="Name")).to_have_accessible_description(
        "Please fill this in."
    )
    page.keyboard.type("Ferry planner")
    page.get_by_role("textbox", name="Purpose").fill("Plans crossings.")
    page.get_by_role("textbox", name="Instructions").fill(PERSONA)
    page.get_by_role("checkbox", name="Long artifacts").press("Space")
    page.get_by_label("Effort").select_option("high")
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Yours · version 1")).to_be_visible()
    agent_id = UUID(page.url.rsplit("/", 1)[1])
    version, content = stored(stack, alice, agent_id)
    assert version == 1
    assert content["posture"] == {"tools": ["artifacts", "artifacts_staged"], "effort": "high"}
    assert (content["name"], content["persona"]) == ("Ferry planner", PERSONA)
    expect(page.get_by_role("button", name="Save", exact=True)).to_be_disabled()

    page.get_by_role("checkbox", name="Long artifacts").press("Space")
    page.get_by_role("radio", name="Search").press("Space")
    page.get_by_label("What its tools may do").select_option("read")
    expect(page.get_by_text("Unsaved changes")).to_be_visible()
    page.get_by_role("button", name="Save", exact=True).press("Enter")
    expect(page.get_by_text("Saved as version 2")).to_be_visible()
    expect(page.get_by_text("Yours · version 2")).to_be_visible()
    version, content = stored(stack, alice, agent_id)
    assert (version, content["mode"], content["capability_ceiling"]) == (2, "search", "read")
    assert content["posture"]["tools"] == ["artifacts"]
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")


def test_a_name_that_is_taken_is_said_beside_the_name(
    signed_in: Callable[..., Page], person: Callable[..., Person]
) -> None:
    alice = person("alice")
    made(alice, "Ferry planner")
    page = signed_in(alice)
    page.goto("/agents/new")
    page.get_by_role("textbox", name="Name").fill("Ferry planner")
    page.get_by_role("textbox", name="Instructions").fill("Help.")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_text("You have another agent of this name.")).to_be_visible()
    page.get_by_role("textbox", name="Name").fill("Ferry planner, too")
    page.get_by_role("button", name="Create").click()
    expect(page.get_by_text("Yours · version 1")).to_be_visible()


def test_unsaved_changes_are_not_lost_by_following_a_link_or_reloading(
    signed_in: Callable[..., Page], person: Callable[..., Person], stack: Stack
) -> None:
    alice = person("alice")
    planner = made(alice, "Ferry planner")
    page = signed_in(alice)
    page.goto(f"/agents/{planner}")
    instructions(page)
    page.get_by_role("link", name="Inbox").click()
    question = page.get_by_role("dialog", name="Discard your unsaved changes?")
    expect(question).to_be_visible()
    page.keyboard.press("Escape")
    expect(question).to_have_count(0)
    expect(page.get_by_role("textbox", name="Instructions")).to_have_value(f"{PERSONA}- Mine.")

    with page.expect_event("dialog") as asked:
        page.evaluate("setTimeout(() => location.reload())")
    assert asked.value.type == "beforeunload"
    asked.value.dismiss()
    expect(page.get_by_role("textbox", name="Instructions")).to_have_value(f"{PERSONA}- Mine.")
    page.get_by_role("link", name="Inbox").click()
    question.get_by_role("button", name="Discard changes").click()
    page.wait_for_url("**/inbox")
    assert stored(stack, alice, planner)[0] == 1


@pytest.mark.req("AGT-007")
def test_the_test_chat_is_answered_by_the_newest_saved_version(
    signed_in: Callable[..., Page], person: Callable[..., Person]
) -> None:
    alice = person("alice")
    planner = made(alice, "Ferry planner")
    page = signed_in(alice)
    page.goto(f"/agents/{planner}")
    field = trial(page).get_by_role("textbox", name="Message")
    field.fill("say: From the first.")
    field.press("Enter")
    expect(trial(page).locator(".prose").get_by_text("From the first.", exact=True)).to_be_visible()
    expect(page.get_by_text("Answers as version 1")).to_be_visible()
    instructions(page)
    expect(page.get_by_text("Your changes are not saved.")).to_be_visible()
    page.get_by_role("button", name="Save and try").click()
    expect(page.get_by_text("Answers as version 2")).to_be_visible()
    field.fill("say: From the second.")
    field.press("Enter")
    expect(
        trial(page).locator(".prose").get_by_text("From the second.", exact=True)
    ).to_be_visible()
    used = Turn.objects.filter(agent_version__agent=planner).order_by("agent_version__number")
    assert list(used.values_list("agent_version__number", flat=True)) == [1, 2]
    assert page.url.endswith(f"/agents/{planner}")


@pytest.mark.req("AGT-006")
def test_versions_are_compared_word_by_word_restored_and_rolled_back(
    signed_in: Callable[..., Page], person: Callable[..., Person], stack: Stack
) -> None:
    alice, bob = person("alice"), person("bob")
    planner = made(alice, "Ferry planner")
    shared(alice, planner, bob, Right.EDIT)
    changed(bob, planner, 1, persona=PERSONA.replace("the berth", "the captain"))
    changed(alice, planner, 2, capability_ceiling="write")
    page = signed_in(alice)
    page.goto(f"/agents/{planner}")
    page.get_by_role("link", name="Versions").click()
    rows = page.get_by_role("list", name="Versions, newest first").get_by_role("listitem")
    expect(rows).to_have_count(3)
    expect(rows.nth(1)).to_contain_text("Bob")
    expect(rows.nth(2)).to_contain_text("Alice")
    page.get_by_label("Compare version").fill("1")
    page.get_by_label("with version").fill("3")
    page.get_by_role("button", name="Compare").press("Enter")
    difference = page.get_by_role("region", name="Version 1 to version 3")
    expect(difference.locator("del")).to_have_text(["removed: Read only", "removed: berth"])
    expect(difference.locator("ins")).to_have_text(["added: Read and write", "added: captain"])
    signs = "node => getComputedStyle(node, '::before').content"
    assert "+" in difference.locator("ins").last.evaluate(signs)
    assert "−" in difference.locator("del").last.evaluate(signs)

    page.get_by_role("button", name="Restore version 1").click()
    expect(page.get_by_text("Version 1 is back, as version 4.")).to_be_visible()
    number, content = stored(stack, alice, planner)
    assert (number, content["persona"], content["capability_ceiling"]) == (4, PERSONA, "read")
    page.get_by_role("button", name="Undo this change").click()
    expect(page.get_by_text("version 3 is back, as version 5")).to_be_visible()
    assert stored(stack, alice, planner)[1]["capability_ceiling"] == "write"


def test_restoring_over_what_another_saved_meanwhile_changes_nothing(
    signed_in: Callable[..., Page], person: Callable[..., Person], stack: Stack
) -> None:
    alice = person("alice")
    planner = made(alice, "Ferry planner")
    changed(alice, planner, 1, description="Second.")
    page = signed_in(alice)
    page.goto(f"/agents/{planner}/versions")
    changed(alice, planner, 2, description="Third.")
    page.get_by_role("button", name="Restore version 1").click()
    expect(page.get_by_text("Somebody saved version 3 meanwhile.")).to_be_visible()
    assert stored(stack, alice, planner)[0] == 3


@pytest.mark.req("AGT-005")
def test_changes_of_two_people_are_shown_and_brought_together(
    signed_in: Callable[..., Page], person: Callable[..., Person], stack: Stack
) -> None:
    alice, bob = person("alice"), person("bob")
    planner = made(alice, "Ferry planner")
    shared(alice, planner, bob, Right.EDIT)
    page = signed_in(alice)
    page.goto(f"/agents/{planner}")
    instructions(page)
    page.get_by_role("textbox", name="Purpose").fill("Mine to plan.")
    theirs = PERSONA.replace("the harbour", "every harbour")
    changed(bob, planner, 1, persona=theirs, description="Theirs to plan.", mode="search")
    page.get_by_role("button", name="Save", exact=True).click()
    conflict = page.get_by_role("region", name="Somebody else saved version 2")
    expect(conflict).to_be_focused()
    expect(conflict.locator("ins").filter(has_text="every")).to_be_visible()
    expect(conflict.get_by_text("Both changes are in the form")).to_be_visible()
    expect(conflict.get_by_text("You both changed this")).to_be_visible()
    assert stored(stack, alice, planner)[0] == 2, "a stale save changes nothing"
    expect(page.get_by_role("textbox", name="Instructions")).to_have_value(f"{theirs}- Mine.")
    expect(page.get_by_role("textbox", name="Purpose")).to_have_value("Mine to plan.")
    conflict.get_by_role("button", name=re.compile("^Take theirs.*Purpose")).press("Enter")
    expect(page.get_by_role("textbox", name="Purpose")).to_have_value("Theirs to plan.")
    page.get_by_role("button", name="Save as version 3").click()
    expect(page.get_by_text("Saved as version 3")).to_be_visible()
    expect(conflict).to_be_hidden()
    number, content = stored(stack, alice, planner)
    assert (number, content["persona"], content["mode"]) == (3, f"{theirs}- Mine.", "search")
    assert content["description"] == "Theirs to plan."


def test_what_another_saved_is_overwritten_only_deliberately(
    signed_in: Callable[..., Page], person: Callable[..., Person], stack: Stack
) -> None:
    alice, bob = person("alice"), person("bob")
    planner = made(alice, "Ferry planner")
    shared(alice, planner, bob, Right.EDIT)
    page = signed_in(alice)
    page.goto(f"/agents/{planner}")
    instructions(page)
    changed(bob, planner, 1, persona="Bob's.", description="Bob's too.")
    page.keyboard.press("Control+s")
    expect(page.get_by_role("textbox", name="Purpose")).to_have_value("Bob's too.")
    page.get_by_role("button", name="Overwrite with all of mine").click()
    expect(page.get_by_role("textbox", name="Purpose")).to_have_value("Plans crossings.")
    assert stored(stack, alice, planner)[0] == 2
    page.get_by_role("button", name="Save as version 3").click()
    expect(page.get_by_text("Saved as version 3")).to_be_visible()
    number, content = stored(stack, alice, planner)
    assert (number, content["persona"]) == (3, f"{PERSONA}- Mine.")
    assert content["description"] == "Plans crossings."
