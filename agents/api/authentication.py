"""Who calls: a personal access token, or a browser session together with its CSRF proof."""

from django.http import HttpRequest, HttpResponse
from rest_framework.authentication import BaseAuthentication
from rest_framework.authentication import CSRFCheck as CsrfCheck
from rest_framework.request import Request

from agents.members import credentials
from agents.members.credentials import Credential
from agents.members.models import Member
from audit.reasons import Reason
from audit.refusals import Refusal

SAFE = frozenset({"GET", "HEAD"})


class AccessTokenAuthentication(BaseAuthentication):
    """`Authorization: Bearer <token>`. A header that opens nothing is refused, not passed over."""

    def authenticate(self, request: Request) -> tuple[Member, Credential] | None:
        header = request.META.get("HTTP_AUTHORIZATION")
        if header is None:
            return None
        credential = credentials.from_authorization(header)
        return credential.member, credential

    def authenticate_header(self, request: Request) -> str:
        return "Bearer"


class BrowserSessionAuthentication(BaseAuthentication):
    """The session cookie; calls that change something also carry the CSRF token."""

    def authenticate(self, request: Request) -> tuple[Member, Credential] | None:
        plain: HttpRequest = request._request
        member = plain.user
        if not isinstance(member, Member) or not member.is_active:
            return None
        if request.method not in SAFE:
            _require_csrf(plain)
        return member, credentials.of_session(member, plain.session.session_key)


def _require_csrf(request: HttpRequest) -> None:
    check = CsrfCheck(_unused)
    check.process_request(request)
    if check.process_view(request, _unused, (), {}):
        raise Refusal(Reason.CSRF_FAILED, "The request lacks this session's CSRF token.")


def _unused(request: HttpRequest) -> HttpResponse:
    return HttpResponse(status=500)  # the check asks for a next step and never takes it
