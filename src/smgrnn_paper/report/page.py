"""The report as one page that opens from disk: style, script and pictures are all inside.

The frame, with its style and its script, is `page.html`.
"""

import re
from base64 import b64encode
from collections import Counter
from collections.abc import Iterable
from importlib.resources import files
from string import Template
from typing import Any

from smgrnn.text import MINUS, MISSING, duration, number, quantity
from smgrnn_paper.report import sheets
from smgrnn_paper.report.changes import Changes
from smgrnn_paper.report.contents import Illustration, Report, Section
from smgrnn_paper.report.markup import Markup, breakable, element, join
from smgrnn_paper.report.sheets import Sheet
from smgrnn_paper.report.tables import Entry, Line, ReportTable
from smgrnn_paper.report.verdicts import STANDINGS, Finding
from smgrnn_paper.report.wording import METRICS

PIXELS = 130
"""Most pixels that an inch of a figure takes."""


def page(report: Report) -> str:
    """Return the report as HTML."""
    drawings = [_figure(drawing) for drawing in report.drawings]
    body = join(
        _summary(report),
        _claims(report) if report.has_claims else None,
        _changes(report.changes) if report.changes else None,
        element("section", element("h2", "Method"), *drawings, id="method") if drawings else None,
        *(_experiment(section) for section in report.sections),
    )
    frame = files("smgrnn_paper.report").joinpath("page.html").read_text(encoding="utf-8")
    return Template(frame).substitute(title=report.title, contents=_contents(report), body=body)


def _contents(report: Report) -> Markup:
    links = [_link("#summary", "Summary")]
    links += [_link("#claims", "Claims")] if report.has_claims else []
    links += [_link("#changes", report.changes.title)] if report.changes else []
    links += [_link("#method", "Method")] if report.drawings else []
    parts = [element("li", link) for link in links]
    for section in report.sections:
        shown: list[Illustration | ReportTable] = [*section.illustrations, *section.tables]
        inner = [element("li", _link(f"#{_anchor(each.name)}", each.name)) for each in shown]
        link = _link(f"#{section.id}", section.title)
        parts.append(element("li", link, element("ol", *inner)))
    heading = element("summary", "Contents")
    return element("details", heading, element("ol", *parts), open=True)


def _summary(report: Report) -> Markup:
    overview = report.overview
    seeds = " or ".join(map(str, overview.n_seeds))
    computing = f"{duration(overview.seconds)} of computing on one core each"
    tiles = [
        ("Runs", number(overview.n_runs, 0), f"of {number(overview.n_asked, 0)}"),
        ("Seeds per condition", seeds, "as was asked for"),
        ("Environment steps", _large(overview.steps), "one weight update each"),
        ("Time", duration(overview.wall_seconds), computing),
    ]
    versions = ", ".join(f"{name} {' and '.join(v)}" for name, v in overview.versions.items())
    return join(
        element("p", element("b", overview.short), class_="notice") if overview.short else None,
        element("h1", report.title, id="summary"),
        element("p", report.introduction),
        element("dl", *(_tile(*tile) for tile in tiles), class_="tiles"),
        element("div", _standings(report), _distances(report), class_="bars")
        if report.glance
        else None,
        _notice(report),
        _table(report.glance) if report.glance else None,
        *(element("p", text) for text in report.guide),
        element("p", f"Computed with {versions}.", class_="small soft") if versions else None,
    )


def _tile(term: str, value: str, small: str) -> Markup:
    definition = element("dd", value, element("span", small, class_="of"))
    return element("div", element("dt", term), definition, class_="tile")


def _standings(report: Report) -> Markup:
    counts = report.overview.standings
    parts = [(_anchor(standing), n, _plural(standing, n)) for standing, n in counts.items()]
    return _bar(f"{number(sum(counts.values()), 0)} {report.judged}", parts)


def _distances(report: Report) -> Markup:
    counts = report.overview.distances
    words = {
        "near": "within one of the paper’s standard deviations",
        "apart": "within two",
        "far": "further away",
    }
    title = f"{quantity(sum(counts.values()), 'table cell')} with a printed deviation, each once"
    return _bar(title, [(name, counts[name], word) for name, word in words.items()])


def _bar(title: str, parts: list[tuple[str, int, str]]) -> Markup:
    """Return shares of a whole as one bar, each with its number and its word; none of 0."""
    shares = [element("span", class_=kind, style=f"flex: {n}") for kind, n, _ in parts if n]
    legend = [element("li", f"{n} {word}", class_=kind) for kind, n, word in parts if n]
    return element(
        "div",
        element("h3", title),
        element("div", *shares, class_="bar", aria_hidden="true"),
        element("ul", *legend, class_="legend"),
    )


