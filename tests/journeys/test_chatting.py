"""Asking, watching the answer come, and what interrupts it."""

import json
import re
import secrets
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, Route, WebSocketRoute, expect

from tests.journeys.conftest import answer, said, send, wait_until_done
from tests.stack import Stack

WORDS = [f"word{number}" for number in range(1, 41)]
SENTENCE = " ".join(WORDS) + "."
FIRST_HALF, SECOND_HALF = f'"{SENTENCE[:140]}"', f'"{SENTENCE[140:]}"'  # quoted: ends in a space
SLOW = f"pace: 25/s\nsay: {SENTENCE}"


def begun(page: Page) -> None:
    """Wait until some of the slow answer is on the page."""
    expect(page.locator(".turn").last.locator(".prose")).to_contain_text("word5")


def test_it_answers_in_a_new_conversation_and_keeps_it(signed_in: Callable[..., Page]) -> None:
    page = signed_in()
    send(page, "say: Good morning, Alice.")
    expect(said(page, "Good morning, Alice.")).to_be_visible()
    wait_until_done(page)
    expect(page).to_have_url(re.compile(r"/c/[0-9a-f-]{36}$"))
    listed = page.get_by_role("navigation", name="Your conversations")
    expect(listed.get_by_role("link", name="say: Good morning, Alice")).to_be_visible()
    page.reload()
    expect(said(page, "Good morning, Alice.")).to_be_visible()
    expect(page.locator(".turn")).to_have_count(1)


def test_it_shows_the_message_and_stop_before_the_server_answers(
    signed_in: Callable[..., Page],
) -> None:
    page = signed_in()
    held: list[Route] = []
    page.route("**/api/conversations", lambda route: held.append(route))
    send(page, "say: Hello.")
    expect(page.locator(".bubble")).to_have_text("say: Hello.")
    expect(page.get_by_text("Sending …")).to_be_visible()
    expect(page.get_by_role("button", name="Stop")).to_be_visible()
    for route in held:
        route.continue_()
    expect(said(page, "Hello.")).to_be_visible()


@pytest.mark.req("STR-002")
def test_it_goes_on_after_a_reload_in_the_middle_of_an_answer(
    signed_in: Callable[..., Page],
) -> None:
    page = signed_in()
    send(page, SLOW)
    begun(page)
    page.reload()
    wait_until_done(page)
    assert answer(page) == SENTENCE


def test_it_goes_on_after_the_connection_broke(signed_in: Callable[..., Page]) -> None:
    page = signed_in()
    sockets: list[WebSocketRoute] = []

    def passing(socket: WebSocketRoute) -> None:
        socket.connect_to_server()
        sockets.append(socket)

    page.route_web_socket(re.compile("/ws/"), passing)
    send(page, SLOW)
    begun(page)
    sockets[-1].close(code=1011, reason="cut by the test")
    wait_until_done(page)
    assert answer(page) == SENTENCE
    assert len(sockets) >= 2
    expect(page.get_by_text("Connection lost")).to_have_count(0)


def test_it_survives_lost_doubled_and_swapped_messages(signed_in: Callable[..., Page]) -> None:
    page = signed_in()

    def unruly(socket: WebSocketRoute) -> None:
        server = socket.connect_to_server()
        seen: list[str | bytes] = []

        def from_server(message: str | bytes) -> None:
            seen.append(message)
            if len(seen) % 5 == 0 and json.loads(message).get("event") == "delta":
                return  # lost
            if len(seen) % 3 == 0:
                socket.send(message)  # doubled
            if len(seen) % 4 == 0:
                socket.send(seen[-2])  # an old one again
            socket.send(message)

        server.on_message(from_server)

    page.route_web_socket(re.compile("/ws/"), unruly)
    send(page, SLOW)
    wait_until_done(page)
    assert answer(page) == SENTENCE


def test_it_shows_the_same_in_a_second_tab(signed_in: Callable[..., Page]) -> None:
    page = signed_in()
    send(page, SLOW)
    begun(page)
    second = page.context.new_page()
    second.goto(page.url)
    begun(second)
    wait_until_done(page)
    wait_until_done(second)
    assert answer(page) == answer(second) == SENTENCE


