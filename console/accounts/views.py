"""Signing in and out."""

from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm
from django.http import HttpResponse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _

from console.accounts import lockout
from console.audit import services as audit


@method_decorator(login_not_required, name="dispatch")
class Login(auth.LoginView):
    """The sign-in page; too many failures and it refuses for a while, right password or not."""

    template_name = "accounts/login.html"
    redirect_authenticated_user = True

    def post(self, request, *args, **kwargs) -> HttpResponse:  # type: ignore[no-untyped-def]
        username = request.POST.get("username", "")[:150]
        address = request.META.get("REMOTE_ADDR", "")
        if lockout.is_locked(username, address):
            form = self.get_form()
            form.errors["__all__"] = form.error_class(
                [
                    _("Too many failed sign-ins. Wait %(minutes)d minutes and try again.")
                    % {"minutes": lockout.WAIT_SECONDS // 60}
                ]
            )
            response = self.render_to_response(self.get_context_data(form=form))
            response.status_code = 429
            response["Retry-After"] = str(lockout.WAIT_SECONDS)
            return response
        return super().post(request, *args, **kwargs)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        response = super().form_valid(form)
        address = self.request.META.get("REMOTE_ADDR", "")
        lockout.forget(form.cleaned_data["username"], address)
        audit.record(self.request.user, "account.sign-in", remote_addr=address)
        return response

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        username = str(form.data.get("username", ""))[:150]
        address = self.request.META.get("REMOTE_ADDR", "")
        lockout.record_failure(username, address)
        shown = username.replace("\x00", "")  # PostgreSQL stores no NUL
        audit.record(
            None, "account.sign-in", resource=shown, remote_addr=address, outcome="refused"
        )
        if not form.non_field_errors():  # a field is empty, too long, or holds what no name does
            form.add_error(None, form.get_invalid_login_error())
        response = super().form_invalid(form)
        response.status_code = 422
        return response


class Logout(auth.LogoutView):
    """By POST only, as Django has it."""
