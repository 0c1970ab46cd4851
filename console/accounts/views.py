"""The views for signing in and out."""

from django.contrib.auth import views as auth
from django.contrib.auth.decorators import login_not_required
from django.contrib.auth.forms import AuthenticationForm
from django.http import HttpResponse
from django.utils.decorators import method_decorator
from django.utils.translation import gettext as _

from console.accounts import sign_in_lockout
from console.accounts.client_address import client_address
from console.accounts.signals import locked_out, sign_in_refused, signed_in


@method_decorator(login_not_required, name="dispatch")
class Login(auth.LoginView):
    """The sign-in page. After too many failures it refuses even the right password for a while."""

    template_name = "accounts/login.html"
    redirect_authenticated_user = True

    def post(self, request, *args, **kwargs) -> HttpResponse:  # type: ignore[no-untyped-def]
        name, address = self._name_and_address()
        if refused := sign_in_lockout.refused_attempts(name, address):
            minutes = sign_in_lockout.LOCKOUT_SECONDS // 60
            if refused == 1:
                locked_out.send(None, username=name, address=address, minutes=minutes)
            # A new form: validating the posted one would check the password.
            form = self.form_class(request, initial={"username": name})
            locked = _("Too many failed sign-ins. Wait %(minutes)d minutes and try again.") % {
                "minutes": minutes
            }
            response = self.render_to_response(self.get_context_data(form=form, locked=locked))
            response.status_code = 429
            response["Retry-After"] = str(sign_in_lockout.LOCKOUT_SECONDS)
            return response
        return super().post(request, *args, **kwargs)

    def _name_and_address(self) -> tuple[str, str]:
        """The entered name, and the client's address."""
        name = self.request.POST.get("username", "")
        return name, client_address(self.request)

    def form_valid(self, form: AuthenticationForm) -> HttpResponse:
        response = super().form_valid(form)
        name, address = self._name_and_address()
        sign_in_lockout.reset_after_success(name, address)
        signed_in.send(Login, user=self.request.user, address=address)
        return response

    def form_invalid(self, form: AuthenticationForm) -> HttpResponse:
        name, address = self._name_and_address()
        sign_in_refused.send(Login, username=name, address=address)
        if not form.non_field_errors():  # a field is empty, too long, or has invalid characters
            form.add_error(None, form.get_invalid_login_error())
        response = super().form_invalid(form)
        response.status_code = 422
        return response


class Logout(auth.LogoutView):
    """POST only, as in Django."""
