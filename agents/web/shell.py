"""The door for signed-in people, and what every one of their pages shows."""

from collections.abc import Callable
from functools import wraps
from operator import itemgetter
from typing import Any, Final

from django.contrib.auth.views import redirect_to_login
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.utils.cache import patch_cache_control

from agents.conversations import projection
from agents.journal.prepared import Prepared
from agents.members import roles
from agents.members.credentials import not_authenticated
from agents.members.models import Member
from agents.web import sidebar

GROUPS: Final = Prepared(
    itemgetter(0),
    lambda marks: Member.groups.through.objects.filter(
        member_id=marks.integer("member")
    ).values_list("group__name"),
)
PersonView = Callable[..., HttpResponse]


def signed_in(view: PersonView) -> Callable[..., HttpResponse]:
    """Hand the signed-in person to a view as its second argument.

    Others are led to the sign-in page, or told so where the browser code is asking.
    """

    @wraps(view)
    def guarded(request: HttpRequest, *args: object, **kwargs: object) -> HttpResponse:
        person = request.user
        if not isinstance(person, Member) or not person.is_active:
            return _turned_away(request)
        response = view(request, person, *args, **kwargs)
        patch_cache_control(response, private=True, no_cache=True)
        return response

    return guarded


def page(
    request: HttpRequest,
    member: Member,
    template: str,
    context: dict[str, Any] | None = None,
    *,
    status: int = 200,
) -> HttpResponse:
    """A page in the frame with sidebar and person."""
    held = set(GROUPS.rows(member=member.pk))
    frame = {
        "member": member,
        "groups": sidebar.groups_for(member, sidebar.zone_of(request, member)),
        "current": "",
        "waiting": sidebar.waiting(member),
        "sidebar_state": "closed" if request.COOKIES.get("sidebar") == "closed" else "open",
        "is_administrator": roles.ADMINISTRATOR in held,
        "is_operator": roles.OPERATOR in held,
    }
    return render(request, template, {**frame, **(context or {})}, status=status)


def _turned_away(request: HttpRequest) -> HttpResponse:
    if request.headers.get("HX-Request") == "true":
        response = HttpResponse(status=401)
        response["HX-Redirect"] = "/sign-in"
        return response
    if "application/json" in request.headers.get("Accept", ""):
        refusal = not_authenticated()
        return JsonResponse(projection.error(refusal), status=projection.status(refusal))
    return redirect_to_login(request.get_full_path())
