"""Commit other offsets for a group, or delete its commits, partition by partition.

Parameters: `name`, and `offsets`: lists of topic, partition and new offset (None = delete the
commit). `restores`: the offsets are those of an earlier plan, and may be outside of a log now.
`left_out`: names of partitions that the form chose but that have no new offset. `is_shift`: the new
offsets were counted from the commits.
"""

from collections.abc import Iterator
from dataclasses import replace

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from console.actions.action_type import ITEMS, EndedItem, ItemsAction, Params
from console.actions.draft import (
    Change,
    Draft,
    Facts,
    Figure,
    PlanRefused,
    Proposal,
    refuse_unread_partitions,
)
from console.actions.models import Plan
from console.groups.actions import members_check
from console.groups.actions.group_target import GROUP_TARGET
from console.groups.compute_reset_offsets import CommitInLog, ResetEffect, reset_effect
from console.ui import numbers
from console.ui.texts import first_lines
from monitoring.gateway.gateway import Gateway
from monitoring.gateway.topic_partition import TopicPartition, partition_key
from monitoring.read_model.snapshot import Snapshot

_PARTITIONS_PER_REQUEST = 500
LOGS = "logs"


def offsets_of(params: Params) -> dict[TopicPartition, int | None]:
    return {(topic, partition): offset for topic, partition, offset in params.get("offsets") or ()}


class ResetOffsets(ItemsAction):
    action = "group.reset-offsets"
    verb = "group.alter"
    target_type = GROUP_TARGET
    form_page = "group-reset"

    def title(self, resource: str) -> str:
        return _("Reset the offsets of “%(name)s”") % {"name": resource}

    def confirm_label(self) -> str:
        return _("Change offsets")  # it also deletes them

    def read_facts(self, gateway: Gateway, params: Params) -> Facts:
        """Members, commits, and the logs of the partitions; those that did not answer are None."""
        keys = list(offsets_of(params))
        committed = gateway.groups.committed(params["name"])
        logs = gateway.log_offsets.ranges(keys)
        return {
            **members_check.read(gateway, params["name"]),
            ITEMS: {partition_key(*key): committed.get(key) for key in keys},
            LOGS: {
                partition_key(*key): [logs[key].start, logs[key].stop] if key in logs else None
                for key in keys
            },
        }

    def compared(self, facts: Facts) -> Facts:
        """Only the commits: members and logs change all the time."""
        return {ITEMS: facts.get(ITEMS)}

    def allows_differences(self, then: Facts, params: Params) -> bool:
        """A group that had members at the review has committed until they were stopped."""
        return bool(then["members"]) and not params.get("is_shift")

    def differences(self, then: Facts, now: Facts) -> list[str]:
        text = _("Partition %(name)s is committed at %(offset)s now.")
        lines = [
            text % {"name": key, "offset": _offset_text(now[ITEMS][key])}
            for key in self.changed_items(then, now)
        ]
        members = members_check.members_text(now["members"])
        return [line for line in (members, first_lines(lines)) if line]

    def draft(self, facts: Facts, params: Params, snapshot: Snapshot | None) -> Draft:
        offsets = offsets_of(params)
        self._check(facts, params)
        rows = _with_shares([_change_and_effect(facts, key, new) for key, new in offsets.items()])
        deletes = all(new is None for new in offsets.values())
        title = (
            _("Delete offsets of “%(name)s”") if deletes else _("Reset the offsets of “%(name)s”")
        )
        return Draft(
            title=title % {"name": params["name"]},
            changes=[change for change, _effect in rows],
            figures=[] if deletes else figures_of([each for _change, each in rows]),
            checks=_checks(facts, params, deletes),
            warnings=_warnings(facts, params, rows, deletes),
            undo=_(
                "Commit the earlier offsets again, and delete the commits of partitions that had "
                "none. What consumers did in between is not taken back."
            ),
            before=dict(facts[ITEMS]),
            after={partition_key(*key): new for key, new in offsets.items()},
        )

    def _check(self, facts: Facts, params: Params) -> None:
        """Raises PlanRefused if the group does not exist, or an offset is not in its log, which may
        have changed since the form was sent."""
        restores = params.get("restores")
        if facts["state"] == members_check.NO_GROUP and not restores:
            raise PlanRefused(members_check.no_group_text(params["name"]))
        if restores:
            return
        new_offsets = {key: new for key, new in offsets_of(params).items() if new is not None}
        commits = {key: _commit_in_log(facts, key) for key in new_offsets}
        refuse_unread_partitions(partition_key(*key) for key in commits if commits[key] is None)
        text = _("Offset %(offset)d is not in %(name)s, which has %(first)d–%(end)d now.")
        for key, commit in commits.items():
            if commit is not None and not commit.holds(new_offsets[key]):
                values = {"offset": new_offsets[key], "name": partition_key(*key)}
                values |= {"first": commit.log.start, "end": commit.log.stop}
                raise PlanRefused(text % values)

    def items(self, params: Params) -> list[str]:
        return [partition_key(*key) for key in offsets_of(params)]

    def apply_items(self, gateway: Gateway, params: Params, keys: list[str]) -> Iterator[EndedItem]:
        group, wanted = params["name"], set(keys)
        offsets = {
            key: new for key, new in offsets_of(params).items() if partition_key(*key) in wanted
        }
        members_check.refuse_members(gateway, group)
        new = {key: offset for key, offset in offsets.items() if offset is not None}
        for batch in _request_batches(list(new)):
            errors = gateway.groups.alter_offsets(group, {key: new[key] for key in batch})
            yield from (EndedItem(partition_key(*key), errors.get(key, "")) for key in batch)
        for batch in _request_batches([key for key, offset in offsets.items() if offset is None]):
            errors = gateway.groups.delete_offsets(group, batch)
            yield from (EndedItem(partition_key(*key), errors.get(key, "")) for key in batch)

    def undo(self, plan: Plan) -> Proposal | None:
        earlier = [
            [topic, partition, plan.facts[ITEMS][partition_key(topic, partition)]]
            for topic, partition in offsets_of(plan.params)
            if partition_key(topic, partition) in plan.applied_items
        ]
        params = {"name": plan.resource, "offsets": earlier, "restores": True}
        return Proposal(self.action, plan.resource, params) if earlier else None


