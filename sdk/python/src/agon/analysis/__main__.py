"""Reports of runs from a shell: `python -m agon.analysis RUN`."""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from agon.analysis.report import DRAWS, report
from agon.errors import AgonError, BadInput
from agon.results import open as open_run

_ABOUT = """\
Apply every analysis of agon.analysis that fits to the games of runs: models of reasoning,
strategies, payoff tables with equilibria and dynamics, regret and welfare. Sessions of different
parameters or players are kept apart. What could not be applied is listed with the reason.
"""

_EXAMPLES = """\
examples:
  python -m agon.analysis gamma-bench-quick-start
      prints the report of a run in ./agon-data
  python -m agon.analysis first second --data /srv/agon --out report
      writes the report of two runs as report/index.html, with tables as CSV and figures as SVG
  agon report first second --data /srv/agon -o page.html --analyses report
      puts the same into the page of everything else that can be made of the two runs
  python -m agon.analysis my-run --player subject
      reports on one player, where an analysis is by player
  python -m agon.analysis records.jsonl.gz --symmetric my_game
      reads a file of records, with a game of your own in which all seats are alike

exit codes: 0 done; 2 a run, player or folder that is wrong; 3 something is not installed.
docs/game-theory.md explains the analyses.
"""


def main(arguments: Sequence[str] | None = None) -> int:
    """Print the report that the arguments ask for; return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m agon.analysis",
        description=_ABOUT,
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "runs",
        nargs="+",
        metavar="RUN",
        help="name of a run in the data folder, folder of a run, or file of records",
    )
    parser.add_argument(
        "--data", metavar="DIR", help="data folder (default: AGON_DATA, or ./agon-data)"
    )
    parser.add_argument(
        "--out", metavar="FOLDER", help="also write the report as a page, CSV and SVG"
    )
    parser.add_argument(
        "--player", action="append", metavar="NAME", help="only this player; may be repeated"
    )
    parser.add_argument(
        "--symmetric",
        action="append",
        default=[],
        metavar="GAME",
        help="a game of your own in which all seats are alike; may be repeated",
    )
    parser.add_argument(
        "--draws", type=int, default=DRAWS, help="samples of bootstraps (default: %(default)s)"
    )
    parser.add_argument("--seed", type=int, default=1, help="seed of bootstraps (default: 1)")
    given = parser.parse_args(arguments)
    try:
        runs = [open_run(name, data=given.data) for name in given.runs]
        made = report(
            runs,
            players=given.player,
            seed=given.seed,
            draws=given.draws,
            symmetric_games=given.symmetric,
        )
        print(made)
        if given.out is not None:
            print(f"\nWrote {made.save(given.out)}")
    except BrokenPipeError:
        # Whoever read the output, such as `head`, has enough.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except (ValueError, OSError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2
    except (AgonError, ImportError) as error:
        print(f"error: {error}", file=sys.stderr)
        return 2 if isinstance(error, BadInput) else 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
