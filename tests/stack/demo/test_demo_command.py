import pytest
from django.core.management import call_command

from monitoring.background import stored_heartbeats
from stack.demo.management.commands import demo
from stack.demo.management.commands.demo import parse_rate


def test_without_rate_the_setting_is_used() -> None:
    assert parse_rate("") is None
    assert parse_rate(" ") is None


def test_a_valid_rate_is_used() -> None:
    assert parse_rate("5000") == 5000


@pytest.mark.parametrize("rate", ["abc", "0", "-5", "9", "200001", "5e3", "12.5"])
def test_the_error_for_a_wrong_rate_is_one_line(
    rate: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        call_command("demo", f"--rate={rate}")
    assert str(end.value).startswith(f"aerie: RATE={rate} is ")
    assert str(end.value).endswith("from 10 to 200000")
    assert capsys.readouterr().err == ""


def test_only_the_stacks_process_writes_a_heartbeat(settings, redis_server):
    demo._write_heartbeat()
    assert stored_heartbeats.ages_ms() == {}
    settings.AERIE_PROCESSES = ["web", "demo"]
    demo._write_heartbeat()
    assert list(stored_heartbeats.ages_ms()) == ["demo"]
    redis_server.kill()
    demo._write_heartbeat()  # without Redis it continues to send
