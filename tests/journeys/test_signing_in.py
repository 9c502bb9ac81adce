"""Signing in and out, in words a person understands."""

import os
from collections.abc import Callable

from playwright.sync_api import Browser, BrowserContext, Page, expect

from tests import browser as chromium
from tests.journeys.conftest import sign_in
from tests.stack import Person, Stack


def test_it_lets_a_member_in_and_out(
    new_context: Callable[..., BrowserContext], person: Callable[..., Person]
) -> None:
    page = new_context().new_page()
    sign_in(page, person("alice"))
    page.get_by_role("button", name="Alice").click()
    page.get_by_role("menuitem", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in to Kaizen")).to_be_visible()
    page.goto("/")
    expect(page.get_by_role("heading", name="Sign in to Kaizen")).to_be_visible()


def test_the_back_button_shows_nothing_of_a_person_who_left(
    browser: Browser, stack: Stack, person: Callable[..., Person]
) -> None:
    path = chromium.find()
    assert path is not None
    # The driver switches off what browsers do: keeping whole pages for the Back button.
    keeping = browser.browser_type.launch(
        executable_path=path,
        args=["--no-sandbox"] if os.geteuid() == 0 else [],
        ignore_default_args=["--disable-back-forward-cache"],
    )
    page = keeping.new_context(base_url=stack.url).new_page()
    sign_in(page, person("alice"))
    page.goto("/conversations")
    page.goto("/account")
    page.get_by_role("button", name="Alice").click()
    page.get_by_role("menuitem", name="Sign out").click()
    expect(page.get_by_role("heading", name="Sign in to Kaizen")).to_be_visible()
    for _ in range(2):
        page.evaluate("history.back()")
        page.wait_for_timeout(500)
        expect(page.get_by_role("heading", name="Sign in to Kaizen")).to_be_visible()
        expect(page.get_by_role("button", name="Alice")).to_have_count(0)
    keeping.close()


def test_it_says_plainly_that_a_password_is_wrong(
    new_context: Callable[..., BrowserContext], person: Callable[..., Person]
) -> None:
    page = new_context().new_page()
    page.goto("/sign-in")
    page.get_by_label("Name").fill(person("alice").username)
    page.get_by_label("Password").fill("not this one")
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("alert")).to_contain_text("do not fit together")


def test_it_returns_to_the_page_that_was_asked_for(
    new_context: Callable[..., BrowserContext], person: Callable[..., Person]
) -> None:
    page = new_context().new_page()
    who = person("alice")
    page.goto("/account")
    page.get_by_label("Name").fill(who.username)
    page.get_by_label("Password").fill(who.password)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("heading", name="Account")).to_be_visible()


def test_it_offers_administration_to_administrators_only(
    signed_in: Callable[..., Page], person: Callable[..., Person]
) -> None:
    member, administrator = signed_in(), signed_in(person("ada", "administrator"))
    member.get_by_role("button", name="Alice").click()
    expect(member.get_by_role("menuitem", name="Account")).to_be_visible()
    expect(member.get_by_role("menuitem", name="Administration")).to_have_count(0)
    administrator.get_by_role("button", name="Ada").click()
    administrator.get_by_role("menuitem", name="Administration").click()
    expect(administrator).to_have_url("/admin/")


def test_it_shows_a_new_access_token_once(signed_in: Callable[..., Page]) -> None:
    page = signed_in()
    page.goto("/account")
    page.get_by_label("Name of the program").fill("backup script")
    page.get_by_role("button", name="Create token").click()
    token = page.locator("#new-token").inner_text()
    assert token.startswith("kz_")
    answered = page.request.get("/api/conversations", headers={"Authorization": f"Bearer {token}"})
    assert answered.status == 200
    page.goto("/account")
    expect(page.locator(".list").get_by_text("backup script").first).to_be_visible()
    assert token not in page.content()
    page.get_by_role("button", name="Revoke backup script").click()
    toast = page.get_by_role("status").get_by_text("opens nothing any more")
    expect(toast).to_be_visible()
