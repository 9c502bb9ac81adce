"""Answers where no view answers: unknown paths, unreadable requests, faults of ours.

Programs get the API's form of error, people a page.
"""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.views import defaults

from agents.api import errors
from audit.reasons import Reason
from audit.refusals import NotFound, Refusal

API: str = "/api/"


def bad_request(request: HttpRequest, exception: Exception) -> HttpResponse:
    """400: the request could not be read."""
    if _is_program(request):
        return errors.respond(Refusal(Reason.BAD_REQUEST, "The request could not be read."))
    return defaults.bad_request(request, exception)


def permission_denied(request: HttpRequest, exception: Exception) -> HttpResponse:
    """403: seen, but not allowed."""
    if _is_program(request):
        return errors.respond(Refusal(Reason.FORBIDDEN, "You may not do this."))
    return defaults.permission_denied(request, exception)


def not_found(request: HttpRequest, exception: Exception) -> HttpResponse:
    """404: nothing here, or nothing for this caller."""
    if _is_program(request):
        return errors.respond(NotFound())
    return defaults.page_not_found(request, exception)


def server_error(request: HttpRequest, *_: Any) -> HttpResponse:
    """500: a fault of ours; the log has it."""
    if _is_program(request):
        return errors.respond(Refusal(Reason.INTERNAL_ERROR, "Something went wrong on our side."))
    return defaults.server_error(request)


def _is_program(request: HttpRequest) -> bool:
    return request.path.startswith(API)
