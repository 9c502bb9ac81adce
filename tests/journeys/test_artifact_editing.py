"""Writing on an artifact: saving, both at once, leaving, and going back to what was."""

import json
import re
from collections.abc import Callable

import pytest
from guardian.shortcuts import assign_perm
from playwright.sync_api import Page, expect

from tests.journeys.artifacts import PLAN, changed, editor, keep_in_chat, kept, panel, stored, tab
from tests.journeys.conftest import send, wait_until_done
from tests.stack import Person, Stack

SAVED = "Saved as version"


def open_source(page: Page, artifact_id: object) -> None:
    """The page of an artifact, at its source, with the cursor at the end."""
    page.goto(f"/artifacts/{artifact_id}")
    tab(page, "Source").click()
    editor(page).click()
    page.keyboard.press("Control+End")


def test_control_s_appends_a_version(
    signed_in: Callable[..., Page], person: Callable[..., Person], stack: Stack
) -> None:
    alice = person("alice")
    root = kept(alice, "Ferry plan", PLAN).artifact_id
    page = signed_in(alice)
    open_source(page, root)
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    page.keyboard.type("- Paint the boat")
    expect(tab(page, "Source")).to_have_accessible_name("Source , Unsaved changes")
    page.keyboard.press("Control+s")
    expect(page.get_by_text(f"{SAVED} 2")).to_be_visible()
    expect(page.get_by_role("button", name="Save")).to_be_disabled()
    assert stored(stack, alice, root) == (2, f"{PLAN}- Paint the boat")
    tab(page, "Preview").click()
    expect(panel(page).get_by_role("listitem").filter(has_text="Paint the boat")).to_be_visible()


def test_unsaved_text_is_previewed_and_not_lost_by_mistake(
    signed_in: Callable[..., Page], person: Callable[..., Person], stack: Stack
) -> None:
    alice = person("alice")
    root = kept(alice, "Ferry plan", PLAN).artifact_id
    page = signed_in(alice)
    open_source(page, root)
    page.keyboard.type("- Paint the boat")
    tab(page, "Preview").click()
    expect(panel(page).get_by_text("Shows your unsaved changes.")).to_be_visible()
    tab(page, "Preview").press("Escape")
    question = page.get_by_role("dialog", name="Discard your unsaved changes?")
    expect(question).to_be_visible()
    page.keyboard.press("Escape")
    expect(question).to_have_count(0)
    tab(page, "Source").click()
    expect(editor(page)).to_contain_text("Paint the boat")
    page.get_by_role("button", name="Discard changes").click()
    expect(editor(page)).not_to_contain_text("Paint the boat")
    assert stored(stack, alice, root) == (1, PLAN)


def test_changes_of_two_people_in_different_places_come_together(
    signed_in: Callable[..., Page], person: Callable[..., Person], stack: Stack
) -> None:
    alice, bob = person("alice"), person("bob")
    version = kept(alice, "Ferry plan", PLAN)
    assign_perm("edit_artifact", bob.member, version.artifact)
    page = signed_in(alice)
    open_source(page, version.artifact_id)
    page.keyboard.type("Paint the boat.")
    changed(bob, version.artifact_id, PLAN.replace("40 minutes", "an hour"), 1)
    page.keyboard.press("Control+s")
    expect(page.get_by_text("Bob saved version 2 while you were writing.")).to_be_visible()
    expect(editor(page)).to_contain_text("an hour")
    page.get_by_role("button", name="Save as version 3").click()
    expect(page.get_by_text(f"{SAVED} 3")).to_be_visible()
    merged = f"{PLAN.replace('40 minutes', 'an hour')}Paint the boat."
    assert stored(stack, alice, version.artifact_id) == (3, merged)


@pytest.mark.req("ART-006")
def test_a_line_that_both_changed_is_decided_by_whoever_saves_last(
    signed_in: Callable[..., Page], person: Callable[..., Person], stack: Stack
) -> None:
    alice, bob = person("alice"), person("bob")
    version = kept(alice, "Ferry plan", "one\ntwo\nthree\n")
    assign_perm("edit_artifact", bob.member, version.artifact)
    page = signed_in(alice)
    open_source(page, version.artifact_id)
    page.keyboard.press("Control+Home")
    page.keyboard.press("End")
    page.keyboard.type(" mine")
    theirs = "one theirs\ntwo\nthree\n"
    changed(bob, version.artifact_id, theirs, 1)
    page.keyboard.press("Control+s")
    expect(page.get_by_text("1 place was changed by both.")).to_be_visible()
    assert stored(stack, alice, version.artifact_id) == (2, theirs)
    page.get_by_role("button", name="Take theirs").press("Enter")
    expect(editor(page)).to_contain_text("one theirs")
    expect(editor(page)).not_to_contain_text("mine")
    expect(page.get_by_role("button", name="Save")).to_be_disabled()


