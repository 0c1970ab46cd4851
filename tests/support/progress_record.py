"""An ApplyProgress that keeps what an action reports."""

from console.actions.action_type import ApplyProgress


class ProgressRecord(ApplyProgress):
    """`steps`: the keys of the steps that were started, in order; `items`: key → error."""

    def __init__(self) -> None:
        self.steps: list[str] = []
        self.items: dict[str, str] = {}

    def start_step(self, key: str) -> None:
        self.steps.append(key)

    def end_item(self, key: str, error: str = "") -> None:
        self.items[key] = error

    def stop_if_wanted(self, share: float) -> None:
        pass
