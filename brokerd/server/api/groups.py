"""FindCoordinator, JoinGroup, SyncGroup, Heartbeat, LeaveGroup, ListGroups, DescribeGroups,
DeleteGroups.

A handler only translates. Errors before a coordinator is found (it loads, it is elsewhere, the
group id is invalid) are answered in the same form as the coordinator's own.
"""

from collections.abc import Awaitable
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from brokerd.coordinator.group import delete_groups, join_group, leave_group, sync_group
from brokerd.coordinator.group.messages import (
    DeleteReply,
    GroupDescription,
    GroupListing,
    HeartbeatRequest,
    JoinReply,
    JoinRequest,
    LeaveReply,
    LeavingMember,
    SyncReply,
    SyncRequest,
)
from brokerd.errors import ErrorCode, KafkaError
from brokerd.event_loop_turns import at_once_or_in_turns, map_in_turns_awaited
from brokerd.protocol.acl_operations import GROUP_OPERATIONS, NOT_ASKED
from brokerd.protocol.messages import encode_item
from brokerd.server.api.producers import NO_TRANSACTIONS
from brokerd.server.coordinator_runtime.group_coordinator_service import (
    NAME_BYTES_MAX,
    GroupCoordinatorService,
)
from brokerd.server.requests.request_context import Fields, RequestContext, error_part, milliseconds

KEY_IS_GROUP = 0
KEY_IS_TRANSACTION = 1
KEY_IS_SHARE = 2
SHARE_FROM = 6
JOIN_NEEDS_MEMBER_ID_FROM = 4
JOIN_MAY_SKIP_ASSIGNMENT_FROM = 9
SYNC_NAMES_PROTOCOL_FROM = 5
CLASSIC = "classic"
"""The type of every group: their members are coordinated by JoinGroup and SyncGroup."""
LEAVE_BATCHED_FROM = 3
READABLE_ID_CHARACTERS_MAX = 255
"""Of a client or instance id at the start of a member id; a UUID makes it unique."""


