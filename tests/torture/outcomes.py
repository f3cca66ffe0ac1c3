"""Outcomes of a fault, the good and the bad, and the table of a session."""

import sys
from collections import Counter, defaultdict
from typing import NamedTuple

from torture.children import Ended

# The good ones: "same" is the end of an undisturbed run, bit for bit; "refused" is one sentence and
# nothing changed; "worked" is an input that was taken for what it is and did no harm.
BAD = {
    "lost": "something that was said to be kept is gone",
    "changed": "the end is another, or damage was not noticed",
    "stuck": "the same command does not go on",
    "traceback": "an error that is not one of ours",
    "wordy": "a refusal that is not one sentence",
    "hang": "no end",
    "crash": "the process died by itself",
}
MOST_DETAILS = 8
"""Bad outcomes of one kind that are printed; the others are counted."""
MOST_LINES = 20
"""Lines on stderr beyond which a refusal is no sentence but a flood."""


class Found(NamedTuple):
    """The outcome of one fault, and how it showed if it is bad."""

    outcome: str
    detail: str = ""


def misbehaviour(ended: Ended) -> Found | None:
    """Return what a process did that none may do, however it was treated; None if nothing."""
    text = ended.err.strip()
    if ended.is_hung:
        return Found("hang", text[-300:])
    if "Traceback (most recent call last)" in ended.out + ended.err:
        return Found("traceback", text[-500:])
    if ended.code < 0 and not ended.is_struck:
        return Found("crash", f"signal {-ended.code}: {text[-300:]}")
    if len(text.splitlines()) > MOST_LINES:
        return Found("wordy", text[:300])
    return None


class Table:
    """Outcomes by kind of fault."""

    def __init__(self) -> None:
        self.counts: dict[str, Counter[str]] = defaultdict(Counter)
        self.details: list[str] = []

    def add(self, kind: str, found: list[Found], case: str) -> None:
        """Add the outcomes of one case, and print the bad ones; `case` says how to repeat it."""
        for each in found:
            self.counts[kind][each.outcome] += 1
            if each.outcome in BAD:
                self.details.append(f"{kind}: {each.outcome} (repeat: {case})\n  {each.detail}")
                if self.counts[kind][each.outcome] <= MOST_DETAILS:
                    print(self.details[-1], file=sys.stderr, flush=True)

    @property
    def n_bad(self) -> int:
        """Outcomes that must never be."""
        return sum(self.counts[kind][outcome] for kind in self.counts for outcome in BAD)

    def __str__(self) -> str:
        rows = ["| fault | count | outcomes |", "|---|---:|---|"]
        for kind, counts in sorted(self.counts.items()):
            told = [f"{n:,} {outcome}" for outcome, n in counts.most_common()]
            words = [f"**{each}**" if each.split(" ", 1)[1] in BAD else each for each in told]
            rows.append(f"| {kind} | {counts.total():,} | {', '.join(words)} |")
        return "\n".join(rows)
