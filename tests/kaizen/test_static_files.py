"""Static files from the web process: what is sent, kept, and never reached."""

from typing import Any

import pytest

from kaizen.static_files import StaticFiles


async def ask(
    path: str, *, method: str = "GET", **headers: str
) -> tuple[int, dict[str, str], bytes]:
    """Ask the application; 404 stands for handing on to the pages."""
    sent: list[dict[str, Any]] = []

    async def pages(scope: Any, receive: Any, send: Any) -> None:
        await send({"type": "http.response.start", "status": 404, "headers": []})
        await send({"type": "http.response.body", "body": b""})

    async def send(message: dict[str, Any]) -> None:
        sent.append(message)

    async def receive() -> dict[str, Any]:
        return {"type": "http.request"}

    raw = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
    scope = {"type": "http", "path": path, "method": method, "headers": raw}
    await StaticFiles(pages)(scope, receive, send)
    answered = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
    return sent[0]["status"], answered, sent[1]["body"]


async def test_it_sends_a_drawing_with_its_type_and_a_digest() -> None:
    status, headers, body = await ask("/static/icons/logo.svg")
    assert status == 200
    assert headers["content-type"] == "image/svg+xml; charset=utf-8"
    assert headers["x-content-type-options"] == "nosniff"
    assert body.startswith(b"<svg")
    again, _, empty = await ask("/static/icons/logo.svg", if_none_match=headers["etag"])
    assert (again, empty) == (304, b"")


async def test_it_compresses_for_those_who_can_read_it() -> None:
    _, plain, whole = await ask("/static/css/shell.css")
    _, zipped, small = await ask("/static/css/shell.css", accept_encoding="gzip, br")
    assert "content-encoding" not in plain
    assert zipped["content-encoding"] == "gzip"
    assert len(small) < len(whole) / 2


@pytest.mark.parametrize(
    "path",
    [
        "/static/",
        "/static/nothing.css",
        "/static/../kaizen/settings.py",
        "/static/icons/../../../manage.py",
        "/static//etc/passwd",
        "/static/icons",
        "/static/icons/logo.svg\0.css",
        "/static/" + "a" * 5_000,
        "/elsewhere/icons/logo.svg",
    ],
)
async def test_it_reaches_nothing_outside_its_folders(path: str) -> None:
    status, _, _ = await ask(path)
    assert status == 404


async def test_it_sends_no_body_to_head_and_takes_no_post() -> None:
    status, headers, body = await ask("/static/icons/logo.svg", method="HEAD")
    assert (status, body) == (200, b"")
    assert int(headers["content-length"]) > 0
    assert (await ask("/static/icons/logo.svg", method="POST"))[0] == 404