def _change_and_effect(
    facts: Facts, key: TopicPartition, new: int | None
) -> tuple[Change, ResetEffect]:
    name = partition_key(*key)
    committed, commit = facts[ITEMS][name], _commit_in_log(facts, key)
    effect = reset_effect(commit, new) if commit else ResetEffect()
    return Change(
        name, _offset_text(committed), _offset_text(new), _note(committed, new, effect)
    ), effect


def _commit_in_log(facts: Facts, key: TopicPartition) -> CommitInLog | None:
    """The partition as the facts say; None = its leader did not answer."""
    name = partition_key(*key)
    log = facts[LOGS][name]
    return CommitInLog(facts[ITEMS][name], range(*log)) if log else None


def _with_shares(rows: list[tuple[Change, ResetEffect]]) -> list[tuple[Change, ResetEffect]]:
    """The rows, each change with its share of the largest effect."""
    largest = max((max(effect.read_again, effect.skipped) for _change, effect in rows), default=0)
    return [
        (
            replace(change, share=max(effect.read_again, effect.skipped) / largest)
            if largest
            else change,
            effect,
        )
        for change, effect in rows
    ]


def _checks(facts: Facts, params: Params, deletes: bool) -> list[str]:
    lines = [] if facts["members"] else [_("The group has no members now.")]
    if not deletes and not _outside_warning(facts, params):
        lines.append(_("Every new offset is in its log."))
    return lines


def _note(committed: int | None, new: int | None, effect: ResetEffect) -> str:
    if new is None or committed is None:
        return ""
    if effect.read_again:
        return _("reads %(n)s again") % {"n": numbers.count(effect.read_again)}
    return _("skips %(n)s") % {"n": numbers.count(effect.skipped)} if effect.skipped else ""


def _offset_text(offset: int | None) -> str:
    return _("not committed") if offset is None else numbers.count(offset)


def figures_of(effects: list[ResetEffect]) -> list[Figure]:
    """The sums of a reset, in its preview and its review."""
    lags = [effect.lag for effect in effects if effect.lag is not None]
    return [
        Figure(
            _("Records read again"), numbers.count(sum(effect.read_again for effect in effects))
        ),
        Figure(_("Records skipped"), numbers.count(sum(effect.skipped for effect in effects))),
        Figure(
            _("Lag after"), numbers.count(sum(lags) if lags else None), _("of these partitions")
        ),
        Figure(_("Partitions"), numbers.count(len(effects))),
    ]


def _warnings(
    facts: Facts, params: Params, rows: list[tuple[Change, ResetEffect]], deletes: bool
) -> list[str]:
    lines = [members_check.members_text(facts["members"]), _commits_text(facts, params)]
    if skipped := sum(effect.skipped for _change, effect in rows):
        text = _("The group will not read %(n)s records.")
        lines.append(text % {"n": numbers.count(skipped)})
    new_commits = sum(facts[ITEMS][partition_key(*key)] is None for key in offsets_of(params))
    if new_commits and not deletes:
        text = ngettext(
            "%(n)d of these partitions was never committed. What its consumers would have read "
            "first depends on their auto.offset.reset.",
            "%(n)d of these partitions were never committed. What their consumers would have read "
            "first depends on their auto.offset.reset.",
            new_commits,
        )
        lines.append(text % {"n": new_commits})
    if deletes:
        lines.append(
            _("Without a commit, consumers begin where their auto.offset.reset says: at the start "
              "or the end of the log.")
        )  # fmt: skip
    if left_out := params.get("left_out"):
        text = _("%(n)d partitions have no new offset and stay as they are: %(names)s")
        names = first_lines([f"{name}." for name in left_out])
        lines.append(text % {"n": len(left_out), "names": names})
    lines += _outside_warning(facts, params)
    return [line for line in lines if line]


def _commits_text(facts: Facts, params: Params) -> str:
    """What becomes of commits between review and apply; "" without members."""
    if not facts["members"]:
        return ""
    if params.get("is_shift"):
        return _(
            "The shift is counted from the offsets that are committed now. If the consumers commit "
            "others before they stop, plan the shift again."
        )
    return _("An undo restores the offsets that are committed when you apply, not those of now.")


def _outside_warning(facts: Facts, params: Params) -> list[str]:
    """The warning about restored offsets that are outside of their logs, if there are any."""
    names = []
    for key, new in offsets_of(params).items():
        commit = _commit_in_log(facts, key)
        if new is not None and commit is not None and not commit.holds(new):
            names.append(f"{partition_key(*key)}.")
    if not names:
        return []
    text = _(
        "These offsets are not in their logs any more. Consumers begin where their "
        "auto.offset.reset says: %(names)s"
    )
    return [text % {"names": first_lines(names)}]


def _request_batches(keys: list[TopicPartition]) -> Iterator[list[TopicPartition]]:
    for start in range(0, len(keys), _PARTITIONS_PER_REQUEST):
        yield keys[start : start + _PARTITIONS_PER_REQUEST]
