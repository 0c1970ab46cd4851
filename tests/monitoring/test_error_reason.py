"""Reasons are stored with their code; texts in older ticks stay readable."""

import json
import pickle
import re

import pytest

from monitoring.error_reason import Reason, dumps, filled, loads, several
from monitoring.error_reason_texts import TEXTS
from monitoring.gateway.errors import ClusterUnavailable

INNER = Reason("at_address", address="127.0.0.1:1", why=Reason("timed_out"))
OUTER = Reason("of_broker", id=3, why=INNER)


def test_a_reason_is_its_english_text_for_logs():
    assert OUTER == "broker 3: 127.0.0.1:1: timed out"
    assert OUTER.code == "of_broker"


def test_a_code_without_a_text_raises_key_error():
    with pytest.raises(KeyError):
        Reason("no_such_code")


@pytest.mark.parametrize("reason", [INNER, OUTER, several([INNER, OUTER])])
def test_a_stored_reason_is_loaded_unchanged(reason):
    again = loads(dumps(reason))
    assert isinstance(again, Reason)
    assert (again, again.code, again.params) == (reason, reason.code, reason.params)


@pytest.mark.parametrize("text", ["", "no broker answered", "{", '{"code"', '{"code": 1}'])
def test_the_text_of_an_older_sample_stays_text(text):
    assert loads(dumps(text)) == text
    assert not isinstance(loads(text), Reason)


def test_the_code_of_a_newer_sample_is_shown_as_the_english_beside_it():
    stored = json.loads(dumps(OUTER))
    assert loads(json.dumps(stored | {"code": "of_the_future"}, separators=(",", ":"))) == OUTER
    stored["params"]["why"]["code"] = "of_the_future"
    again = loads(json.dumps(stored, separators=(",", ":")))
    assert (again, again.code) == (OUTER, "of_broker")


def test_several_of_one_reason_is_this_reason_and_of_none_empty():
    assert several([]) == ""
    assert several([INNER]) is INNER
    assert several([INNER, OUTER]) == f"{INNER}; {OUTER}"


def test_a_reason_and_its_error_pass_between_processes():
    error = pickle.loads(pickle.dumps(ClusterUnavailable(OUTER)))
    assert (error.message, error.message.code, error.retriable) == (OUTER, "of_broker", True)


def test_the_params_of_a_reason_are_filled_into_any_language():
    assert filled("Makler %(id)d: %(why)s", OUTER.params, str.upper) == (
        "Makler 3: 127.0.0.1:1: TIMED OUT"
    )


@pytest.mark.parametrize("code", TEXTS)
def test_every_text_has_named_parameters_only(code):
    assert re.sub(r"%\(\w+\)[sd]", "", TEXTS[code]).count("%") == 0
