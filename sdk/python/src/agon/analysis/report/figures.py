"""Figures of analyses, and the style that all figures of a report share.

The modules of analyses call it with what they found; `sections` draws in its style.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, cast

import numpy as np
import pandas as pd
from scipy import stats

from agon.analysis.dynamics import Trajectory
from agon.analysis.equilibria import BestResponseGraph
from agon.analysis.report.text import _printable
from agon.analysis.results import LEVEL, Estimate, estimates_figure, new_figure
from agon.analysis.welfare import Anarchy, WelfareTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_MOST_DRAWN_ROWS = 30
"""Rows of a figure."""

_LONGEST = 40
"""Characters of a name in a figure."""

_COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9")

_INK = "#24292f"
"""Colour of text and axes in figures, which pages replace by that of their text."""

_SVG_STYLE = {
    "text.parse_math": False,
    "svg.fonttype": "none",
    "svg.hashsalt": "agon",
    "font.size": 10,
    "axes.facecolor": "none",
    "figure.facecolor": "none",
    "savefig.facecolor": "auto",
    "axes.spines.top": False,
    "axes.spines.right": False,
    "legend.framealpha": 0.0,
    "legend.edgecolor": "none",
    "text.color": _INK,
    "axes.edgecolor": _INK,
    "axes.labelcolor": _INK,
    "xtick.color": _INK,
    "ytick.color": _INK,
}


def _style(values: Mapping[str, Any]) -> AbstractContextManager[None]:
    """Settings of matplotlib for a while; names are never read as mathematics."""
    try:
        import matplotlib
    except ImportError as error:
        raise ImportError("figures need matplotlib: pip install matplotlib") from error
    styled: AbstractContextManager[None] = matplotlib.rc_context(cast(Any, dict(values)))
    return styled


def _shorten_names(figure: Figure) -> None:
    """Long names leave no room for what they name; tables have them whole."""
    legends = [*figure.legends, *(axes.get_legend() for axes in figure.axes)]
    texts = [text for axes in figure.axes for text in axes.texts]
    texts += [text for legend in legends if legend is not None for text in legend.get_texts()]
    for text in texts:
        text.set_text(_cut(text.get_text()))
    for axes in figure.axes:
        for axis in (axes.xaxis, axes.yaxis):
            places = list(axis.get_majorticklocs())
            labels = axis.get_major_formatter().format_ticks(places)
            if any(label != _cut(label) for label in labels):
                axis.set_ticks(places, [_cut(label) for label in labels])


def _cut(text: str) -> str:
    text = _printable(text)
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 13]}...{text[-10:]}"


def _graph_figure(graph: BestResponseGraph) -> Figure:
    """The graph with names outside of its circle."""
    figure = graph.figure()
    axes = figure.axes[0]
    for text in axes.texts:
        x = text.get_position()[0]
        text.set_horizontalalignment("left" if x > 0.2 else "right" if x < -0.2 else "center")
        text.set_verticalalignment("center")
    axes.set_xlim(-2.2, 2.2)
    return figure


def _sized(figure: Figure, rows: int | None = None) -> Figure:
    """The figure, as high as so many rows need."""
    count = len(figure.axes[0].get_yticks()) if rows is None else rows
    figure.set_size_inches(6.4, 1.3 + 0.32 * max(count, 1))
    axes = figure.axes[0]
    axes.margins(y=0.6 / max(count, 1))
    return figure


def _grouped_figure(found: Mapping[str, Sequence[Estimate]], title: str, unit: str) -> Figure:
    """Estimates with intervals: rows of one name together, a colour per player."""
    names = list(dict.fromkeys(one.name for own in found.values() for one in own))
    figure, axes = new_figure(title)
    lines = len(found)
    for place, (player, own) in enumerate(found.items()):
        colour = _COLOURS[place % len(_COLOURS)]
        offset = (place + 0.5) / lines - 0.5
        heights = [names.index(one.name) + 0.7 * offset for one in own]
        values = [one.value for one in own]
        lows = [one.value if math.isnan(one.low) else one.low for one in own]
        highs = [one.value if math.isnan(one.high) else one.high for one in own]
        axes.hlines(heights, lows, highs, color=colour)
        axes.plot(values, heights, "o", color=colour, markersize=5, label=player)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlim(-0.02, 1.02)
    axes.set_xlabel(unit)
    if lines > 1:
        figure.legend(loc="outside right upper")
    figure.set_size_inches(6.4, 1.3 + 0.16 * max(len(names) * lines, 2 * len(names), 6))
    return figure


def _quantal_figure(frames: Mapping[str, pd.DataFrame]) -> Figure:
    figure, axes = new_figure("Quantal response")
    axes.plot([0, 1], [0, 1], color="#999999", linewidth=1)
    for place, (player, frame) in enumerate(frames.items()):
        colour = _COLOURS[place % len(_COLOURS)]
        axes.plot(frame["fitted"], frame["observed"], "o", color=colour, alpha=0.8, label=player)
    axes.set_xlabel("fitted probability of a choice")
    axes.set_ylabel("observed share")
    figure.legend(loc="outside right upper")
    figure.set_size_inches(6.4, 4.0)
    return figure


def _payoff_figure(frame: pd.DataFrame) -> Figure:
    """Payoffs with intervals of Student's t."""
    known = frame.dropna(subset=["payoff"]).head(_MOST_DRAWN_ROWS)
    estimates = []
    for row in known.to_dict("records"):
        half = float("nan")
        if row["units"] > 1 and row["se"] > 0.0:
            half = float(stats.t.ppf((1.0 + LEVEL) / 2.0, row["units"] - 1)) * row["se"]
        seat = f"seat {row['seat']}: " if "seat" in row else ""
        profile = f" in {row['profile']}" if known["profile"].nunique() > 1 else ""
        name = f"{seat}{row['player']}{profile}"
        estimates.append(Estimate(name, row["payoff"], row["payoff"] - half, row["payoff"] + half))
    return _sized(estimates_figure(estimates, "Payoff of a session", "payoff"))


