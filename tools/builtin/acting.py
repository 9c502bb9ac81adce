"""The member a call acts for, read anew in each database visit of a tool."""

from agents.members.models import Member
from audit.refusals import NotFound
from tools.boundary.contract import RunIdentity


def member_of(identity: RunIdentity) -> Member:
    """The signed-in person of the turn as they are now; raises `NotFound` when switched off."""
    member = Member.objects.filter(pk=identity.member_id, is_active=True).first()
    if member is None:
        raise NotFound()
    return member
