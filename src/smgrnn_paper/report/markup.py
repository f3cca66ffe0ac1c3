"""Markup: HTML elements as values; text is escaped unless it is markup already."""

import re
from html import escape


class Markup(str):
    """HTML that is safe to put into a page as it is."""

    __slots__ = ()


def element(name: str, *children: str | None, **attributes: str | bool | None) -> Markup:
    """Return an element; a trailing underscore spares Python's keywords, others become hyphens.

    >>> element("td", "p < 0.05", class_="near", data_sort="0.05", hidden=False)
    '<td class="near" data-sort="0.05">p &lt; 0.05</td>'
    """
    opened = [name]
    for key, value in attributes.items():
        if value is None or value is False:
            continue
        shown = key.rstrip("_").replace("_", "-")
        opened.append(shown if value is True else f'{shown}="{escape(value)}"')
    start = f"<{' '.join(opened)}>"
    return Markup(start if name == "img" else f"{start}{join(*children)}</{name}>")


def join(*children: str | None) -> Markup:
    """Return children one after the other, each as markup; None is nothing.

    >>> join("a & b", element("b", "c"))
    'a &amp; b<b>c</b>'
    """
    return Markup("".join(_safe(child) for child in children if child is not None))


def breakable(text: str) -> Markup:
    """Return a text that may go on in the next line within a path or a task's settings.

    >>> breakable("runs/a_run"), breakable("gravity=20"), breakable("network.n_inputs")
    ('runs/<wbr>a_<wbr>run', 'gravity=<wbr>20', 'network.n_inputs')
    """
    marks = "[/_,=]" if "/" in text else "[,=]"
    return Markup(re.sub(rf"({marks})(?=\S)", r"\1<wbr>", escape(text)))


def _safe(child: str) -> str:
    return child if isinstance(child, Markup) else escape(child)
