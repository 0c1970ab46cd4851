"""The checks that every request of a member passes: member id, instance id, generation."""

from brokerd.coordinator.group.group import Group
from brokerd.errors import ErrorCode


def check_member(group: Group, member_id: str, instance_id: str | None) -> ErrorCode:
    """NONE for a member; FENCED_INSTANCE_ID if another member has its instance id now."""
    if instance_id is not None:
        owner = group.statics.get(instance_id)
        if owner is None:
            return ErrorCode.UNKNOWN_MEMBER_ID
        if owner != member_id:
            return ErrorCode.FENCED_INSTANCE_ID
    return ErrorCode.NONE if member_id in group.members else ErrorCode.UNKNOWN_MEMBER_ID


def check_generation(
    group: Group, member_id: str, instance_id: str | None, generation: int
) -> ErrorCode:
    """As `check_member`; and ILLEGAL_GENERATION if the member names another generation."""
    error = check_member(group, member_id, instance_id)
    if error is not ErrorCode.NONE:
        return error
    return ErrorCode.NONE if generation == group.generation else ErrorCode.ILLEGAL_GENERATION
