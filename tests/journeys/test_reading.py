"""What an answer looks like, and what text in it can never do."""

import json
from collections.abc import Callable

import pytest
from playwright.sync_api import Page, expect

from tests.journeys.conftest import said, send, wait_until_done

HOSTILE = """<script>window.owned = 1</script>

<img src=x onerror="window.owned = 2">

![pixel](https://outside.example/pixel.png) ![ref][r]

[click](javascript:window.owned=3) [away](https://outside.example/page)

<iframe src="https://outside.example/"></iframe>

| a |
|---|
| <svg onload="window.owned = 4"> |

```html
<script>window.owned = 5</script>
```

[r]: https://outside.example/ref.png
"""


@pytest.mark.req("UIX-005")
def test_model_text_runs_nothing_and_fetches_nothing(signed_in: Callable[..., Page]) -> None:
    page = signed_in()
    outside: list[str] = []
    page.on("request", lambda sent: outside.append(sent.url) if "outside" in sent.url else None)
    send(page, "say: " + json.dumps(HOSTILE))
    wait_until_done(page)
    link = page.get_by_role("link", name="away (opens in a new tab)")
    expect(link).to_have_attribute("rel", "noopener noreferrer nofollow")
    expect(page.locator(".prose :is(img, script, iframe, svg[onload])")).to_have_count(0)
    page.reload()
    expect(link).to_be_visible()
    assert page.evaluate("window.owned") is None
    assert outside == []


PLAN = {"title": "Ferry plan", "kind": "markdown", "content": "# Ferry\n\nNine *crossings*."}
CANVAS = {"title": "Timetable", "markdown": "| from | at |\n|---|---|\n| North | **9:10** |"}


@pytest.mark.req("UIX-001")
def test_a_turn_shows_all_it_was_made_of(signed_in: Callable[..., Page]) -> None:
    page = signed_in()
    send(
        page,
        "think: First the timetable.\n"
        f"call: show_chat_canvas {json.dumps(CANVAS)}\nthen:\n"
        f"call: create_artifact {json.dumps(PLAN)}\nthen:\n"
        "say: " + json.dumps("Kept, after the harbour's list[^1].\n\n[^1]: Harbour list, page 2."),
    )
    expect(page.locator(".fold summary")).to_have_text("Thoughts")
    canvas = page.get_by_role("region", name="Timetable")
    expect(canvas.get_by_role("cell", name="9:10")).to_be_visible()
    expect(page.locator(".tool .state").last).to_contain_text("Done")
    expect(page.get_by_role("button", name="Open: Ferry plan")).to_be_visible()
    wait_until_done(page)
    page.get_by_role("button", name="Note 1").click()
    expect(page.locator(".note-text")).to_be_focused()
    page.reload()
    expect(canvas.get_by_role("cell", name="9:10")).to_be_visible()
    expect(page.get_by_role("button", name="Open: Ferry plan")).to_be_visible()


def test_mathematics_is_set_with_our_own_fonts(signed_in: Callable[..., Page]) -> None:
    page = signed_in()
    fetched: list[str] = []
    page.on("request", lambda sent: fetched.append(sent.url))
    send(page, "say: " + json.dumps("No formula."))
    wait_until_done(page)
    assert not any("math" in url for url in fetched), "it is loaded before it is needed"
    send(page, "say: " + json.dumps("So $x^2$ and\n\n$$\n\\sum_i i\n$$\n\nand $\\frac{1$."))
    wait_until_done(page)
    expect(page.locator(".math[data-state=set]")).to_have_count(2)
    expect(page.locator(".math[data-state=plain]")).to_have_text("\\frac{1")
    page.wait_for_function(
        "[...document.fonts].some(f => /KaTeX/.test(f.family) && f.status === 'loaded')"
    )
    fonts = [url for url in fetched if url.endswith(".woff2") and "KaTeX" in url]
    assert fonts
    assert all("/static/build/fonts/" in url for url in fonts)


def test_a_wide_table_scrolls_inside_the_answer_on_a_phone(
    signed_in: Callable[..., Page],
) -> None:
    page = signed_in(viewport={"width": 360, "height": 740})
    wide = "| " + " | ".join(f"column {n}" for n in range(12)) + " |\n" + "|---" * 12 + "|\n"
    formula = "$$" + " + ".join(f"x_{{{n}}}" for n in range(40)) + "$$"
    send(page, "say: " + json.dumps(f"{wide}\n\n{formula}\n\n![a](https://outside.example/a.png)"))
    wait_until_done(page)
    expect(page.locator(".math[data-state=set]")).to_be_visible()
    scrolls = "it => it.scrollWidth > it.clientWidth"
    assert page.locator(".table-frame").evaluate(scrolls)
    assert page.locator(".math").evaluate(scrolls)
    assert page.evaluate("document.documentElement.scrollWidth <= 360")


def test_thinking_is_folded_away_from_the_answer(signed_in: Callable[..., Page]) -> None:
    page = signed_in()
    send(page, "think: Seven times six.\nsay: It is 42.")
    expect(said(page, "It is 42.")).to_be_visible()
    wait_until_done(page)
    thought = page.get_by_text("Seven times six.", exact=True)
    expect(thought).to_be_hidden()
    page.get_by_text("Thoughts").click()
    expect(thought).to_be_visible()


def test_tool_calls_fold_into_one_group(signed_in: Callable[..., Page]) -> None:
    page = signed_in()
    send(
        page,
        "call: list_available_agents {}\ncall: search_about {}\nthen:\nsay: Two looks taken.",
    )
    expect(said(page, "Two looks taken.")).to_be_visible()
    group = page.locator(".tools")
    expect(group).to_have_count(1)
    group.get_by_text("2 tool calls").click()
    cards = group.locator(".tools-list > .tool")
    expect(cards).to_have_count(2)
    expect(cards.locator(".tool-detail")).to_have_count(2)
    cards.first.locator("summary").click()
    expect(cards.first.get_by_role("heading", name="Sent")).to_be_visible()


def test_code_can_be_wrapped_and_says_its_language(signed_in: Callable[..., Page]) -> None:
    page = signed_in()
    send(page, "say: " + json.dumps("```python\nx = 1\n```\n\nThat was code."))
    wait_until_done(page)
    expect(page.locator(".code-head span")).to_have_text("python")
    expect(page.locator(".hljs-number")).to_have_text("1")
    wrap = page.get_by_role("button", name="Wrap lines")
    wrap.click()
    expect(wrap).to_have_attribute("aria-pressed", "true")


def test_a_settled_answer_is_spoken_once(signed_in: Callable[..., Page]) -> None:
    page = signed_in()
    page.evaluate(
        """() => {
          window.spoken = [];
          const live = document.getElementById("live");
          new MutationObserver(() => window.spoken.push(live.textContent))
            .observe(live, { childList: true, characterData: true, subtree: true });
        }"""
    )
    send(page, "pace: 40/s\nsay: Four short words here.")
    expect(said(page, "Four short words here.")).to_be_visible()
    wait_until_done(page)
    page.wait_for_function("window.spoken.length > 0")
    assert page.evaluate("window.spoken") == ["Four short words here."]
