"""Refusals as answers, and the page for a server that cannot be reached."""

from collections.abc import Callable
from functools import wraps
from pathlib import Path

from django.conf import settings
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from agents.conversations import projection
from audit.refusals import NotFound, Refusal

View = Callable[..., HttpResponse]


def refusals_as_json(view: View) -> View:
    """Answer refusals of a view called by our own browser code the way the API does."""

    @wraps(view)
    def answered(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except Refusal as refusal:
            return JsonResponse(projection.error(refusal), status=projection.status(refusal))

    return answered


def refusals_as_pages(view: View) -> View:
    """Answer what a page cannot find with the page for that; other refusals are faults here."""

    @wraps(view)
    def answered(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        try:
            return view(request, *args, **kwargs)
        except NotFound as refusal:
            raise Http404 from refusal

    return answered


@require_safe
def service_worker(request: HttpRequest) -> HttpResponse:
    """The code that shows the offline page. It stands at the root because it serves all pages."""
    built = Path(settings.BASE_DIR) / "templates" / "static" / "build" / "offline.js"
    if not built.is_file():
        raise Http404
    # Read whole: it is short, and files answered in pieces make Django warn under ASGI.
    response = HttpResponse(built.read_bytes(), content_type="text/javascript; charset=utf-8")
    response["Cache-Control"] = "no-cache"
    return response


@require_safe
def offline(request: HttpRequest) -> HttpResponse:
    """What the browser keeps to show when the server cannot be reached. Open to everybody."""
    return render(request, "offline.html")
