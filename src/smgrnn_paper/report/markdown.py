"""A page as Markdown, with its pictures as files beside it."""

from collections.abc import Iterator
from dataclasses import replace

from smgrnn.errors import plain
from smgrnn.pages.page import Block, DataTable, Illustration
from smgrnn_paper.report.page import Facts, Notice, Page, picture_file

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
    elif isinstance(block, Facts):
        items = (
            f"{name}: {value} ({remark})".removesuffix(" ()") for name, value, remark in block.items
        )
        yield "; ".join(items) + "."
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
    content = "\n".join(f"| {' | '.join(line)} |" for line in lines)
    if table.is_folded:
        yield f"<details><summary>{_md(table.title)}</summary>\n\n{content}\n\n</details>"
    else:
        yield f"### {_md(table.heading)}" + (f" ({table.where})" if table.where else "")
        yield content
    if table.note:
        yield _md(table.note)
    if table.details is not None:
        yield from _md_table(replace(table.details, is_folded=True))


def _md(text: str) -> str:
    """Return a text that stays in its cell and is not taken for a tag, a link or a picture."""
    harmless = plain(text.replace("\n", " ")).replace("<", "&lt;").replace("](", "]\\(")
    return harmless.replace("|", "\\|")
