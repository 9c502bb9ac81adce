"""What previews show, and what a document in one can never do."""

import json
from collections.abc import Callable, Iterator

import pytest
from playwright.sync_api import Browser, Page, expect

from tests.artifacts.envelopes import ferries, kept_for, referring
from tests.journeys.artifacts import GRAPH, kept, panel, tab
from tests.journeys.conftest import PATIENCE_MS, sign_in
from tests.stack import Person, Stack

# Tries everything and writes down what came of it.
PROBE = """<title>probe</title><p id="out">no script</p>
<img src="https://outside.example/pixel.png">
<link rel="stylesheet" href="https://outside.example/style.css">
<script src="https://outside.example/code.js"></script>
<script>
  const found = [origin];
  const tries = {
    cookie: () => document.cookie,
    storage: () => localStorage.length,
    parent: () => parent.document.title,
    top: () => top.document.body.innerHTML,
    frame: () => frameElement.tagName,
  };
  for (const [name, run] of Object.entries(tries)) {
    try { found.push(name + "=" + run()); } catch (fault) { found.push(name + ":" + fault.name); }
  }
  const reach = (url) => fetch(url).then(() => "reached", () => "refused");
  Promise.all([reach("/api/me"), reach("https://outside.example/")]).then((reached) => {
    try { window.open("https://outside.example/"); } catch {}
    try { parent.postMessage({ owned: true }, "*"); } catch {}
    document.getElementById("out").textContent = [...found, ...reached].join(" ");
  });
</script>"""
LEAVING = '<p>stay</p><script>location = "https://outside.example/?gone"</script>'


@pytest.fixture
def tried(browser: Browser, stack: Stack) -> Iterator[Page]:
    """A page whose frames may try to break their own policy, as these documents do."""
    context = browser.new_context(base_url=stack.url, service_workers="block")
    context.set_default_timeout(PATIENCE_MS)
    page = context.new_page()
    yield page
    context.close()


def test_a_graph_is_drawn_and_explored_by_keyboard_with_tables_beside_it(
    signed_in: Callable[..., Page], person: Callable[..., Person]
) -> None:
    alice = person("alice")
    root = kept(alice, "Ferries", json.dumps(GRAPH), "graph").artifact_id
    page = signed_in(alice)
    page.goto(f"/artifacts/{root}")
    drawing = page.get_by_role("group", name="Graph of 3 nodes and 2 connections.")
    expect(drawing.get_by_role("button")).to_have_count(3)
    boat = page.get_by_role("button", name="MS Ann, boat")
    boat.focus()
    page.keyboard.press("Enter")
    expect(boat).to_have_attribute("aria-pressed", "true")
    facts = page.get_by_role("region", name="Facts")
    expect(facts.get_by_text("Berth four.")).to_be_visible()
    facts.get_by_role("button", name="Captain Ada").click()
    expect(facts.get_by_role("heading", name="Captain Ada")).to_be_visible()
    captain = page.get_by_role("button", name="Captain Ada, person")
    expect(captain).to_be_focused()
    space = drawing.locator("> g")
    before = space.get_attribute("transform")
    page.keyboard.press("+")
    assert space.get_attribute("transform") != before
    page.keyboard.press("0")
    assert space.get_attribute("transform") == before
    page.keyboard.press("Escape")
    expect(captain).to_have_attribute("aria-pressed", "false")
    expect(panel(page)).to_be_visible()
    page.get_by_role("button", name="Table", exact=True).click()
    rows = page.get_by_role("region", name="Ferries: Connections").get_by_role("row")
    expect(rows).to_have_count(3)
    expect(rows.nth(1)).to_contain_text("MS Annsails toHarbour Nord")


def test_comma_separated_rows_are_a_table_that_sorts(
    signed_in: Callable[..., Page], person: Callable[..., Person]
) -> None:
    alice = person("alice")
    rows = "boat,seats\nBo,9\nAnn,120\nCleo,\n"
    root = kept(alice, "Boats", rows, "code", "csv").artifact_id
    page = signed_in(alice)
    page.goto(f"/artifacts/{root}")
    names = page.locator(".sheet tbody td:first-child")
    expect(names).to_have_text(["Bo", "Ann", "Cleo"])
    seats = page.get_by_role("columnheader", name="seats")
    seats.get_by_role("button").press("Enter")
    expect(seats).to_have_attribute("aria-sort", "ascending")
    expect(names).to_have_text(["Bo", "Ann", "Cleo"])
    seats.get_by_role("button").press("Enter")
    expect(seats).to_have_attribute("aria-sort", "descending")
    expect(names).to_have_text(["Ann", "Bo", "Cleo"])


