"""Paths with a slash at the end: reading is sent on to the path without it, writing is refused.

A redirected POST would lose its body or be repeated by some clients.
"""

from django.http import Http404, HttpRequest, HttpResponseBase
from django.http.response import HttpResponseRedirectBase
from django.urls import Resolver404, resolve
from django.utils.encoding import escape_uri_path


class PermanentRedirect(HttpResponseRedirectBase):
    """A redirect that keeps the method."""

    status_code = 308


def without_slash(request: HttpRequest, path: str) -> HttpResponseBase:
    """Send a reader on; raises `Http404` where nothing is, or for any other method."""
    target = request.path.rstrip("/")
    if request.method not in {"GET", "HEAD"}:
        raise Http404
    try:
        resolve(target, urlconf=None)
    except Resolver404:
        raise Http404 from None
    query = request.META.get("QUERY_STRING", "")
    return PermanentRedirect(escape_uri_path(target) + (f"?{query}" if query else ""))