def _notice(report: Report) -> Markup | None:
    """Return a notice of the runs that are missing or could not be read, or None."""
    overview = report.overview
    if not overview.missing and not overview.damaged:
        return None
    n = quantity(len(overview.missing), "run")
    text = f"{n} of {overview.n_asked} are missing; the numbers below are over those there are."
    places = [
        join(element("p", section.id), _bullets(gaps))
        for section in report.sections
        if (gaps := sheets.gaps(section))
    ]
    return element(
        "div",
        element("p", element("b", text)) if overview.missing else None,
        _fold("Which", join(*places)) if places else None,
        element("p", "Files that could not be read:") if overview.damaged else None,
        _bullets(overview.damaged) if overview.damaged else None,
        class_="notice",
    )


def _bullets(texts: Iterable[str]) -> Markup:
    return element("ul", *(element("li", text) for text in texts))


def _claims(report: Report) -> Markup:
    n, about = report.overview.n_hardly_failing, "What we expected, and what our runs say."
    if not all(section.is_ours for section in report.sections):
        about = (
            "What the abstract, Sections IV and V and Appendix A of the paper say, and what our "
            f"runs say. Of the claims that hold, {n} could hardly have failed, and are marked so."
        )
    buttons = [element("button", "All", type="button", value="", aria_pressed="true")]
    for standing, n in report.overview.standings.items():
        label, value = f"{standing.capitalize()} ({n})", _anchor(standing)
        state: dict[str, Any] = {"aria_pressed": "false", "disabled": not n}
        buttons.append(element("button", label, type="button", value=value, **state))
    return element(
        "section",
        element("h2", report.judged.capitalize()),
        element("p", about),
        element("div", *buttons, class_="filter", role="group", aria_label="Verdicts to show"),
        *(_family(section) for section in report.sections if section.findings),
        id="claims",
    )


def _changes(found: Changes) -> Markup:
    return element(
        "section",
        element("h2", found.title),
        element("p", found.text),
        _sheet(sheets.changes(found)),
        id="changes",
    )


def _family(section: Section) -> Markup:
    items = [
        element("li", _claim(finding), data_verdict=_anchor(finding.standing))
        for finding in section.findings
    ]
    return element(
        "div",
        element("h3", _link(f"#{section.id}", section.title)),
        element("ul", *items, class_="claims"),
        class_="family",
        id=f"claims-{section.id}",
    )


def _claim(finding: Finding) -> Markup:
    claim = finding.claim
    head = element(
        "summary",
        element("span", finding.standing, class_=f"badge {_anchor(finding.standing)}"),
        element("span", claim.sentence, _mark(finding), class_="says"),
        element("span", ", ".join(claim.where), class_="where"),
    )
    metric = METRICS[claim.metric]
    about = f"On the {metric.word}: {metric.meaning}. {finding.rule}"
    compared = sheets.tests(finding)
    body = element(
        "div",
        element("p", finding.reason),
        element("p", finding.caution) if finding.caution else None,
        element("p", about, class_="small soft"),
        _sheet(sheets.samples(finding)),
        _fold("All comparisons", _sheet(compared)) if len(compared.rows) > 1 else None,
        class_="body",
    )
    return element("details", head, body, class_="claim", id=f"claim-{claim.id}")


def _mark(finding: Finding) -> Markup | None:
    """Return the mark of a claim that can hardly fail."""
    words = "can hardly fail"
    return element("span", words, class_="mark") if finding.claim.hardly_fails else None


def _experiment(section: Section) -> Markup:
    counts = Counter(finding.standing for finding in section.findings)
    verdicts = ", ".join(f"{counts[s]} {_plural(s, counts[s])}" for s in STANDINGS if counts[s])
    claims = _link(f"#claims-{section.id}", f"claims: {verdicts}")
    facts = join(section.facts, " · ", claims) if verdicts else section.facts
    return element(
        "section",
        element("h2", section.title),
        element("p", element("b", section.question)) if section.question else None,
        element("p", facts, class_="facts soft small"),
        *(element("p", warning, class_="notice") for warning in sheets.warnings(section)),
        *(_figure(each) for each in section.illustrations),
        *(_table(each) for each in section.tables),
        *(_fold(title, _sheet(sheet)) for title, sheet in sheets.settings(section)),
        id=section.id,
    )


def _figure(illustration: Illustration) -> Markup:
    name, title, picture = illustration.name, illustration.title, illustration.picture
    if picture is None:
        words = f"{name} ({title}) needs runs that are missing."
        return element("p", words, class_="notice", id=_anchor(name))
    source = f"data:{picture.media_type};base64,{b64encode(picture.data).decode()}"
    said = f"{name}: {title}" if illustration.where else title
    image = element("img", src=source, alt=said)
    width = f"--width: {round(PIXELS * picture.width)}px"
    place = f" ({illustration.where})" if illustration.where else ""
    caption = element("figcaption", element("b", name), f"{place}. {illustration.caption}")
    scrolled = element("div", image, class_="scroll", style=width)
    return element("figure", scrolled, caption, id=_anchor(name))


