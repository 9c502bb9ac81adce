"""A person's own account: name, looks, keyboard, access tokens."""

from typing import TYPE_CHECKING, Final
from uuid import UUID

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.utils.translation import gettext_lazy as _
from django.views.decorators.http import require_http_methods, require_POST

from agents.members import preferences, tokens
from agents.members.models import AccessToken, DuringRun, Effort, Member, Theme, TokenScope
from agents.web.failures import refusals_as_pages
from agents.web.shell import page, signed_in
from audit.refusals import Refusal

ACCOUNT: Final = "/account"
DAYS: Final = ((7, _("7 days")), (30, _("30 days")), (90, _("90 days")), (365, _("1 year")))
SCOPES: Final = (
    (TokenScope.READ, _("Read")),
    (TokenScope.WRITE, _("Read and write")),
    (TokenScope.ADMIN, _("Everything you may do")),
)
DURING_RUN: Final = (
    (DuringRun.STEER, _("Tell the running answer")),
    (DuringRun.QUEUE, _("Wait for its turn")),
)
EFFORTS: Final = (
    ("", _("As the agent or the model decides")),
    (Effort.MINIMAL, _("As little as possible")),
    (Effort.LOW, _("Little")),
    (Effort.MEDIUM, _("As usual")),
    (Effort.HIGH, _("Much")),
)
SCOPE_LABELS: Final = {str(scope): label for scope, label in SCOPES}


if TYPE_CHECKING:
    MemberForm = forms.ModelForm[Member]
else:  # Django's own class takes no type argument when the program runs
    MemberForm = forms.ModelForm


class ProfileForm(MemberForm):
    """How a person is called and how pages look to them."""

    class Meta:
        model = Member
        fields = ("display_name", "theme", "shortcuts_enabled")


class PreferencesForm(forms.Form):
    """How agents work for a person."""

    plain_speak = forms.BooleanField(required=False)
    compress_tool_results = forms.BooleanField(required=False)
    default_during_run = forms.ChoiceField(choices=DuringRun.choices)
    effort = forms.ChoiceField(choices=EFFORTS, required=False)


class TokenForm(forms.Form):
    """A new access token."""

    name = forms.CharField(max_length=100)
    scope = forms.TypedChoiceField(choices=SCOPES, coerce=TokenScope, initial=TokenScope.WRITE)
    days = forms.TypedChoiceField(choices=DAYS, coerce=int, initial=30)


@require_http_methods(["GET", "HEAD", "POST"])
@signed_in
def profile(request: HttpRequest, member: Member) -> HttpResponse:
    """Show the account, or save name and looks."""
    if request.method != "POST":
        return _page(request, member)
    form = ProfileForm(request.POST, instance=member)
    if not form.is_valid():
        member.refresh_from_db()
        return _page(request, member, profile_form=form, status=422)
    form.save()
    messages.success(request, _("Saved."))
    return HttpResponseRedirect(ACCOUNT)


@require_POST
@signed_in
def choose(request: HttpRequest, member: Member) -> HttpResponse:
    """Save how agents work for the person, from the next message on."""
    form = PreferencesForm(request.POST)
    if not form.is_valid():
        return _page(request, member, status=422)
    preferences.change(actor=member, chosen=form.cleaned_data)
    messages.success(request, _("Saved."))
    return HttpResponseRedirect(f"{ACCOUNT}#preferences")


@require_POST
@signed_in
def create_token(request: HttpRequest, member: Member) -> HttpResponse:
    """Make an access token and show its text this one time."""
    form = TokenForm(request.POST)
    if not form.is_valid():
        return _page(request, member, token_form=form, status=422)
    try:
        _token, text = tokens.create(actor=member, **form.cleaned_data)
    except Refusal as refusal:
        form.add_error(None, refusal.message)
        return _page(request, member, token_form=form, status=422)
    response = _page(request, member, new_token=text)
    response["Cache-Control"] = "no-store"
    return response


@require_POST
@signed_in
@refusals_as_pages
def revoke_token(request: HttpRequest, member: Member, token_id: UUID) -> HttpResponse:
    """End an access token at once."""
    tokens.revoke(actor=member, token_id=token_id)
    messages.success(request, _("The token opens nothing any more."))
    return HttpResponseRedirect(ACCOUNT)


def _page(
    request: HttpRequest,
    member: Member,
    *,
    profile_form: ProfileForm | None = None,
    token_form: TokenForm | None = None,
    new_token: str = "",
    status: int = 200,
) -> HttpResponse:
    usable = AccessToken.objects.visible_to(member).usable().order_by("-created_at")
    context = {
        "profile_form": profile_form or ProfileForm(instance=member),
        "token_form": token_form or TokenForm(),
        "themes": Theme.choices,
        "during_run": DURING_RUN,
        "efforts": EFFORTS,
        "tokens": [(token, SCOPE_LABELS[token.scope]) for token in usable],
        "new_token": new_token,
    }
    return page(request, member, "registration/account.html", context, status=status)