@dataclass(frozen=True, slots=True)
class GroupHandlers:
    groups: GroupCoordinatorService

    async def find_coordinator(self, context: RequestContext, request: Any) -> Fields:
        if context.api_version >= 4:

            async def find(key: str) -> bytes:
                row = {"key": key, **await self._find(context, request.key_type, key)}
                return _item(context, "coordinators", row)

            return {"coordinators": await map_in_turns_awaited(request.coordinator_keys, find)}
        key_type = request.key_type if context.api_version >= 1 else KEY_IS_GROUP
        answer = await self._find(context, key_type, request.key)
        # Kafka names the error "NONE", too, and only in these versions.
        return {"error_message": "NONE", **answer} if context.api_version >= 1 else answer

    async def _find(self, context: RequestContext, key_type: int, key: str) -> Fields:
        nobody = {"node_id": -1, "host": "", "port": -1}
        if key_type == KEY_IS_TRANSACTION:
            message = "transactions are not served yet: use a producer without transactional.id"
            return {"error_code": NO_TRANSACTIONS, "error_message": message, **nobody}
        if key_type == KEY_IS_SHARE and context.api_version >= SHARE_FROM:
            code, message = ErrorCode.COORDINATOR_NOT_AVAILABLE, "share groups are not served"
            return {"error_code": code, "error_message": message, **nobody}
        if key_type != KEY_IS_GROUP:
            message = f"{key_type} is not the number of a kind of coordinator"
            return {"error_code": ErrorCode.INVALID_REQUEST, "error_message": message, **nobody}
        try:
            node_id, host, port = await self.groups.coordinator(key, context.listener)
        except KafkaError as error:
            return {**error_part(error), **nobody}
        return {"error_code": ErrorCode.NONE, "node_id": node_id, "host": host, "port": port}

    async def join_group(self, context: RequestContext, request: Any) -> Fields:
        try:
            join = _join_request(context, request)
            runtime = self.groups.runtime(request.group_id)
            reply = await runtime.ask(JoinReply, join_group.join, join)
        except KafkaError as error:
            reply = JoinReply(error=error.code, member_id=request.member_id)
        protocol = reply.protocol
        return {
            "error_code": reply.error,
            "generation_id": reply.generation,
            "protocol_type": reply.protocol_type,
            # Null where there is none; before v7 the field had no null.
            "protocol_name": protocol if protocol or context.api_version >= 7 else "",
            "leader": reply.leader,
            "skip_assignment": reply.skip_assignment,
            "member_id": reply.member_id,
            "members": [
                {
                    "member_id": member.member_id,
                    "group_instance_id": member.instance_id,
                    "metadata": member.subscription,
                }
                for member in reply.members
            ],
        }

    async def sync_group(self, context: RequestContext, request: Any) -> Fields:
        if context.api_version >= SYNC_NAMES_PROTOCOL_FROM and None in (
            request.protocol_type, request.protocol_name,
        ):  # fmt: skip
            return {"error_code": ErrorCode.INCONSISTENT_GROUP_PROTOCOL, "assignment": b""}
        sync = SyncRequest(
            group_id=request.group_id,
            member_id=request.member_id,
            generation=request.generation_id,
            instance_id=request.group_instance_id if context.api_version >= 3 else None,
            protocol_type=getattr(request, "protocol_type", None),
            protocol=getattr(request, "protocol_name", None),
            assignments=tuple((a.member_id, bytes(a.assignment)) for a in request.assignments),
        )
        try:
            runtime = self.groups.runtime(request.group_id)
            reply = await runtime.ask(SyncReply, sync_group.sync, sync)
        except KafkaError as error:
            # A coordinator that loads has lost the rebalance under way: it starts over with a join.
            loading = error.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
            reply = SyncReply(error=ErrorCode.REBALANCE_IN_PROGRESS if loading else error.code)
        return {
            "error_code": reply.error,
            "protocol_type": reply.protocol_type,
            "protocol_name": reply.protocol,
            "assignment": reply.assignment,
        }

    def heartbeat(self, context: RequestContext, request: Any) -> Fields:
        beat = HeartbeatRequest(
            group_id=request.group_id,
            member_id=request.member_id,
            generation=request.generation_id,
            instance_id=request.group_instance_id if context.api_version >= 3 else None,
        )
        try:
            error = self.groups.runtime(request.group_id).heartbeat(beat)
        except KafkaError as refusal:
            # Sessions start anew when loading is over, so there is nothing to worry a member with.
            loading = refusal.code is ErrorCode.COORDINATOR_LOAD_IN_PROGRESS
            error = ErrorCode.NONE if loading else refusal.code
        return {"error_code": error}

    async def leave_group(self, context: RequestContext, request: Any) -> Fields:
        batched = context.api_version >= LEAVE_BATCHED_FROM
        if batched:
            leaving = tuple(
                LeavingMember(m.member_id, m.group_instance_id) for m in request.members
            )
        else:
            leaving = (LeavingMember(request.member_id),)
        group_id = request.group_id
        try:
            runtime = self.groups.runtime(group_id)
            reply = await runtime.ask(LeaveReply, leave_group.leave, group_id, leaving)
        except KafkaError as error:
            return {"error_code": error.code, "members": []}
        members = [
            {"member_id": m.member_id, "group_instance_id": m.instance_id, "error_code": error}
            for m, error in zip(leaving, reply.errors, strict=True)
        ]
        return {
            "error_code": ErrorCode.NONE if batched else reply.errors[0],
            "members": members if batched else [],
        }

    def list_groups(self, context: RequestContext, request: Any) -> Fields | Awaitable[Fields]:
        wanted = request.states_filter if context.api_version >= 4 else ()
        states = {state.lower() for state in wanted}
        types = {kind.lower() for kind in getattr(request, "types_filter", ())}
        runtimes = list(self.groups.runtimes())
        listings = [
            group
            for runtime in runtimes
            if not runtime.loading and (not types or CLASSIC in types)
            for group in runtime.coordinator.listings()
        ]
        loading = any(runtime.loading for runtime in runtimes)
        error = ErrorCode.COORDINATOR_LOAD_IN_PROGRESS if loading else ErrorCode.NONE
        rows: list[bytes] = []

        def add(group: GroupListing) -> None:
            if not states or group.state.lower() in states:
                rows.append(_item(context, "groups", {
                    "group_id": group.group_id, "protocol_type": group.protocol_type,
                    "group_state": group.state, "group_type": CLASSIC,
                }))  # fmt: skip

        return at_once_or_in_turns(listings, add, {"error_code": error, "groups": rows})

    def describe_groups(self, context: RequestContext, request: Any) -> Fields | Awaitable[Fields]:
        is_asked = bool(getattr(request, "include_authorized_operations", False))
        allowed = GROUP_OPERATIONS if is_asked else NOT_ASKED
        rows: list[bytes] = []

        def describe(group_id: str) -> None:
            rows.append(_item(context, "groups", self._described(group_id, allowed)))

        return at_once_or_in_turns(request.groups, describe, {"groups": rows})

    def _described(self, group_id: str, allowed: int) -> Fields:
        error = ErrorCode.NONE
        try:
            group = self.groups.runtime(group_id, may_be_empty=True).coordinator.describe(group_id)
        except KafkaError as refusal:
            error, group = refusal.code, GroupDescription()
        return {
            "error_code": error,
            "group_id": group_id,
            "group_state": "" if error else group.state,
            "protocol_type": group.protocol_type,
            "protocol_data": group.protocol,
            "authorized_operations": NOT_ASKED if error else allowed,
            "members": [
                {
                    "member_id": member.member_id,
                    "group_instance_id": member.instance_id,
                    "client_id": member.client_id,
                    "client_host": member.client_host,
                    "member_metadata": member.subscription,
                    "member_assignment": member.assignment,
                }
                for member in group.members
            ],
        }

    async def delete_groups(self, context: RequestContext, request: Any) -> Fields:
        async def delete(group_id: str) -> bytes:
            row = {"group_id": group_id, "error_code": await self._delete(group_id)}
            return _item(context, "results", row)

        names = dict.fromkeys(request.groups_names)
        return {"results": await map_in_turns_awaited(names, delete)}

    async def _delete(self, group_id: str) -> ErrorCode:
        try:
            runtime = self.groups.runtime(group_id, may_be_empty=True)
            reply = await runtime.ask(DeleteReply, delete_groups.delete_group, group_id)
        except KafkaError as error:
            return error.code
        return reply.error