def _table(table: ReportTable) -> Markup:
    place = f" ({table.where})" if table.where else ""
    title = table.title if table.name == table.title else f"{table.name}. {table.title}"
    if len(table.columns) == 1:
        content = _sheet(sheets.side_by_side(table))
    else:
        rows = [_row(table, line) for line in table.lines]
        content = _sortable(_headings(table), rows, "labelled" if len(table.headings) > 2 else "")
    return element(
        "div",
        element("h3", title, element("span", place, class_="soft small")),
        content,
        element("p", table.note, class_="note") if table.note else None,
        _fold("All numbers, with intervals", _sheet(sheets.details(table)))
        if table.has_statistics
        else None,
        class_="sheet",
        id=_anchor(table.name),
    )


def _headings(table: ReportTable) -> list[Markup]:
    labels = [element("th", heading, scope="col") for heading in table.headings]
    key = [element("th", class_="key")] if table.has_paper else []
    columns = []
    for column in table.columns:
        meaning = METRICS[column.name].meaning if column.name in METRICS else None
        heading = breakable(column.heading)
        columns.append(element("th", heading, scope="col", class_="n", title=meaning))
    return labels + key + columns


def _row(table: ReportTable, line: Line) -> Markup:
    labels = map(_label, table.headings, line.labels)
    names = [element("span", word, class_=kind) for kind, word in _KEY] if line.has_paper else []
    key = element("td", *names, class_="key") if table.has_paper else None
    return element("tr", *labels, key, *(_cell(entry) for entry in line.entries))


_KEY = (("ours", "ours"), ("paper", "paper"), ("gap", "difference"))


def _cell(entry: Entry) -> Markup:
    key, label = _sort_key(str(entry.sort_by)), entry.column.heading
    if re.match(r"[-+]?\d|Infinity", key):
        children = [element("span", entry.text, class_="ours")]
    else:
        children = [element("span", breakable(entry.text), class_="ours words")]
    if entry.printed is not None:
        children.append(element("span", entry.paper, class_="paper"))
        children.append(element("span", entry.comparison, class_=f"gap {entry.distance}".strip()))
    return element("td", *children, class_="n", data_sort=key, data_label=label)


def _sheet(sheet: Sheet) -> Markup:
    """Return a plain table."""
    headings = [element("th", heading, scope="col") for heading in sheet.headings]
    rows = []
    for row in sheet.rows:
        pairs = list(zip(sheet.headings, row, strict=True))
        labels = [_label(*pair) for pair in pairs[: sheet.n_labels]]
        cells = [
            element("td", element("span", text), data_label=heading, data_sort=_sort_key(text))
            for heading, text in pairs[sheet.n_labels :]
        ]
        rows.append(element("tr", *labels, *cells))
    return _sortable(headings, rows)


def _label(heading: str, text: str) -> Markup:
    """Return the cell that names a row, or a part of its name."""
    return element(
        "th", breakable(text), scope="row", data_label=heading, data_sort=_sort_key(text)
    )


def _sortable(headings: list[Markup], rows: list[Markup], kind: str = "") -> Markup:
    """Return a table that the page's script makes sortable, and folds if it is long."""
    head = element("thead", element("tr", *headings))
    table = element("table", head, element("tbody", *rows), class_=f"sortable {kind}".strip())
    return element("div", table, class_="scroll")


def _fold(title: str, content: Markup) -> Markup:
    return element("details", element("summary", title), content, class_="fold")


def _link(target: str, text: str) -> Markup:
    return element("a", text, href=target)


def _anchor(name: str) -> str:
    """Return a name as it may stand in an address.

    >>> _anchor("Table A.IV")
    'table-a-iv'
    """
    return re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")


def _sort_key(text: str) -> str:
    """Return the key by which the page's script sorts a cell: the number it begins with, if any.

    >>> _sort_key("−94.0 ± 1.9"), _sort_key("16\u202f707"), _sort_key("Acrobot-v1"), _sort_key("–")
    ('-94.0', '16707', 'Acrobot-v1', 'Infinity')
    """
    if text in (MISSING, "∞", "inf"):
        return "Infinity"
    plain = text.replace("\u202f", "").replace(MINUS, "-")
    found = re.match(r"[-+]?\d+(\.\d+)?(e-?\d+)?", plain)
    return found.group() if found else text


def _plural(standing: str, n: int) -> str:
    """Return a verdict in the singular or the plural, by the number of claims.

    >>> _plural("holds", 2), _plural("does not hold", 1)
    ('hold', 'does not hold')
    """
    if n == 1:
        return standing
    return {"holds": "hold", "does not hold": "do not hold"}.get(standing, standing)


def _large(n: int) -> str:
    """Return a large number in words that are read at once.

    >>> _large(1_234_567_890), _large(4_200_000), _large(900)
    ('1.23 billion', '4.2 million', '900')
    """
    if n >= 1e9:
        return f"{n / 1e9:.2f} billion"
    return f"{n / 1e6:.1f} million" if n >= 1e6 else number(n, 0)
