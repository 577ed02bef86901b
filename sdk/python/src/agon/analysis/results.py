"""What every analysis returns: frozen dataclasses that print as a table, give a frame and draw.

Frames that come in may be of pandas, polars or Arrow, or plain dictionaries of columns; frames that
go out are of pandas.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FloatArray = npt.NDArray[np.float64]
IntArray = npt.NDArray[np.int64]

LEVEL = 0.95
"""Default confidence level of all intervals."""


class Columns(Protocol):
    """A frame of any library: a column is found by its name."""

    def __getitem__(self, name: str, /) -> Any: ...


def column(frame: Columns, name: str) -> npt.NDArray[Any]:
    """A column of a frame of pandas, polars or Arrow, or of a dictionary, as an array."""
    try:
        values = frame[name]
    except Exception as error:
        raise KeyError(f"the frame has no column {name!r}") from error
    if hasattr(values, "to_numpy"):
        return np.asarray(values.to_numpy())
    return np.asarray(values)


def number_column(frame: Columns, name: str) -> FloatArray:
    """A column as floats; missing values are NaN."""
    return np.asarray(pd.to_numeric(pd.Series(column(frame, name))), dtype=np.float64)


def has_column(frame: Columns, name: str) -> bool:
    """Whether the frame has such a column."""
    names = getattr(frame, "column_names", None) or getattr(frame, "columns", None)
    if names is None:
        names = list(frame) if isinstance(frame, Mapping) else []
    return name in list(names)


class Result:
    """A result that prints as a table. Subclasses say what its rows are."""

    def frame(self) -> pd.DataFrame:
        """The rows of the table as a pandas frame."""
        raise NotImplementedError

    def heading(self) -> str:
        """A line above the table; empty for none."""
        return ""

    def __str__(self) -> str:
        table = str(
            self.frame().to_string(index=False, na_rep="-", float_format=lambda x: f"{x:.4g}")
        )
        heading = self.heading()
        return f"{heading}\n{table}" if heading else table


@dataclass(frozen=True)
class Estimate:
    """A number with its interval, in the unit of the parameter.

    An end of the interval is infinite where the data do not bound the parameter, and NaN where no
    interval is known.
    """

    name: str
    value: float
    low: float
    high: float

    def covers(self, truth: float) -> bool:
        """Whether the interval contains a value; ends are inside."""
        return self.low <= truth <= self.high

    @property
    def width(self) -> float:
        """Length of the interval."""
        return self.high - self.low

    def __str__(self) -> str:
        return f"{self.name} {self.value:.4g} [{self.low:.4g}, {self.high:.4g}]"


def estimates_frame(estimates: Sequence[Estimate]) -> pd.DataFrame:
    """Estimates as rows of `name`, `value`, `low` and `high`."""
    frame: pd.DataFrame = pd.DataFrame(
        {
            "name": [estimate.name for estimate in estimates],
            "value": [estimate.value for estimate in estimates],
            "low": [estimate.low for estimate in estimates],
            "high": [estimate.high for estimate in estimates],
        }
    )
    return frame


def estimates_figure(estimates: Sequence[Estimate], title: str, unit: str) -> Figure:
    """Dots with intervals, one row per estimate."""
    figure, axes = new_figure(title)
    rows = np.arange(len(estimates))[::-1]
    values = np.array([estimate.value for estimate in estimates])
    ends = [(np.array([e.low for e in estimates])), np.array([e.high for e in estimates])]
    finite = np.concatenate([values, *ends])
    largest = float(finite[np.isfinite(finite)].max(initial=1.0))
    low = np.where(np.isfinite(ends[0]), ends[0], values)
    high = np.where(np.isfinite(ends[1]), ends[1], np.where(np.isnan(ends[1]), values, largest))
    axes.hlines(rows, low, high, color="#0072B2")
    axes.plot(values, rows, "o", color="#0072B2")
    axes.set_yticks(rows, [estimate.name for estimate in estimates])
    axes.set_xlabel(unit)
    return figure


def new_figure(title: str) -> tuple[Figure, Axes]:
    """An empty figure that no window shows; matplotlib is imported here, when somebody asks."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError("figures need matplotlib: pip install matplotlib") from error
    figure = Figure(layout="constrained")
    axes = figure.add_subplot()
    axes.set_title(title)
    return figure, axes
