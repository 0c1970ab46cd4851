import pytest
from django.core.management import call_command

from monitoring import heartbeats
from stack.demo.management.commands import demo
from stack.demo.management.commands.demo import wanted_rate


def test_no_rate_is_the_settings_rate() -> None:
    assert wanted_rate("") is None
    assert wanted_rate(" ") is None


def test_a_rate_is_taken_as_it_is() -> None:
    assert wanted_rate("5000") == 5000


@pytest.mark.parametrize("rate", ["abc", "0", "-5", "9", "200001", "5e3", "12.5"])
def test_a_wrong_rate_is_told_in_one_line_without_a_usage_text(
    rate: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        call_command("demo", f"--rate={rate}")
    assert str(end.value).startswith(f"aerie: RATE={rate} is ")
    assert str(end.value).endswith("from 10 to 200000")
    assert capsys.readouterr().err == ""


def test_as_a_process_of_the_stack_it_is_heard_and_beside_it_not(settings, redis_server):
    demo._say_alive()
    assert heartbeats.ages_ms() == {}
    settings.AERIE_PROCESSES = ["web", "demo"]
    demo._say_alive()
    assert list(heartbeats.ages_ms()) == ["demo"]
    redis_server.kill()
    demo._say_alive()  # one that cannot be told sends on
