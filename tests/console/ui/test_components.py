"""Components with slots: what they draw, and what they refuse when a template is loaded."""

import pytest
from django.template import Context, Template, TemplateSyntaxError


def drawn(text: str, **values: object) -> str:
    return Template(text).render(Context(values))


def test_a_card_has_its_title_its_slots_and_its_content() -> None:
    page = drawn(
        "{% card title=title %}{% slot note %}three{% endslot %}<p>here</p>{% endcard %}",
        title="a <b>",
    )
    assert "a &lt;b&gt;" in page
    assert '<span class="card-note">three</span>' in page
    assert "<p>here</p>" in page
    assert "card-footer" not in page


def test_content_sees_the_page_and_the_component_does_not() -> None:
    page = drawn("{% card %}{{ title }}{% endcard %}", title="of the page")
    assert "of the page" in page
    assert "card-head" not in page


def test_a_table_without_rows_shows_its_empty_slot() -> None:
    text = (
        '{% data_table %}{% slot head %}{% th "Name" %}{% endslot %}'
        "{% for row in rows %}<tr><td>{{ row }}</td></tr>{% endfor %}"
        "{% slot empty %}nothing yet{% endslot %}{% enddata_table %}"
    )
    assert drawn(text, rows=[]).strip() == "nothing yet"
    page = drawn(text, rows=["x"])
    assert '<th scope="col">Name</th>' in page
    assert "nothing yet" not in page


def test_a_hidden_heading_is_there_for_screen_readers() -> None:
    hidden = '<th scope="col"><span class="visually-hidden">Actions</span></th>'
    assert drawn('{% th "Actions" hidden=True %}') == hidden


@pytest.mark.parametrize(("tone", "role"), [("bad", "alert"), ("warn", "status"), ("ok", "status")])
def test_only_a_bad_banner_has_the_role_alert(tone: str, role: str) -> None:
    assert f'role="{role}"' in drawn(f'{{% banner "Said" tone="{tone}" %}}{{% endbanner %}}')


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ('{% card heading="x" %}{% endcard %}', "no option 'heading'"),
        ("{% card %}{% slot aside %}{% endslot %}{% endcard %}", "no slot 'aside'"),
        ('{% card "x" "y" %}{% endcard %}', "name the option"),
        ("{% slot %}{% endslot %}", "slot takes one name"),
    ],
)
def test_unknown_options_and_slots_are_refused(text: str, said: str) -> None:
    with pytest.raises(TemplateSyntaxError, match=said):
        Template(text)


def test_every_state_has_a_word_an_icon_and_a_colour() -> None:
    page = drawn('{% badge "done" %}{% badge "late" "bad" "since noon" %}')
    assert "bg-success-lt" in page
    assert "#circle-check" in page
    assert 'class="badge bg-danger-lt" title="since noon"' in page
