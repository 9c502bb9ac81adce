"""People and groups in the administration.

Every change goes through `accounts`, which audits it. A role is chosen, never single permissions;
nobody is made a superuser here, people are switched off instead of deleted, and nobody changes
their own role or switches themselves off, so that an installation keeps its administrator.
"""

from typing import TYPE_CHECKING, Any

from django import forms
from django.contrib import admin
from django.contrib.auth import password_validation, update_session_auth_hash
from django.contrib.auth.admin import GroupAdmin
from django.contrib.auth.models import Group
from django.db.models import Model
from django.http import HttpRequest

from agents.members import accounts, roles
from agents.members.models import Member
from audit.admin import ReadOnly

# Django's own module registers groups wherever it is loaded; ours stands in its place.
admin.site.unregister(Group)

if TYPE_CHECKING:
    ModelForm = forms.ModelForm[Member]
    ModelAdmin = admin.ModelAdmin[Member]
else:  # Django's own classes take no type argument when the program runs
    ModelForm = forms.ModelForm
    ModelAdmin = admin.ModelAdmin


class PersonForm(ModelForm):
    """A person's name, role, password and whether they may sign in. `acting` is who fills it in."""

    acting: Member | None = None

    role = forms.ChoiceField(choices=[(name, name.capitalize()) for name in roles.PERMISSIONS])
    password = forms.CharField(
        label="New password",
        required=False,
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
        help_text="Leave empty to keep the present one. A new one ends the person's sessions.",
    )

    class Meta:
        model = Member
        fields = ("username", "display_name", "is_active")

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.instance.pk:
            self.initial["role"] = accounts.role_of(self.instance) or roles.MEMBER
        else:
            self.initial["role"] = roles.MEMBER
            self.fields["password"].required = True
            self.fields["password"].label = "Password"
            self.fields[
                "password"
            ].help_text = password_validation.password_validators_help_text_html()

    def clean_password(self) -> str:
        """A password that may be used, or nothing."""
        password: str = self.cleaned_data["password"]
        if password:
            password_validation.validate_password(password, self.instance)
        return password

    def clean(self) -> dict[str, Any] | None:
        """Refuse what would lock the acting person out."""
        cleaned = super().clean() or self.cleaned_data
        if self.acting is not None and self.instance.pk == self.acting.pk:
            if "role" in self.changed_data:
                self.add_error("role", "Somebody else has to change your role.")
            if not cleaned.get("is_active", True):
                self.add_error("is_active", "You cannot switch yourself off.")
        return cleaned


@admin.register(Member)
class PersonAdmin(ModelAdmin):
    """People: who they are, in which role, and whether they may sign in."""

    form = PersonForm
    actions = None
    list_display = ("username", "display_name", "role", "is_active", "last_login")
    list_filter = ("is_active", ("groups", admin.RelatedOnlyFieldListFilter))
    search_fields = ("username", "display_name")
    ordering = ("username",)
    fields = ("username", "display_name", "role", "is_active", "password")

    @admin.display(description="role")
    def role(self, person: Member) -> str:
        """The role, from the groups fetched with the list."""
        held = [group.name for group in person.groups.all() if group.name in roles.PERMISSIONS]
        return ", ".join(held)

    def get_queryset(self, request: HttpRequest) -> Any:
        return super().get_queryset(request).prefetch_related("groups")

    def get_form(self, request: Any, obj: Any = None, change: bool = False, **options: Any) -> Any:
        form = super().get_form(request, obj, change, **options)
        return type("PersonForm", (form,), {"acting": request.user})

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> tuple[str, ...]:
        # The name is how audit readers know a person; it stays what it was.
        return ("username",) if obj else ()

    def save_model(self, request: Any, obj: Member, form: Any, change: bool) -> None:
        """Create or change through `accounts`, in the page's transaction."""
        actor, chosen = request.user.principal, form.cleaned_data
        if not change:
            created = accounts.create(
                actor=actor,
                username=obj.username,
                password=chosen["password"],
                role=chosen["role"],
                display_name=obj.display_name,
            )
            obj.pk = created.pk
            return
        if {"display_name", "is_active"} & set(form.changed_data):
            accounts.change(
                actor=actor,
                member=obj,
                display_name=obj.display_name,
                is_active=obj.is_active,
            )
        if accounts.role_of(obj) != chosen["role"]:
            accounts.assign(actor=actor, member=obj, role=chosen["role"])
        if chosen["password"]:
            accounts.set_password(actor=actor, member=obj, password=chosen["password"])
            if obj.pk == request.user.pk:
                update_session_auth_hash(request, obj)

    def has_delete_permission(self, request: HttpRequest, obj: Model | None = None) -> bool:
        return False


@admin.register(Group)
class GroupRows(ReadOnly, GroupAdmin):
    """Groups and what they may do; roles come from source, rooms from conversations."""

    list_display = ("name", "is_role")
    search_fields = ("name",)
    fields = ("name", "held")

    @admin.display(description="role", boolean=True)
    def is_role(self, group: Group) -> bool:
        """Whether the group is one of the roles."""
        return group.name in roles.PERMISSIONS

    @admin.display(description="permissions")
    def held(self, group: Group) -> str:
        """Its permissions, by application and name."""
        named = group.permissions.values_list("content_type__app_label", "codename")
        return ", ".join(sorted(f"{app_label}.{codename}" for app_label, codename in named)) or "—"
