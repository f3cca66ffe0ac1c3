"""A page as Markdown, with its pictures as files beside it."""

from collections.abc import Iterator

from smgrnn.errors import plain
from smgrnn.pages.page import Block, DataTable, Illustration
from smgrnn_paper.report.page import Fold, Notice, Page, Points, Tally, picture_file

FIGURES = "figures"
"""Folder of the pictures."""


def markdown(page: Page) -> str:
    """Return a page as Markdown; its pictures belong in the folder `FIGURES` beside it."""
    blocks = [f"# {_md(page.title)}"]
    blocks += (text for block in page.blocks for text in _md_block(block))
    for part in page.sections:
        blocks.append(f"## {_md(part.title)}")
        blocks += (text for block in part.blocks for text in _md_block(block))
    return "\n\n".join(blocks) + "\n"


def _md_block(block: Block) -> Iterator[str]:
    if isinstance(block, str):
        yield _md(block)
    elif isinstance(block, Notice):
        yield f"**{_md(block.text)}**"
    elif isinstance(block, Tally):
        counts = ", ".join(f"{n} {name}" for name, n, _ in block.parts)
        yield f"**{_md(block.title)}**: {_md(counts)}. {_md(block.remark)}".rstrip()
    elif isinstance(block, Points):
        yield f"### {_md(block.title)}"
        yield _md(block.note)
        for number, (word, text, verdicts) in enumerate(block.items, 1):
            shown = [f"   - {_md(about)} **{cell.text}**" for cell, about in verdicts]
            yield "\n".join([f"{number}. **{_md(word)}** {_md(text)}", *shown])
    elif isinstance(block, Fold):
        yield f"<details><summary>{_md(block.title)}</summary>"
        for each in block.blocks:
            yield from _md_block(each)
        yield "</details>"
    elif isinstance(block, DataTable):
        yield from _md_table(block)
    elif isinstance(block, Illustration) and block.picture is None:
        yield f"{block.name} ({block.title}) needs runs that are missing."
    elif isinstance(block, Illustration):
        place = f" ({block.where})" if block.where else ""
        yield f"![{_md(block.title)}]({FIGURES}/{picture_file(block)})"
        yield f"**{block.name}**{place}. {_md(block.caption)}"


def _md_table(table: DataTable) -> Iterator[str]:
    heads = (*table.headings, *(it.heading for it in table.columns))
    lines = [[_md(each) for each in heads], ["---"] * len(heads)]
    for labels, cells in table.rows:
        stacks = ("<br>".join(map(_md, (cell.text, *cell.below))) for cell in cells)
        lines.append([*map(_md, labels), *stacks])
    if table.title:
        yield f"### {_md(table.heading)}" + (f" ({table.where})" if table.where else "")
    yield "\n".join(f"| {' | '.join(line)} |" for line in lines)
    if table.note:
        yield _md(table.note)


def _md(text: str) -> str:
    """Return a text that stays in its cell and is not taken for a tag, a link or a picture."""
    harmless = plain(text.replace("\n", " ")).replace("<", "&lt;").replace("](", "]\\(")
    return harmless.replace("|", "\\|")