def _equilibrium_figure(rows: pd.DataFrame) -> Figure:
    """How often each profile is an equilibrium in draws, or whether it is one."""
    has_draws = "share of draws" in rows
    shown = rows.sort_values("share of draws", ascending=False) if has_draws else rows
    shown = shown.head(_MOST_DRAWN_ROWS)[::-1]
    shares = shown["share of draws"] if has_draws else shown["equilibrium"].astype(float)
    figure, axes = new_figure("Pure equilibria")
    colours = [_COLOURS[0] if own else "#999999" for own in shown["equilibrium"]]
    axes.barh(shown["profile"], shares, color=colours)
    axes.set_xlim(0.0, 1.0)
    drawn = "share of draws in which it is an equilibrium (blue: in the measured table)"
    axes.set_xlabel(drawn if has_draws else "1: an equilibrium of the measured table")
    return _sized(figure, len(shown))


def _mixed_figure(frame: pd.DataFrame) -> Figure:
    shown = frame.head(_MOST_DRAWN_ROWS)[::-1]
    figure, axes = new_figure("Nash equilibria")
    names = [f"{row.equilibrium}: seat {row.seat}, {row.player}" for row in shown.itertuples()]
    axes.barh(names, shown["probability"], color=_COLOURS[0])
    axes.set_xlim(0.0, 1.0)
    axes.set_xlabel("probability")
    return _sized(figure, len(shown))


def _survivor_figure(rows: pd.DataFrame) -> Figure:
    figure, axes = new_figure("Players that survive elimination")
    names = [
        str(row.player) if row.seat == "any" else f"{row.player}, seat {row.seat}"
        for row in rows[::-1].itertuples()
    ]
    kept = rows["survives"].astype(float)[::-1]
    axes.barh(names, kept, color=_COLOURS[0])
    axes.set_xticks([0.0, 1.0], ["eliminated", "survives"])
    axes.set_xlim(0.0, 1.0)
    return _sized(figure, len(rows))


def _anarchy_figure(price: Anarchy) -> Figure:
    figure, axes = new_figure("Sum of payoffs")
    names = ["worst equilibrium", "best equilibrium", "highest of all"]
    axes.barh(
        names, [price.worst_equilibrium, price.best_equilibrium, price.optimum], color=_COLOURS[0]
    )
    axes.set_xlabel("sum of payoffs")
    return _sized(figure, 3)


def _paths_figure(names: Sequence[str], paths: Sequence[Trajectory]) -> Figure:
    """Trajectories of several populations below each other."""
    figure, first = new_figure("Replicator dynamics")
    first.remove()
    for place, (name, path) in enumerate(zip(names, paths, strict=True)):
        axes = figure.add_subplot(len(paths), 1, place + 1)
        for column, player in enumerate(path.names):
            colour = _COLOURS[column % len(_COLOURS)]
            axes.plot(path.times, path.shares[:, column], color=colour, label=player)
        axes.set_title(f"Replicator dynamics, {name}")
        axes.set_ylim(-0.02, 1.02)
        axes.set_ylabel("share")
        axes.legend()
    figure.axes[-1].set_xlabel("time")
    figure.set_size_inches(6.4, 2.6 * len(paths))
    return figure


def _welfare_figure(tables: Mapping[str, WelfareTable], measure: str) -> Figure:
    """A dot for each session, by who sat there."""
    figure, axes = new_figure(f"{measure.capitalize()} of sessions")
    names = list(tables)
    for place, table in enumerate(tables.values()):
        values = table.sessions[measure].to_numpy(dtype=np.float64)
        # Equal sessions would lie upon each other.
        heights = place + np.linspace(-0.25, 0.25, values.size) if values.size > 1 else [place]
        axes.plot(values, heights, "o", color=_COLOURS[0], markersize=4, alpha=0.7)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.set_xlabel("efficiency" if measure == "efficiency" else "sum of payoffs of a session")
    figure.set_size_inches(6.4, 1.3 + 0.5 * len(names))
    return figure
