"""Sign-in and sign-out. The throttle and the session rotation are the back end's and Django's."""

from typing import Any

from django.contrib.auth.forms import AuthenticationForm
from django.contrib.auth.views import LoginView, LogoutView
from django.http import HttpRequest, HttpResponse
from django.utils.decorators import method_decorator
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import ensure_csrf_cookie


@method_decorator([never_cache, ensure_csrf_cookie], name="dispatch")
class SignIn(LoginView):
    """The sign-in page. A wrong password and a throttled name get the same words."""

    template_name = "registration/sign_in.html"
    redirect_authenticated_user = True

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        return self.render_to_response(self.get_context_data(form=form), status=422)

    def get_context_data(self, **kwargs: Any) -> dict[str, Any]:
        return {**super().get_context_data(**kwargs), "bare": True}


class SignOut(LogoutView):
    """Ends the session; POST only, as Django has it.

    Browsers keep whole pages for their Back button and ask nobody before they show them again.
    """

    def dispatch(self, request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        response = super().dispatch(request, *args, **kwargs)
        response["Clear-Site-Data"] = '"cache"'
        return response
