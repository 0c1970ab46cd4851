from console.schemas.schema_diff import (
    ADDED,
    LINES_MAX,
    REMOVED,
    SKIPPED,
    comparison,
    formatted_text,
)
from monitoring.schema_registry.subjects import SchemaText

PROTO = SchemaText('syntax = "proto3";\nmessage A {}', "PROTOBUF")


def test_json_gets_line_breaks_and_a_proto_file_keeps_its_own():
    assert formatted_text(SchemaText('{"type":"string"}')) == '{\n  "type": "string"\n}'
    assert formatted_text(PROTO) == PROTO.text


def test_no_text_breaks_a_page():
    assert formatted_text(SchemaText('"\\ud800"')) == '"?"'
    assert formatted_text(SchemaText("[" * 100_000)) == "[" * 100_000


def test_the_lines_that_differ_are_shown_with_some_around_them():
    fields = [f"  int32 f{number} = {number};" for number in range(30)]
    before = SchemaText("\n".join(fields), "PROTOBUF")
    after = SchemaText("\n".join([*fields[:20], "  string name = 40;", *fields[21:]]), "PROTOBUF")
    lines = comparison(before, after)
    assert [(kind, text) for kind, text in lines if kind in (ADDED, REMOVED)] == [
        (REMOVED, "-  int32 f20 = 20;"),
        (ADDED, "+  string name = 40;"),
    ]
    assert lines[0].kind == SKIPPED
    assert len(lines) < len(fields)
    assert comparison(before, before) == []


def test_texts_that_differ_after_the_compared_lines_are_not_called_the_same():
    long = "\n".join(["//"] * LINES_MAX)
    lines = comparison(SchemaText(long), SchemaText(f"{long}\nmessage A {{}}"))
    assert [line.kind for line in lines] == [SKIPPED]
