"""The sign that something is being done stays until it is done."""

import secrets
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.conftest import said, send, wait_until_done
from tests.stack import Stack

WATCH = """() => {
  window.wentAway = 0;
  const look = () => {
    const sign = document.querySelector(".turn .activity");
    if (sign) { window.seen = true; if (sign.hidden) window.wentAway += 1; }
    else if (window.seen) window.wentAway += 1;
  };
  new MutationObserver(look).observe(document.body,
    { subtree: true, childList: true, attributes: true });
}"""


@pytest.mark.req("STR-004")
def test_calls_and_results_between_texts_do_not_take_the_sign_away(
    signed_in: Callable[..., Page], stack: Stack
) -> None:
    page, gate = signed_in(), secrets.token_hex(4)
    page.evaluate(WATCH)
    send(
        page,
        "think: Hm.\nsay: Looking.\n"
        f'call: search_about {{"question": "limits"}}\nthen:\nhold: {gate}\nsay: So.',
    )
    expect(said(page, "Looking.")).to_be_visible()
    expect(page.locator(".turn .tool, .turn details").first).to_be_visible()
    sign = page.locator(".turn .activity")
    expect(sign).to_be_visible()
    assert page.evaluate("[window.seen, window.wentAway]") == [True, 0]
    stack.release(gate)
    wait_until_done(page)
    expect(sign).to_be_hidden()
