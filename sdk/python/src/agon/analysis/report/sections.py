"""What a section is: a table, a figure and caveats, or why an analysis was left out.

Analyses return `Found` or raise `LeftOut`; `making` makes sections of them, `pages` shows those.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from io import StringIO
from typing import TYPE_CHECKING, Any

import pandas as pd

from agon.analysis.report.figures import _SVG_STYLE, _shorten_names, _style
from agon.analysis.report.text import _printable, _shown, _wrapped
from agon.analysis.results import Result

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class LeftOut(Exception):  # noqa: N818
    """Why an analysis is not in the report."""


@dataclass(frozen=True)
class Found:
    """What an analysis found: rows of a table, how to draw them, and what limits them."""

    rows: pd.DataFrame
    draw: Callable[[], Figure] | None = None
    caveats: tuple[str, ...] = ()
    says: str = ""
    results: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Section(Result):
    """One analysis of one group of sessions, or the reason why it was left out.

    `results` has what the functions of this package returned, by player where there is one each.
    """

    game: str
    setting: str
    title: str
    says: str
    source: str
    sessions: int
    caveats: tuple[str, ...] = ()
    left_out: str = ""
    simulated: tuple[str, ...] = ()
    rows: pd.DataFrame | None = field(default=None, repr=False)
    results: Mapping[str, Any] = field(default_factory=dict, repr=False)
    draw: Callable[[], Figure] | None = field(default=None, repr=False)

    def frame(self) -> pd.DataFrame:
        """All rows of the table; an empty frame if the analysis was left out."""
        return pd.DataFrame() if self.rows is None else self.rows

    def heading(self) -> str:
        """The title, what the numbers say, and where the analysis comes from."""
        mark = " [simulated]" if self.simulated else ""
        return f"{self.title}{mark}\n{_wrapped(f'{self.says} ({self.source})')}"

    def figure(self) -> Figure | None:
        """The figure, if there is one."""
        if self.draw is None:
            return None
        with _style({"text.parse_math": False}):
            return self._drawn(self.draw)

    def svg(self) -> str:
        """The figure as an SVG with real text on white; empty if there is none."""
        if self.draw is None:
            return ""
        start, found, rest = self.transparent_svg.partition("<defs>")
        return f'{start}<rect width="100%" height="100%" fill="white"/>{found}{rest}'

    @cached_property
    def transparent_svg(self) -> str:
        """The figure as an SVG without a background, drawn once for page and file."""
        if self.draw is None:
            return ""
        text = StringIO()
        with _style(_SVG_STYLE), warnings.catch_warnings():
            # Text stays text: a reader's fonts have what matplotlib's lack.
            warnings.filterwarnings("ignore", "Glyph", UserWarning)
            figure = self._drawn(self.draw)
            figure.savefig(text, format="svg", metadata={"Date": None, "Creator": None})
        return _printable(text.getvalue())

    def _drawn(self, draw: Callable[[], Figure]) -> Figure:
        figure = draw()
        _shorten_names(figure)
        if self.simulated:
            axes = figure.axes[0]
            axes.set_title(f"{axes.get_title()} (simulated models)")
        return figure

    def __str__(self) -> str:
        if self.left_out:
            return f"{self.title}: left out, because {self.left_out}"
        shown, note = _shown(self.frame())
        lines = [self.heading(), "", shown.to_string(index=False, justify="right")]
        lines += [note] if note else []
        lines += [_wrapped(f"- {caveat}") for caveat in self.caveats]
        return _printable("\n".join(lines))


def _reasons(sections: Iterable[Section]) -> dict[str, list[str]]:
    """Titles of what was left out, by reason."""
    found: dict[str, list[str]] = {}
    for section in sections:
        if section.left_out:
            found.setdefault(section.left_out, []).append(section.title)
    return found
