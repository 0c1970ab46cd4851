"""From what happened to a reply of the API."""

import logging

import pytest

from brokerd.errors import ErrorCode, KafkaError
from brokerd.protocol.api_keys import ApiKey
from brokerd.protocol.messages import decode_request, decode_response, encode_request
from brokerd.server.requests.request_codec import as_kafka_error, error_frame, reply_frame
from brokerd.server.requests.request_context import RequestContext

HEARTBEAT = RequestContext(ApiKey.HEARTBEAT, 4, 77, "me", "PLAINTEXT", "127.0.0.1")


def test_a_refusal_is_said_as_it_is_and_a_bug_only_as_unknown(
    caplog: pytest.LogCaptureFixture,
) -> None:
    refusal = KafkaError(ErrorCode.NOT_COORDINATOR)
    assert as_kafka_error(refusal, HEARTBEAT) is refusal
    with caplog.at_level(logging.ERROR):
        told = as_kafka_error(RuntimeError("secret detail"), HEARTBEAT)
    assert told.code is ErrorCode.UNKNOWN_SERVER_ERROR
    assert "secret" not in told.message
    assert "secret detail" in caplog.text


def test_fields_and_ready_bodies_become_frames() -> None:
    frame = reply_frame(HEARTBEAT, {"error_code": 27})
    assert decode_response(ApiKey.HEARTBEAT, 4, frame[4:]).error_code == 27
    body = frame[9:]
    assert reply_frame(HEARTBEAT, body) == frame


def test_an_error_is_said_in_the_form_of_the_request() -> None:
    sent = encode_request(ApiKey.HEARTBEAT, 4, {"group_id": "g"}, 77, None)
    request = decode_request(ApiKey.HEARTBEAT, 4, sent[15:])
    frame = error_frame(HEARTBEAT, request, KafkaError(ErrorCode.UNKNOWN_MEMBER_ID))
    assert decode_response(ApiKey.HEARTBEAT, 4, frame[4:]).error_code == 25
