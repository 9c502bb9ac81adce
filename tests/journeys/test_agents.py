"""The library of agents, what of each may be seen, sharing, and asking an agent that searches."""

import re
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from agents.definitions.sharing import Right
from agents.members import roles
from tests.journeys.agents import PERSONA, asked, changed, made, shared
from tests.journeys.artifacts import kept
from tests.journeys.conftest import said, wait_until_done
from tests.stack import Person, Stack


@pytest.mark.req("BUN-003", "AGT-010")
@pytest.mark.parametrize("width", [1200, 360])
def test_cards_show_what_an_agent_is_and_where_it_comes_from(
    signed_in: Callable[..., Page], person: Callable[..., Person], width: int
) -> None:
    alice, bob = person("alice"), person("bob")
    made(
        alice,
        "Ferry planner",
        capability_ceiling="write",
        posture={"tools": ["artifacts"]},
        collection_ids=["harbours", "tides"],
        prompt_ids=["weekly"],
    )
    made(alice, "Harbour finder", mode="search")
    shared(bob, made(bob, "Reviewer", description="Reads drafts."), alice, Right.USE)
    page = signed_in(alice, viewport={"width": width, "height": 800})
    page.goto("/agents")
    cards = page.get_by_role("list", name="Agents").get_by_role("listitem")
    expect(cards.first).to_contain_text("Kaizen")
    for words in ("Included · version", "For all members", "Artifacts", "0\u00a0packages"):
        expect(cards.first).to_contain_text(words)
    own = cards.filter(has_text="Ferry planner")
    for words in (
        "Yours · version 1",
        "Only you",
        "Artifacts",
        "2\u00a0collections",
        "1\u00a0prompt",
    ):
        expect(own).to_contain_text(words)
    theirs = cards.filter(has_text="Reviewer")
    for words in ("By Bob", "Shared with you", "Reads drafts.", "none of its own"):
        expect(theirs).to_contain_text(words)
    assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")

    page.get_by_label("Kind").select_option("search")
    page.get_by_role("button", name="Search", exact=True).last.click()
    expect(cards).to_have_count(1)
    expect(cards.first).to_contain_text("Harbour finder")
    page.goto("/agents?owner=shared&q=drafts")
    expect(cards).to_have_count(1)
    expect(cards.first).to_contain_text("Reviewer")
    page.goto("/agents?q=nothing-like-this")
    expect(page.get_by_text("No agent is like this.")).to_be_visible()


@pytest.mark.req("BUN-004", "AGT-014")
def test_protected_and_merely_usable_agents_are_shown_and_not_edited(
    signed_in: Callable[..., Page], person: Callable[..., Person]
) -> None:
    alice, bob = person("alice"), person("bob")
    reviewer = made(bob, "Reviewer")
    shared(bob, reviewer, alice, Right.USE)
    page = signed_in(alice)
    page.goto(f"/agents/{reviewer}")
    expect(page.get_by_text("You may use this agent.")).to_be_visible()
    expect(page.get_by_role("button", name="Save")).to_have_count(0)
    assert "Name the harbour" not in page.content()
    expect(page.get_by_role("link", name="Versions")).to_have_count(0)
    expect(page.get_by_role("button", name="Share")).to_have_count(0)

    page.goto("/agents")
    page.get_by_role("link", name="Kaizen", exact=True).last.click()
    expect(page.get_by_text("This agent comes with Kaizen and is protected")).to_be_visible()
    expect(page.get_by_role("region", name="Instructions").first).to_contain_text("You are Kaizen")
    page.get_by_role("button", name="More actions").click()
    expect(page.get_by_role("menuitem", name="Delete")).to_have_count(0)
    page.get_by_role("menuitem", name="Duplicate").press("Enter")
    expect(page.get_by_role("textbox", name="Name")).to_have_value("Kaizen")
    expect(page.get_by_text("Yours · version 1")).to_be_visible()


@pytest.mark.req("AGT-013", "AGT-014")
def test_an_agent_is_shared_with_a_person_by_keyboard_and_taken_back(
    signed_in: Callable[..., Page], person: Callable[..., Person], stack: Stack
) -> None:
    alice, bob = person("alice"), person("bob")
    planner = made(alice, "Ferry planner")
    page = signed_in(alice)
    page.goto(f"/agents/{planner}")
    page.get_by_role("button", name="Share").press("Enter")
    dialog = page.get_by_role("dialog", name="Share Ferry planner")
    expect(dialog.get_by_text("Shared with nobody yet.")).to_be_visible()
    expect(dialog.get_by_role("checkbox")).to_have_count(0)
    field = dialog.get_by_role("combobox", name="Add people or groups")
    field.fill(bob.username)
    expect(dialog.get_by_role("option", name=re.compile("Bob"))).to_have_attribute(
        "aria-selected", "true"
    )
    field.press("Enter")
    dialog.get_by_label("What Bob may do").select_option("use duplicate")
    dialog.get_by_role("button", name="Save").press("Enter")
    expect(page.get_by_text("Sharing is saved")).to_be_visible()
    shares = asked(stack, alice, f"agents/{planner}/shares")["shares"]
    assert [(share["member"]["name"], share["rights"]) for share in shares] == [
        ("Bob", ["use", "duplicate"])
    ]
    assert asked(stack, bob, f"agents/{planner}")["content"]["persona"] == PERSONA

    page.get_by_role("button", name="Share").click()
    dialog.get_by_role("button", name="Remove Bob").click()
    dialog.get_by_role("button", name="Save").click()
    expect(dialog).to_be_hidden()
    assert asked(stack, alice, f"agents/{planner}/shares")["shares"] == []


