"""A player in a process of its own: python threshold.py GATEWAY DOOR.

It guesses two thirds of the last mean, sees what it needs in every question, and so may be
killed and started again at any time.
"""

import sys

import agon


class Threshold(agon.Player):
    """Goes by the last round; begins with a third of the range."""

    name = "threshold-1"

    def __init__(self) -> None:
        self.answered = 0

    def decide(self, ask: agon.Ask) -> int:
        last = ask.latest("round_result")
        facts = ask.game_facts
        self.answered += 1
        if self.answered in (1, 300):
            print(self.answered, flush=True)
        if last is None or last["target"] is None:
            return round(facts["max"] / 3)
        return max(facts["min"], min(facts["max"], round(last["target"])))


def main() -> None:
    gateway, door = sys.argv[1:]
    with agon.serve({door: Threshold()}, gateway) as doors:
        try:
            doors.wait()
        except KeyboardInterrupt:
            print(doors.reports[door], flush=True)


if __name__ == "__main__":
    main()
