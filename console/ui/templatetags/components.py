"""Components that hold content, as block tags built in to every template.

    {% card title=_("Members") %}
      {% slot note %}{% age at_ms %}{% endslot %}
      … the content …
    {% endcard %}

Each is rendered with `templates/ui/<name>.html`, whose context has only the options, `content` and
the slots. Components without content are plain tags (`ui.py`). The page `/ui` shows all components.
An unknown option or slot is a TemplateSyntaxError when the template is loaded.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django import template
from django.template.base import FilterExpression, Node, NodeList, Parser, Token
from django.template.exceptions import TemplateSyntaxError
from django.utils.safestring import SafeString, mark_safe

from console.ui.tones import icon_of, tone_of

register = template.Library()


@dataclass(frozen=True, slots=True)
class Component:
    """The options and slots of a component.

    Attributes:
        positional: the option that may be given first, without its name.
        complete: makes further values of the component's template from its options and slots.
    """

    name: str
    positional: str = ""
    options: tuple[str, ...] = ()
    slots: tuple[str, ...] = ()
    complete: Callable[[dict[str, Any]], dict[str, Any]] | None = None


def _banner(values: dict[str, Any]) -> dict[str, Any]:
    """Colour, icon and ARIA role of a banner; screen readers announce only bad ones at once."""
    colour = tone_of(values["tone"] or "info")
    role = "alert" if colour == "danger" else "status"
    return {"colour": colour, "role": role, "icon": values["icon"] or icon_of("", colour)}


COMPONENTS = (
    Component("card", "title", ("title", "id", "css"), ("note", "tools", "foot")),
    Component("stats", "", ("id", "css"), ("facts",)),
    Component("stat_box", "title", ("title", "tone"), ("note",)),
    Component("data_table", "table", ("table", "css"), ("head", "empty")),
    Component(
        "banner", "title", ("title", "tone", "kind", "icon", "since_ms"), ("actions",), _banner
    ),
    Component("side_panel", "title", ("title", "id", "close_url"), ("tools",)),
    Component("progress_line", "percent", ("percent", "label"), ("end",)),
    Component("empty_note", "title", ("title", "icon", "href", "action")),
    Component("action_menu", "label", ("label", "icon", "css")),
)


class SlotNode(Node):
    """The content between {% slot name %} and {% endslot %}; the component renders it."""

    def __init__(self, name: str, nodelist: NodeList) -> None:
        self.name = name
        self.nodelist = nodelist

    def render(self, context: template.Context) -> SafeString:
        raise TemplateSyntaxError(f"the slot {self.name!r} is not inside a component")


class ComponentNode(Node):
    def __init__(
        self,
        component: Component,
        options: dict[str, FilterExpression],
        slots: dict[str, NodeList],
        nodelist: NodeList,
    ) -> None:
        self.component = component
        self.options = options
        self.slots = slots
        self.nodelist = nodelist

    def render(self, context: template.Context) -> SafeString:
        values: dict[str, Any] = dict.fromkeys(self.component.options)
        values |= {name: option.resolve(context) for name, option in self.options.items()}
        values |= dict.fromkeys(self.component.slots, "")
        for name, nodelist in self.slots.items():
            values[name] = mark_safe(nodelist.render(context).strip())
        values["content"] = mark_safe(self.nodelist.render(context).strip())
        if self.component.complete:
            values |= self.component.complete(values)
        assert context.template is not None
        component_template = context.template.engine.get_template(f"ui/{self.component.name}.html")
        # A new context, as in inclusion tags: the component sees only its options and slots.
        return component_template.render(context.new(values))


def _options(component: Component, parser: Parser, token: Token) -> dict[str, FilterExpression]:
    by_name: dict[str, FilterExpression] = {}
    for number, bit in enumerate(token.split_contents()[1:]):
        name, is_named, value = bit.partition("=")
        if not is_named or not name.isidentifier():
            if number or not component.positional:
                raise TemplateSyntaxError(f"{component.name}: name the option {bit!r}")
            name, value = component.positional, bit
        if name not in component.options:
            raise TemplateSyntaxError(
                f"{component.name} has no option {name!r}: {', '.join(component.options)}"
            )
        by_name[name] = parser.compile_filter(value)
    return by_name


def _slots(component: Component, nodelist: NodeList) -> dict[str, NodeList]:
    """Remove the slots from a component's content and return them by name."""
    by_name: dict[str, NodeList] = {}
    for node in [node for node in nodelist if isinstance(node, SlotNode)]:
        if node.name not in component.slots:
            raise TemplateSyntaxError(
                f"{component.name} has no slot {node.name!r}: {', '.join(component.slots)}"
            )
        by_name[node.name] = node.nodelist
        nodelist.remove(node)
    return by_name


def _tag(component: Component) -> None:
    def parse(parser: Parser, token: Token) -> ComponentNode:
        options = _options(component, parser, token)
        nodelist = parser.parse((f"end{component.name}",))
        parser.delete_first_token()
        return ComponentNode(component, options, _slots(component, nodelist), nodelist)

    register.tag(component.name, parse)


for _component in COMPONENTS:
    _tag(_component)


@register.tag("slot")
def slot(parser: Parser, token: Token) -> SlotNode:
    """{% slot name %} … {% endslot %}, directly within a component."""
    bits = token.split_contents()
    if len(bits) != 2:
        raise TemplateSyntaxError("slot takes one name: {% slot note %}")
    nodelist = parser.parse(("endslot",))
    parser.delete_first_token()
    return SlotNode(bits[1], nodelist)
