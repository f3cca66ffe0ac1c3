"""The report as Markdown, with its pictures as files beside it."""

from collections.abc import Iterable, Sequence

from smgrnn.errors import plain
from smgrnn.text import duration, number, quantity
from smgrnn_paper.report import sheets
from smgrnn_paper.report.contents import Illustration, Report, Section
from smgrnn_paper.report.sheets import Sheet
from smgrnn_paper.report.tables import ReportTable
from smgrnn_paper.report.verdicts import STANDINGS

FIGURES = "figures"
"""Folder of the pictures."""


def markdown(report: Report) -> str:
    """Return the report as Markdown."""
    blocks = [
        *_summary(report),
        *_claims(report),
        *_changes(report),
        "## Method" if report.drawings else "",
        *map(_figure, report.drawings),
    ]
    for section in report.sections:
        blocks += _experiment(section)
    return "\n\n".join(filter(None, blocks)) + "\n"


def _summary(report: Report) -> Iterable[str]:
    overview = report.overview
    yield f"**{overview.short}**" if overview.short else ""
    yield f"# {report.title}"
    yield report.introduction
    runs = f"{number(overview.n_runs, 0)} of {quantity(overview.n_asked, 'run')}"
    steps, time = quantity(overview.steps, "environment step"), duration(overview.seconds)
    wall = duration(overview.wall_seconds)
    yield f"{runs}, {steps}, {wall} from first to last; {time} of computing on one core each."
    if overview.missing:
        gaps = [
            f"- {section.id}: {'; '.join(found)}"
            for section in report.sections
            if (found := sheets.gaps(section))
        ]
        n = quantity(len(overview.missing), "run")
        yield "\n".join([f"**{n} missing; all numbers are over those there are:**", "", *gaps])
    yield from (f"Could not be read: {_escape(reason)}" for reason in overview.damaged)
    counts = overview.standings
    verdicts = ", ".join(f"{standing}: {counts[standing]}" for standing in STANDINGS)
    if report.has_claims:
        hardly = f"Of those that hold, {overview.n_hardly_failing} could hardly have failed."
        n = number(sum(counts.values()), 0)
        said = f"Of {n} {report.judged} — {verdicts}."
        yield f"{said} {hardly}" if overview.n_hardly_failing else said
    far = overview.distances
    if report.glance:
        yield (
            f"Of {quantity(sum(far.values()), 'table cell')} for which the paper prints a standard "
            f"deviation, each once — within one of it: {far['near']}, within two: {far['apart']}, "
            f"further away: {far['far']}."
        )
    yield from _table(report.glance) if report.glance else ()
    yield from report.guide
    versions = ", ".join(f"{name} {' and '.join(v)}" for name, v in overview.versions.items())
    yield _escape(f"Computed with {versions}.") if versions else ""


def _claims(report: Report) -> Iterable[str]:
    if report.has_claims:
        yield "## Claims"
    for section in report.sections:
        if not section.findings:
            continue
        yield f"### {section.title}: claims"
        rows = [
            (
                f"{finding.claim.sentence} ({', '.join(finding.claim.where)})",
                f"**{finding.standing}**",
                f"{finding.reason} {finding.caution}".strip(),
                finding.rule,
            )
            for finding in section.findings
        ]
        who = "We expected" if section.is_ours else "The paper says"
        yield _rows((who, "Verdict", "What we found", "How it was decided"), rows)


def _changes(report: Report) -> Iterable[str]:
    if report.changes:
        yield f"## {report.changes.title}"
        yield report.changes.text
        sheet = sheets.changes(report.changes)
        yield _rows(sheet.headings, sheet.rows)


def _experiment(section: Section) -> Iterable[str]:
    yield f"## {section.title}"
    yield f"**{section.question}**" if section.question else ""
    yield section.facts
    yield from map(_escape, sheets.warnings(section))
    yield from map(_figure, section.illustrations)
    for table in section.tables:
        yield from _table(table)
    yield from (_fold(title, sheet) for title, sheet in sheets.settings(section))


def _figure(illustration: Illustration) -> str:
    name, title = illustration.name, illustration.title
    if illustration.picture is None:
        return f"{name} ({title}) needs runs that are missing."
    said = f"{name}: {title}" if illustration.where else title
    image = f"![{said}]({FIGURES}/{illustration.file})"
    place = f" ({illustration.where})" if illustration.where else ""
    return f"{image}\n\n**{name}**{place}. {illustration.caption}"


def _table(table: ReportTable) -> Iterable[str]:
    """Yield a table with a row each for ours, the paper's and the difference."""
    place = f" ({table.where})" if table.where else ""
    named = "" if table.name == table.title else f"{table.name}. "
    yield f"### {named}{table.title}{place}"
    headings = [column.heading for column in table.columns]
    if len(table.columns) == 1:
        sheet = sheets.side_by_side(table)
        yield _rows(sheet.headings, sheet.rows)
    elif not table.has_paper:
        rows = [(*line.labels, *(entry.text for entry in line.entries)) for line in table.lines]
        yield _rows((*table.headings, *headings), rows)
    else:
        rows = []
        for line in table.lines:
            blank = [""] * len(line.labels)
            rows.append((*line.labels, "ours", *(f"**{each.text}**" for each in line.entries)))
            if not line.has_paper:
                continue
            rows.append((*blank, "paper", *(each.paper for each in line.entries)))
            rows.append((*blank, "difference", *(each.comparison for each in line.entries)))
        yield _rows((*table.headings, "", *headings), rows)
    yield table.note
    if table.has_statistics:
        yield _fold("All numbers, with intervals", sheets.details(table))


def _fold(title: str, sheet: Sheet) -> str:
    """Return a table that is shown on demand."""
    content = _rows(sheet.headings, sheet.rows)
    return f"<details><summary>{title}</summary>\n\n{content}\n\n</details>"


def _rows(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    lines = [headings, ["---"] * len(headings), *rows]
    return "\n".join(f"| {' | '.join(_escape(text) for text in line)} |" for line in lines)


def _escape(text: str) -> str:
    """Return a text that stays in its cell and is not taken for a tag, a link or a picture."""
    harmless = plain(text.replace("\n", " ")).replace("<", "&lt;").replace("](", "]\\(")
    return harmless.replace("|", "\\|")