def _item(context: RequestContext, array: str, row: Fields) -> bytes:
    return encode_item(context.api_key, context.api_version, (array,), row)


def _join_request(context: RequestContext, request: Any) -> JoinRequest:
    version = context.api_version
    session_ms = milliseconds(request.session_timeout)
    instance_id = request.group_instance_id if version >= 5 else None
    client_id = context.client_id or ""
    protocols = tuple((each.name, bytes(each.metadata)) for each in request.protocols)
    names = (client_id, instance_id or "", request.protocol_type, *(name for name, _ in protocols))
    for name in names:
        if len(name.encode()) > NAME_BYTES_MAX:
            raise KafkaError(ErrorCode.INVALID_REQUEST, "a name in the request is too long")
    readable = (instance_id or client_id)[:READABLE_ID_CHARACTERS_MAX]
    return JoinRequest(
        group_id=request.group_id,
        member_id=request.member_id,
        new_member_id=f"{readable}-{uuid4()}",
        instance_id=instance_id,
        client_id=client_id,
        client_host=f"/{context.peer_host}",
        session_timeout_ms=session_ms,
        # Version 0 has one timeout for both.
        rebalance_timeout_ms=milliseconds(request.rebalance_timeout) if version else session_ms,
        protocol_type=request.protocol_type,
        protocols=protocols,
        needs_known_member_id=version >= JOIN_NEEDS_MEMBER_ID_FROM,
        may_skip_assignment=version >= JOIN_MAY_SKIP_ASSIGNMENT_FROM,
    )
