"""Runs cases of planted parameters over many data sets, and prints how often intervals cover.

Used by the other benchmarks of this folder; run by itself it says how to.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass

import numpy as np

from agon.analysis.results import Estimate


@dataclass(frozen=True)
class Case:
    """Planted values, and how to draw a data set and estimate them."""

    name: str
    estimate: Callable[[np.random.Generator], Sequence[Estimate]]
    truth: Sequence[float]
    nominal: float = 95.0


_CASES: list[Case] = []


def _one(task: tuple[int, int]) -> list[tuple[str, float, bool, float]]:
    case, seed = _CASES[task[0]], task[1]
    estimates = case.estimate(np.random.default_rng([seed, task[0]]))
    return [
        (estimate.name, estimate.value, estimate.covers(truth), estimate.width)
        for estimate, truth in zip(estimates, case.truth, strict=True)
    ]


def main(cases: Sequence[Case]) -> None:
    """Run all cases and print the table."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--sets", type=int, default=1000, help="data sets per case")
    parser.add_argument("--only", default="", help="run cases with this word in their name")
    parser.add_argument("--processes", type=int, default=os.cpu_count())
    options = parser.parse_args()
    _CASES.extend(cases)
    print(f"{'case':44}{'parameter':>16}{'truth':>9}{'mean':>9}{'sd':>9}{'covers %':>10}{'se':>6}")
    outside = 0
    with ProcessPoolExecutor(options.processes) as pool:
        for place, case in enumerate(cases):
            if options.only not in case.name:
                continue
            start = time.monotonic()
            tasks = [(place, seed) for seed in range(options.sets)]
            sets = list(pool.map(_one, tasks, chunksize=max(1, options.sets // 50)))
            for number, truth in enumerate(case.truth):
                name = sets[0][number][0]
                values = np.array([one[number][1] for one in sets])
                share = float(np.mean([one[number][2] for one in sets]))
                error = 100.0 * np.sqrt(share * (1.0 - share) / len(sets))
                off = not 93.0 <= 100.0 * share <= 97.0
                outside += off
                print(
                    f"{case.name:44}{name:>16}{truth:9.3g}{values.mean():9.3g}"
                    f"{values.std():9.2g}{100.0 * share:10.1f}{error:6.1f}{'  *' if off else ''}",
                    flush=True,
                )
            print(f"{'':44}{time.monotonic() - start:16.0f} s", flush=True)
    print(f"* outside 93 to 97 %: {outside}")


if __name__ == "__main__":
    print(__doc__)