@pytest.mark.req("REN-023")
def test_a_renderable_shows_its_marking_table_and_origin_and_only_json_to_read(
    signed_in: Callable[..., Page], person: Callable[..., Person]
) -> None:
    alice = person("alice")
    root = kept_for(alice.member, ferries()).artifact_id
    page = signed_in(alice)
    page.goto(f"/artifacts/{root}")
    banner = panel(page).locator(".panel-banner")
    expect(banner).to_have_text("INTERNAL")
    ships = page.locator(".sheet tbody td:first-child")
    expect(ships).to_have_text(["Otter", "alba", "Berta"])
    page.get_by_role("columnheader", name="Ship").get_by_role("button").click()
    expect(ships).to_have_text(["alba", "Berta", "Otter"])
    expect(panel(page).get_by_text("INTERNAL // CREW")).to_be_visible()
    expect(panel(page).locator(".provenance")).to_contain_text("departures")
    tab(page, "JSON").click()
    expect(page.get_by_role("textbox", name="Source of")).to_contain_text('"download"')
    expect(page.get_by_role("button", name="Save")).to_have_count(0)
    expect(banner).to_be_visible()
    with page.expect_download() as download:
        page.get_by_role("link", name="Download version 1").click()
    assert download.value.suggested_filename == "departures.json"


@pytest.mark.req("REN-010")
def test_a_reference_is_named_beside_the_text_and_never_followed(
    signed_in: Callable[..., Page], person: Callable[..., Person]
) -> None:
    alice = person("alice")
    root = kept_for(alice.member, referring()).artifact_id
    page = signed_in(alice)
    asked: list[str] = []
    page.on("request", lambda sent: asked.append(sent.url))
    page.goto(f"/artifacts/{root}")
    expect(panel(page).get_by_text("Three ferries.")).to_be_visible()
    expect(panel(page).get_by_text("result-8f2")).to_be_visible()
    expect(page.locator(".sheet")).to_have_count(0)
    assert [url for url in asked if "result-8f2" in url] == []


def test_code_is_coloured(signed_in: Callable[..., Page], person: Callable[..., Person]) -> None:
    alice = person("alice")
    root = kept(alice, "Fuel", "x = 1  # litres\n", "code", "python").artifact_id
    page = signed_in(alice)
    page.goto(f"/artifacts/{root}")
    expect(panel(page).locator(".hljs-comment")).to_have_text("# litres")
    tab(page, "Source").click()
    expect(page.get_by_role("textbox", name="Source of Fuel")).to_contain_text("x = 1")


def test_a_script_in_a_preview_reads_nothing_and_reaches_nothing(
    tried: Page, person: Callable[..., Person]
) -> None:
    alice = person("alice")
    root = kept(alice, "Probe", PROBE, "code", "html").artifact_id
    page = tried
    sign_in(page, alice)
    reached: list[str] = []
    page.context.route("https://outside.example/**", lambda route: reached.append("outside"))
    page.goto(f"/artifacts/{root}")
    frame = page.frame_locator("iframe")
    expect(frame.locator("#out")).to_have_text(
        "null cookie:SecurityError storage:SecurityError parent:SecurityError"
        " top:SecurityError frame:TypeError refused refused"
    )
    assert page.locator("iframe").get_attribute("sandbox") == "allow-scripts"
    assert reached == []
    assert len(page.context.pages) == 1


def test_a_document_in_a_preview_cannot_leave_for_another_address(
    tried: Page, person: Callable[..., Person]
) -> None:
    alice = person("alice")
    root = kept(alice, "Leaving", LEAVING, "code", "html").artifact_id
    page = tried
    sign_in(page, alice)
    reached: list[str] = []
    page.context.route("https://outside.example/**", lambda route: reached.append("outside"))
    with page.expect_event("console", lambda line: "frame-src" in line.text):
        page.goto(f"/artifacts/{root}")
    assert reached == []
    assert page.url.endswith(f"/artifacts/{root}")


def test_a_preview_that_is_opened_by_itself_runs_no_script(
    tried: Page, person: Callable[..., Person]
) -> None:
    alice = person("alice")
    root = kept(alice, "Probe", PROBE, "code", "html").artifact_id
    page = tried
    sign_in(page, alice)
    page.goto(f"/artifacts/{root}/versions/1/preview")
    expect(page.locator("#out")).to_have_text("no script")