@pytest.mark.req("AGT-013")
def test_an_administrator_opens_an_agent_to_all_members(
    signed_in: Callable[..., Page], person: Callable[..., Person], stack: Stack
) -> None:
    ada, bob = person("ada", roles.ADMINISTRATOR), person("bob")
    planner = made(ada, "Ferry planner")
    page = signed_in(ada)
    page.goto(f"/agents/{planner}")
    page.get_by_role("button", name="Share").click()
    page.get_by_label("All members may use it").check()
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_text("Sharing is saved")).to_be_visible()
    assert asked(stack, bob, f"agents/{planner}")["sharing"] == "everyone"
    page.get_by_role("button", name="Share").click()
    page.get_by_label("All members may use it").uncheck()
    page.get_by_role("dialog").get_by_role("button", name="Save").click()
    expect(page.get_by_role("dialog")).to_have_count(0)
    assert asked(stack, ada, f"agents/{planner}")["sharing"] == "private"


def test_an_agent_is_deleted_only_after_a_question(
    signed_in: Callable[..., Page], person: Callable[..., Person]
) -> None:
    alice = person("alice")
    planner = made(alice, "Ferry planner")
    page = signed_in(alice)
    page.goto(f"/agents/{planner}")

    def ask() -> None:
        page.get_by_role("button", name="More actions").click()
        page.get_by_role("menuitem", name="Delete").click()

    ask()
    question = page.get_by_role("dialog", name="Delete Ferry planner?")
    expect(question.get_by_role("button", name="Keep it")).to_be_focused()
    page.keyboard.press("Enter")
    expect(question).to_be_hidden()
    ask()
    question.get_by_role("button", name="Delete").click()
    expect(page.get_by_text("The agent is deleted.")).to_be_visible()
    expect(page.get_by_role("link", name="Ferry planner")).to_have_count(0)


@pytest.mark.req("AGT-010")
def test_pickers_offer_agents_of_their_own_mode_with_what_they_are(
    signed_in: Callable[..., Page], person: Callable[..., Person]
) -> None:
    alice = person("alice")
    planner = made(
        alice, "Ferry planner", capability_ceiling="write", posture={"tools": ["artifacts"]}
    )
    changed(alice, planner, 1, description="Plans every crossing.")
    made(alice, "Harbour finder", mode="search")
    page = signed_in(alice)
    page.get_by_role("button", name="Choose who answers").click()
    option = page.get_by_role("menuitemradio", name=re.compile("^F? ?Ferry planner"))
    for words in ("Plans every crossing.", "Only you", "version 2", "Artifacts"):
        expect(option).to_contain_text(words)
    expect(page.get_by_role("menuitemradio", name=re.compile("Harbour finder"))).to_have_count(0)
    page.goto("/ask")
    page.get_by_role("button", name="Choose who answers").click()
    expect(page.get_by_role("menuitemradio")).to_have_count(1)
    expect(page.get_by_role("menuitemradio")).to_contain_text("Harbour finder")


@pytest.mark.req("AGT-010")
def test_a_search_agent_answers_one_question_a_turn_and_is_not_steered(
    signed_in: Callable[..., Page], person: Callable[..., Person], stack: Stack
) -> None:
    alice = person("alice")
    made(alice, "Harbour finder", mode="search")
    page = signed_in(alice)
    page.goto("/agents")
    page.get_by_role("link", name="Ask Harbour finder").click()
    field = page.get_by_role("textbox", name="Question")
    field.fill("hold: berth\nsay: Berth four.")
    field.press("Enter")
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    field.fill("say: Another.")
    expect(page.get_by_role("button", name="Steer", exact=True)).to_be_hidden()
    expect(page.get_by_role("button", name="Queue", exact=True)).to_be_hidden()
    field.press("Enter")
    expect(field).to_have_value("say: Another.")
    stack.release("berth")
    expect(said(page, "Berth four.")).to_be_visible()
    wait_until_done(page)
    field.press("Enter")
    expect(said(page, "Another.")).to_be_visible()
    page.reload()
    expect(page.get_by_role("textbox", name="Question")).to_be_visible()
    expect(said(page, "Berth four.")).to_be_visible()


@pytest.mark.req("AGT-010", "UIX-001")
def test_what_a_search_agent_found_stands_open_beside_its_answer(
    signed_in: Callable[..., Page], person: Callable[..., Person]
) -> None:
    alice = person("alice")
    register = kept(alice, "Harbour register", "Berth four is free.").artifact_id
    finder = made(alice, "Harbour finder", mode="search", posture={"tools": ["artifacts"]})
    page = signed_in(alice)
    page.goto(f"/ask?agent={finder}")
    field = page.get_by_role("textbox", name="Question")
    field.fill(f'call: read_artifact {{"artifact_id": "{register}"}}\nthen:\nsay: Four.')
    field.press("Enter")
    expect(said(page, "Four.")).to_be_visible()
    sources = page.get_by_role("region", name="Returned")
    expect(sources).to_be_visible()
    expect(sources).to_contain_text("Harbour register")
