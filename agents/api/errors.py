"""Every refusal as an answer: one status and one form of body, as `projection` states them.

The body is exactly `{"error": {"code", "message", "fields"}}`. An answer of 404 has the same
bytes and headers whether the object is missing, somebody else's, or the path means nothing.
"""

import logging
from typing import Any, Final

from django.core.exceptions import PermissionDenied, SuspiciousOperation
from django.db import DatabaseError, OperationalError
from django.http import Http404, HttpResponse
from django.utils.cache import patch_vary_headers
from rest_framework import exceptions

from agents.api.renderers import JSONRenderer, render
from agents.conversations import projection
from audit.reasons import Reason
from audit.refusals import NotFound, RateLimited, Refusal

log = logging.getLogger(__name__)

RETRY_AFTER_S: Final = 1  # a lock or connection that was not free is usually free a second later


def respond(refusal: Refusal) -> HttpResponse:
    """The answer to a refusal."""
    status = projection.status(refusal)
    response = HttpResponse(
        render(projection.error(refusal)), status=status, content_type=JSONRenderer.media_type
    )
    # The same on every answer, whichever way the caller was (or was not) looked up.
    patch_vary_headers(response, ("Accept", "Accept-Language", "Cookie"))
    response["Cache-Control"] = "no-store"
    response["Content-Language"] = "en"
    if status == 401:
        response["WWW-Authenticate"] = "Bearer"
    if isinstance(refusal, RateLimited):
        response["Retry-After"] = str(refusal.retry_after_s)
    elif status in {429, 503}:
        response["Retry-After"] = str(RETRY_AFTER_S)
    return response


def handle(error: Exception, context: dict[str, Any]) -> HttpResponse:
    """The framework's exception handler: every error of a view becomes an answer.

    Faults of ours are logged whole and answered with nothing but a code.
    """
    refusal = _meaning(error)
    if refusal is None:
        log.error("fault in %s", type(context.get("view")).__name__, exc_info=error)
        refusal = Refusal(Reason.INTERNAL_ERROR, "Something went wrong on our side.")
    response = respond(refusal)
    if isinstance(error, exceptions.MethodNotAllowed) and context.get("view"):
        response["Allow"] = ", ".join(context["view"].allowed_methods)
    return response


def _meaning(error: Exception) -> Refusal | None:
    """What an exception says to the caller, or None for a fault."""
    match error:
        case Refusal():
            return error
        case Http404() | exceptions.NotFound():
            return NotFound()
        case exceptions.NotAuthenticated() | exceptions.AuthenticationFailed():
            return Refusal(Reason.NOT_AUTHENTICATED, "Sign in, or send a valid access token.")
        case PermissionDenied() | exceptions.PermissionDenied():
            return Refusal(Reason.FORBIDDEN, "You may not do this.")
        case exceptions.MethodNotAllowed():
            return Refusal(Reason.METHOD_NOT_ALLOWED, "This path does not take that method.")
        case exceptions.NotAcceptable():
            return Refusal(Reason.NOT_ACCEPTABLE, "Answers here are application/json.")
        case exceptions.UnsupportedMediaType():
            return Refusal(Reason.UNSUPPORTED_MEDIA_TYPE, "Send the body as application/json.")
        case exceptions.ParseError() | SuspiciousOperation():
            return Refusal(Reason.BAD_REQUEST, "The request could not be read.")
        case OperationalError():
            log.warning("database did not answer in time (%s)", type(error.__cause__).__name__)
            return Refusal(Reason.UNAVAILABLE, "Busy at the moment. Try again.")
        case DatabaseError() if "PoolTimeout" in type(error.__cause__).__name__:
            return Refusal(Reason.UNAVAILABLE, "Busy at the moment. Try again.")
    return None