def test_it_keeps_an_answer_in_the_conversation_it_belongs_to(
    signed_in: Callable[..., Page], stack: Stack
) -> None:
    page = signed_in()
    send(page, "say: First of B.")
    wait_until_done(page)
    other = page.url
    gate = secrets.token_hex(4)
    page.goto("/")
    send(page, f"say: {FIRST_HALF}\nhold: {gate}\nsay: {SECOND_HALF}")
    begun(page)
    first = page.url
    page.goto(other)
    expect(said(page, "First of B.")).to_be_visible()
    running = page.locator(".thread-link:has([data-running])")
    expect(running).to_have_count(1)
    stack.release(gate)
    expect(running).to_have_count(0)
    expect(page.locator(".turn")).to_have_count(1)
    page.goto(first)
    wait_until_done(page)
    assert answer(page) == SENTENCE


def test_stop_keeps_what_was_written(signed_in: Callable[..., Page]) -> None:
    page = signed_in()
    send(page, f"say: {FIRST_HALF}\nhold: {secrets.token_hex(4)}\nsay: {SECOND_HALF}")
    begun(page)
    page.get_by_role("textbox", name="Message").press("Escape")
    expect(page.locator(".ending > span")).to_have_text("Stopped")
    wait_until_done(page)
    kept = answer(page)
    assert kept
    assert SENTENCE.startswith(kept)
    assert kept != SENTENCE
    page.reload()
    expect(page.locator(".ending > span")).to_have_text("Stopped")
    assert answer(page) == kept


def test_it_says_what_went_wrong_and_offers_to_try_again(signed_in: Callable[..., Page]) -> None:
    page = signed_in()
    send(page, "fault: status 400 message no")
    ending = page.locator(".ending.bad")
    expect(ending).to_contain_text("The model refused the request.")
    ending.get_by_role("button", name="Try again").click()
    expect(page.get_by_role("group", name="Version 2 of 2")).to_be_visible()
    expect(page.locator(".turn")).to_have_count(1)


def test_a_lost_reply_makes_no_second_message(signed_in: Callable[..., Page]) -> None:
    page = signed_in()
    posts: list[str] = []

    def lose_first_reply(route: Route) -> None:
        posts.append(route.request.headers["idempotency-key"])
        if len(posts) == 1:
            route.fetch()  # it reaches the server, and nobody hears back
            route.abort()
        else:
            route.continue_()

    page.route("**/inputs", lose_first_reply)
    with page.expect_response("**/inputs"):  # the first try gets none
        send(page, "say: Once.")
    expect(said(page, "Once.")).to_be_visible()
    wait_until_done(page)
    page.reload()
    expect(page.locator(".turn")).to_have_count(1)
    assert len(posts) == 2
    assert len(set(posts)) == 1


def test_an_unsent_message_is_kept_and_can_be_sent(signed_in: Callable[..., Page]) -> None:
    page = signed_in()
    page.route("**/inputs", lambda route: route.abort())
    send(page, "say: At last.")
    note = page.get_by_role("alert")
    expect(note).to_contain_text("Not sent.")
    page.unroute("**/inputs")
    note.get_by_role("button", name="Try again").click()
    expect(said(page, "At last.")).to_be_visible()
    expect(page.locator(".turn")).to_have_count(1)


def test_a_message_after_signing_out_elsewhere_is_kept_and_says_why(
    signed_in: Callable[..., Page],
) -> None:
    page = signed_in()
    page.context.clear_cookies(name="sessionid")
    send(page, "say: Too late.")
    expect(page.get_by_role("alert")).to_contain_text("Not sent. You are signed out.")


def test_a_draft_survives_reload_in_its_own_conversation(signed_in: Callable[..., Page]) -> None:
    page = signed_in()
    send(page, "say: Hello.")
    wait_until_done(page)
    field = page.get_by_role("textbox", name="Message")
    field.fill("half a thought")
    page.reload()
    expect(field).to_have_value("half a thought")
    page.goto("/")
    expect(field).to_have_value("")


def test_it_follows_new_text_only_at_the_end(signed_in: Callable[..., Page]) -> None:
    page = signed_in(viewport={"width": 1000, "height": 500})
    send(page, "pace: 60/s\nsay: " + json.dumps("\n\n".join(f"Line {n}." for n in range(1, 61))))
    thread = page.get_by_role("region", name="Messages")
    lines = page.get_by_text(re.compile(r"^Line \d+\.$"))
    expect(lines.nth(19)).to_be_attached()
    expect(lines.last).to_be_in_viewport()
    thread.hover()
    page.mouse.wheel(0, -600)
    jump = page.get_by_role("button", name="Jump to latest")
    expect(jump).to_be_visible()
    wait_until_done(page)
    expect(page.get_by_text("Line 60.", exact=True)).not_to_be_in_viewport()
    jump.click()
    expect(page.get_by_text("Line 60.", exact=True)).to_be_in_viewport()
    expect(jump).to_be_hidden()
