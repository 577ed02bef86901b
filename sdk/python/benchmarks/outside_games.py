"""What a step of a game that is written in Python costs, alone and with others.

    AGON_BINARY=target/release/agon python benchmarks/outside_games.py

prints milliseconds per step with one session at a time, and steps per second with 128.
"""

from __future__ import annotations

import resource
import tempfile
import time
from pathlib import Path

import agon


class Goods(agon.Game):
    """Put tokens into a pot that is multiplied and shared evenly."""

    seats = (2, 10)
    rounds = agon.parameter(500, min=1, max=10_000)

    def play(self, table):
        table.brief(rounds=self.rounds)
        for table.round in range(1, self.rounds + 1):
            given = yield table.ask_all("contribution", agon.whole(0, 20))
            pot = sum(given.values())
            share = 1.5 * pot / table.seats
            table.tell("round_result", pot=pot, own={"contribution": list(given.values())})
            table.pay([20 - given[seat] + share for seat in range(table.seats)])


def seconds(data: Path, name: str, sessions: int, seats: int, places: int) -> float:
    """Play so many sessions of 500 rounds between random rule players."""
    document = {
        "name": name,
        "repeats": sessions,
        "players": {"p": {"kind": "rule", "strategy": "random"}},
        "games": [{"game": "goods", "seats": [{"player": "p", "count": seats}]}],
    }
    begun = time.perf_counter()
    agon.run(document, games=[Goods], places=places, data=data, progress=False)
    return time.perf_counter() - begun


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder:
        data = Path(folder)
        seconds(data, "warm", 1, 2, 1)
        for seats in (2, 10):
            few = seconds(data, f"few-{seats}", 1, seats, 1)
            more = seconds(data, f"more-{seats}", 11, seats, 1)
            step = (more - few) / (10 * 501)
            print(f"{seats} seats, one session at a time: {step * 1e3:.3f} ms per step")
            used = cpu()
            base = seconds(data, f"base-{seats}", 1, seats, 128)
            took = seconds(data, f"many-{seats}", 300, seats, 128) - base
            steps = 299 * 501
            each = (cpu() - used) / steps * 1e6
            print(
                f"{seats} seats, 128 sessions at a time: {steps / took:,.0f} steps per second, "
                f"{each:.0f} microseconds of processor time each in both processes"
            )


def cpu() -> float:
    """Return the processor time of this process and of those that it ran."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


if __name__ == "__main__":
    main()
