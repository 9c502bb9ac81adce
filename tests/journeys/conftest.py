"""A browser, people who are signed in, what a page must never do, and what a failed test saw."""

import os
from collections.abc import Callable, Generator, Iterator

import pytest
from playwright.sync_api import Browser, BrowserContext, Locator, Page, expect, sync_playwright
from playwright.sync_api import Error as PlaywrightError

from tests import browser as chromium
from tests.patience import promised
from tests.stack import Person, Stack

# Nothing but the pages under test may cause traffic.
FLAGS = (
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--no-first-run",
)
OPENED = pytest.StashKey[list[BrowserContext]]()
SNAPSHOT_CHARACTERS = 6_000
PATIENCE_MS = (
    promised(15) * 1_000
)  # two cores shared with everything else; no test waits for its own sake

expect.set_options(timeout=PATIENCE_MS)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Show with a failed test what each of its pages held at that moment."""
    report = yield
    if report.when == "call" and report.failed:
        for context in item.stash.get(OPENED, []):
            for page in context.pages:
                report.sections.append((f"page {page.url}", snapshot(page)))
    return report


def snapshot(page: Page) -> str:
    """The page as a screen reader would find it, its end where it is long."""
    try:
        return page.locator("body").aria_snapshot(timeout=5_000)[-SNAPSHOT_CHARACTERS:]
    except PlaywrightError as error:
        return f"cannot be read: {error}"


@pytest.fixture(scope="package")
def browser() -> Iterator[Browser]:
    """Chromium, for as long as journeys run; its driver leaves no event loop behind."""
    path = chromium.find()
    if path is None:
        if os.environ.get("CI") == "true":
            pytest.fail(chromium.REASON)
        pytest.skip(chromium.REASON)
    flags = [*FLAGS, "--no-sandbox"] if os.geteuid() == 0 else [*FLAGS]
    with sync_playwright() as driver:
        running = driver.chromium.launch(executable_path=path, args=flags)
        yield running
        running.close()


@pytest.fixture
def person(
    stack: Stack, committed_db: None, monkeypatch: pytest.MonkeyPatch
) -> Callable[..., Person]:
    """Make someone who can sign in: `person("alice")`."""
    # The browser driver keeps an event loop on this thread; no query here shares it.
    monkeypatch.setenv("DJANGO_ALLOW_ASYNC_UNSAFE", "true")
    return stack.person


@pytest.fixture
def new_context(
    request: pytest.FixtureRequest, browser: Browser, stack: Stack
) -> Iterator[Callable[..., BrowserContext]]:
    """Open a browser profile of its own. Faults in its pages fail the test at the end."""
    opened: list[BrowserContext] = []
    request.node.stash[OPENED] = opened
    faults: list[str] = []

    def make(**options: object) -> BrowserContext:
        size = {"width": 1200, "height": 800}
        # Workers of a page would hide its requests from the routes that tests put in their way.
        usual = {"viewport": size, "base_url": stack.url, "service_workers": "block"}
        context = browser.new_context(**{**usual, **options})
        context.set_default_timeout(PATIENCE_MS)
        context.on("weberror", lambda error: faults.append(str(error.error)))
        context.on("console", lambda line: faults.extend(policy_faults(line.text)))
        opened.append(context)
        return context

    yield make
    for context in opened:
        context.close()
    assert faults == []


@pytest.fixture
def signed_in(
    new_context: Callable[..., BrowserContext], person: Callable[..., Person]
) -> Callable[..., Page]:
    """A page of somebody who has just signed in: `signed_in()`, `signed_in(viewport=…)`."""

    def open_page(who: Person | None = None, **options: object) -> Page:
        page = new_context(**options).new_page()
        sign_in(page, who or person("alice"))
        return page

    return open_page


def policy_faults(line: str) -> list[str]:
    """The console line, if it says that the page broke its own content-security policy."""
    return [line] if "Content Security Policy" in line else []


def sign_in(page: Page, who: Person) -> None:
    """Sign in by the form."""
    page.goto("/sign-in")
    page.get_by_label("Name").fill(who.username)
    page.get_by_label("Password").fill(who.password)
    page.get_by_role("button", name="Sign in").click()
    expect(page.get_by_role("textbox", name="Message")).to_be_visible()


def send(page: Page, text: str) -> None:
    """Write a message and press Enter."""
    page.wait_for_load_state()
    field = page.get_by_role("textbox", name="Message")
    field.fill(text)
    field.press("Enter")


def answer(page: Page) -> str:
    """The text of the newest answer as it is on the page, blocks joined by line ends."""
    return page.locator(".turn").last.locator(".prose").all_inner_texts()[-1]


def said(page: Page, text: str) -> Locator:
    """The place in the answers that reads exactly so."""
    return page.locator(".prose").get_by_text(text, exact=True)


def wait_until_done(page: Page) -> None:
    """Wait until no answer is being written."""
    expect(page.get_by_role("button", name="Stop")).to_have_count(0)
    expect(page.locator(".turn[aria-busy=true]")).to_have_count(0)
