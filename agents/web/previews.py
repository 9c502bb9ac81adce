"""Previews of HTML and SVG: responses of their own that a browser gives an opaque origin.

Nothing in a preview can read cookies, storage or the page around it, fetch anything, or send a
form; the policy of the page around it keeps it from leaving for another address. Scripts run only
inside a frame: a preview that is opened by itself could send its reader elsewhere.

With `ARTIFACT_ORIGIN`, previews are moved to that origin. It gets no session; a pass of a few
minutes says who reads what, and the right to read is asked for again there.
"""

from base64 import b64encode
from typing import Final
from urllib.parse import urlencode, urlsplit
from uuid import UUID

from django.conf import settings
from django.core import signing
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.cache import patch_cache_control
from django.utils.html import format_html
from django.views.decorators.clickjacking import xframe_options_exempt
from django.views.decorators.http import require_safe

from agents.members.models import Member
from agents.web.shell import signed_in
from artifacts import reading
from artifacts.kinds.content import Kind
from artifacts.models import ArtifactVersion
from audit.refusals import NotFound

LAST_NUMBER: Final = 1_000_000_000
PASS_S: Final = 300  # a pass is used at once; this leaves room for a slow redirect
PASS_SALT: Final = "kaizen.preview"
MARKUP: Final = {"html", "htm", "xhtml"}
DRAWING: Final = "svg"
RULES: Final = (
    "default-src 'none'",
    "script-src 'unsafe-inline'",
    "style-src 'unsafe-inline'",
    "img-src data: blob:",
    "font-src data:",
    "media-src data: blob:",
    "form-action 'none'",
    "base-uri 'none'",
)


@require_safe
@xframe_options_exempt
def preview(request: HttpRequest, artifact_id: UUID, number: int) -> HttpResponse:
    """One version of an HTML or SVG artifact as a document that can reach nothing."""
    if settings.ARTIFACT_ORIGIN and request.get_host() == _host(settings.ARTIFACT_ORIGIN):
        return _with_pass(request, artifact_id, number)
    return _for_session(request, artifact_id=artifact_id, number=number)


@signed_in
def _for_session(
    request: HttpRequest, member: Member, artifact_id: UUID, number: int
) -> HttpResponse:
    try:
        version = _previewed(member, artifact_id, number)
    except NotFound:
        return _nothing()
    if not settings.ARTIFACT_ORIGIN:
        return _document(request, version)
    claim = {"member": member.pk, "artifact": str(artifact_id), "number": number}
    query = urlencode({"pass": signing.dumps(claim, salt=PASS_SALT)})
    return HttpResponseRedirect(f"{settings.ARTIFACT_ORIGIN}{request.path}?{query}")


def _with_pass(request: HttpRequest, artifact_id: UUID, number: int) -> HttpResponse:
    try:
        claim = signing.loads(request.GET.get("pass", ""), salt=PASS_SALT, max_age=PASS_S)
    except signing.BadSignature:
        return _nothing()
    if claim["artifact"] != str(artifact_id) or claim["number"] != number:
        return _nothing()
    member = Member.objects.filter(pk=claim["member"], is_active=True).first()
    try:
        version = _previewed(member, artifact_id, number) if member else None
    except NotFound:
        version = None
    if version is None:
        return _nothing()
    response = _document(request, version)
    patch_cache_control(response, no_store=True)
    return response


def _previewed(member: Member, artifact_id: UUID, number: int) -> ArtifactVersion:
    if not 0 < number < LAST_NUMBER:
        raise NotFound()
    return reading.version(member, artifact_id, number)


def _document(request: HttpRequest, version: ArtifactVersion) -> HttpResponse:
    """HTML as it is, a drawing as an image, everything else as its text."""
    language = version.language if version.artifact.kind == Kind.CODE else ""
    if language not in {*MARKUP, DRAWING}:
        return _sealed(
            HttpResponse(version.content, content_type="text/plain; charset=utf-8"), runs=False
        )
    if language == DRAWING:
        # As an image, a drawing is inert whatever it holds.
        image = b64encode(version.content.encode()).decode()
        body: str = format_html(
            "<!doctype html><style>html,body{{height:100%;margin:0}}body{{display:grid}}"
            "img{{max-width:100%;max-height:100vh;margin:auto}}</style>"
            '<img src="data:image/svg+xml;base64,{}" alt="{}">',
            image,
            version.artifact.title,
        )
    else:
        body = version.content
        if not body.lstrip()[:9].lower().startswith("<!doctype"):
            body = f"<!doctype html>\n{body}"  # else browsers lay it out as in the last century
    return _sealed(
        HttpResponse(body, content_type="text/html; charset=utf-8"),
        runs=request.headers.get("Sec-Fetch-Dest") == "iframe" and language != DRAWING,
    )


def _nothing() -> HttpResponse:
    response = HttpResponse("There is no preview.", status=404, content_type="text/plain")
    return _sealed(response, runs=False)


def _sealed(response: HttpResponse, *, runs: bool) -> HttpResponse:
    sandbox = "sandbox allow-scripts" if runs else "sandbox"
    framed_by = settings.PUBLIC_ORIGIN if settings.ARTIFACT_ORIGIN else "'self'"
    rules = [sandbox, *RULES, f"frame-ancestors {framed_by}"]
    response["Content-Security-Policy"] = "; ".join(rules)
    response["Referrer-Policy"] = "no-referrer"
    response["X-Content-Type-Options"] = "nosniff"
    response["X-DNS-Prefetch-Control"] = "off"
    response["Vary"] = "Sec-Fetch-Dest, Cookie"
    return response


def _host(origin: str) -> str:
    return urlsplit(origin).netloc