def test_what_an_agent_saves_meanwhile_leaves_unsaved_text_alone(
    signed_in: Callable[..., Page],
) -> None:
    page = signed_in()
    keep_in_chat(page)
    page.get_by_role("button", name="Open: Ferry plan").click()
    tab(page, "Source").click()
    editor(page).click()
    page.keyboard.press("Control+End")
    page.keyboard.type("Mine.")
    artifact = page.url.split("#artifact=")[1]
    content = json.dumps(PLAN.replace("40 minutes", "an hour"))
    call = f'{{"artifact_id": "{artifact}", "expected_version": 1, "content": {content}}}'
    send(page, f"call: update_artifact {call}\nthen:\nsay: Changed.")
    expect(page.get_by_text("Version 2 was saved meanwhile.")).to_be_visible()
    expect(editor(page)).to_contain_text("Mine.")
    expect(editor(page)).not_to_contain_text("an hour")
    wait_until_done(page)
    page.get_by_role("button", name="Save as version 3").click()
    expect(page.get_by_text("Both changes are in the text below.")).to_be_visible()
    expect(editor(page)).to_contain_text("an hour")
    expect(editor(page)).to_contain_text("Mine.")
    page.get_by_role("button", name="Save as version 3").click()
    expect(page.get_by_text(f"{SAVED} 3")).to_be_visible()


def test_versions_are_looked_at_compared_restored_and_downloaded(
    signed_in: Callable[..., Page], person: Callable[..., Person], stack: Stack
) -> None:
    alice, bob = person("alice"), person("bob")
    version = kept(alice, "Ferry plan", "fast\nsame\n")
    assign_perm("edit_artifact", bob.member, version.artifact)
    changed(bob, version.artifact_id, "slow\nsame\n", 1)
    page = signed_in(alice)
    page.goto(f"/artifacts/{version.artifact_id}")
    tab(page, "History").click()
    rows = page.get_by_role("list", name="Versions, newest first").get_by_role("listitem")
    expect(rows).to_have_count(2)
    expect(rows.first).to_contain_text("Bob")
    expect(rows.last).to_contain_text("Alice")

    page.get_by_role("button", name="Compare version 1").click()
    page.get_by_role("button", name="Compare version 2").click()
    difference = page.get_by_role("region", name="Compare")
    expect(difference.locator("[data-op='-']")).to_have_text("Removed: fast")
    expect(difference.locator("[data-op='+']")).to_have_text("Added: slow")
    page.get_by_role("button", name="Back to the versions").click()

    with page.expect_download() as download:
        page.get_by_role("link", name="Download version 1").click()
    assert download.value.path().read_text() == "fast\nsame\n"

    page.get_by_role("button", name="Look at version 1").click()
    expect(page.get_by_text("You are looking at version 1 of 2.")).to_be_visible()
    expect(panel(page).locator(".preview")).to_contain_text("fast")
    page.get_by_role("button", name="Restore", exact=True).click()
    expect(page.get_by_text("Version 1 is back, as version 3")).to_be_visible()
    assert stored(stack, alice, version.artifact_id) == (3, "fast\nsame\n")
    expect(page.get_by_text("You are looking at")).to_have_count(0)


@pytest.mark.req("ART-007")
def test_people_who_may_only_read_see_everything_and_change_nothing(
    signed_in: Callable[..., Page], person: Callable[..., Person]
) -> None:
    alice, bob = person("alice"), person("bob")
    version = kept(alice, "Ferry plan", PLAN)
    changed(alice, version.artifact_id, f"{PLAN}more\n", 1)
    assign_perm("view_shared_artifact", bob.member, version.artifact)
    page = signed_in(bob)
    page.goto(f"/artifacts/{version.artifact_id}")
    tab(page, "Source").click()
    expect(page.get_by_text("You may read this, not change it.")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Save"))).to_have_count(0)
    tab(page, "History").click()
    expect(page.get_by_role("button", name="Look at version 1")).to_be_visible()
    expect(page.get_by_role("button", name=re.compile("^Restore"))).to_have_count(0)
