"""Styles, scripts, fonts and drawings, served by the web process itself.

One machine needs no second server for them. Each file is read and compressed once and kept, and
asked for again only when it changed, so a page costs a few answers of 304.
"""

import asyncio
import gzip
import hashlib
import mimetypes
from dataclasses import dataclass
from email.utils import formatdate
from pathlib import Path
from typing import Final

from django.conf import settings
from django.contrib.staticfiles import finders
from django.core.exceptions import SuspiciousFileOperation

from agents.streaming.origins import Application, Message, Receive, Send

LONGEST_NAME: Final = 200
LARGEST_BYTES: Final = 4 * 1024 * 1024  # nothing of ours comes near; a mistake should show
# Names in these folders carry a digest of what is in them.
DIGESTED: Final = ("build/chunks/", "build/fonts/")
FOREVER: Final = b"public, max-age=31536000, immutable"
ASK_AGAIN: Final = b"no-cache"
TYPES: Final = {".js": "text/javascript", ".woff2": "font/woff2", ".svg": "image/svg+xml"}
TEXT: Final = ("text/", "image/svg+xml")


@dataclass(frozen=True)
class Asset:
    """One file as it is sent."""

    modified_ns: int
    body: bytes
    zipped: bytes | None
    headers: tuple[tuple[bytes, bytes], ...]
    etag: bytes


class StaticFiles:
    """Answers below STATIC_URL and hands everything else on."""

    def __init__(self, application: Application) -> None:
        self.application = application
        self.assets: dict[str, Asset] = {}

    async def __call__(self, scope: Message, receive: Receive, send: Send) -> None:
        path = str(scope["path"])
        if not path.startswith(settings.STATIC_URL) or scope["method"] not in {"GET", "HEAD"}:
            await self.application(scope, receive, send)
            return
        name = path.removeprefix(settings.STATIC_URL)
        asset = await asyncio.to_thread(self.load, name)
        if asset is None:
            # The page for missing things is Django's.
            await self.application(scope, receive, send)
            return
        asked = dict(scope["headers"])
        await _answer(asset, asked, send, with_body=scope["method"] == "GET")

    def load(self, name: str) -> Asset | None:
        """The file of this name as it is now; None where there is none."""
        found = _locate(name)
        if found is None:
            return None
        stat = found.stat()
        known = self.assets.get(name)
        if known is not None and known.modified_ns == stat.st_mtime_ns:
            return known
        if stat.st_size > LARGEST_BYTES:
            return None
        asset = _read(name, found, stat.st_mtime_ns)
        self.assets[name] = asset
        return asset


def _locate(name: str) -> Path | None:
    if not name or len(name) > LONGEST_NAME or "\0" in name:
        return None
    try:
        found = finders.find(name)
    except (SuspiciousFileOperation, ValueError):
        return None
    path = Path(found) if isinstance(found, str) else None
    return path if path is not None and path.is_file() else None


def _read(name: str, path: Path, modified_ns: int) -> Asset:
    body = path.read_bytes()
    kind = TYPES.get(path.suffix) or mimetypes.guess_type(name)[0] or "application/octet-stream"
    is_text = kind.startswith(TEXT)
    zipped = gzip.compress(body, mtime=0) if is_text and len(body) > 1_000 else None
    etag = f'"{hashlib.sha256(body).hexdigest()[:24]}"'.encode()
    forever = name.startswith(DIGESTED)
    headers = (
        (b"content-type", (f"{kind}; charset=utf-8" if is_text else kind).encode()),
        (b"cache-control", FOREVER if forever else ASK_AGAIN),
        (b"etag", etag),
        (b"last-modified", formatdate(modified_ns / 1e9, usegmt=True).encode()),
        (b"vary", b"Accept-Encoding"),
        (b"x-content-type-options", b"nosniff"),
        (b"cross-origin-resource-policy", b"same-origin"),
        # A drawing opened as a page of its own must run nothing.
        (b"content-security-policy", b"default-src 'none'; style-src 'unsafe-inline'"),
    )
    return Asset(modified_ns, body, zipped, headers, etag)


async def _answer(asset: Asset, asked: dict[bytes, bytes], send: Send, *, with_body: bool) -> None:
    headers = list(asset.headers)
    if asset.etag in asked.get(b"if-none-match", b""):
        await send({"type": "http.response.start", "status": 304, "headers": headers})
        await send({"type": "http.response.body", "body": b""})
        return
    body = asset.body
    if asset.zipped is not None and b"gzip" in asked.get(b"accept-encoding", b""):
        body = asset.zipped
        headers.append((b"content-encoding", b"gzip"))
    headers.append((b"content-length", str(len(body)).encode()))
    await send({"type": "http.response.start", "status": 200, "headers": headers})
    await send({"type": "http.response.body", "body": body if with_body else b""})
