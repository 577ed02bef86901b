"""What a call of Agon raises. Exit codes of the binary become these types, with its own message."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from agon.results import Run


class AgonError(Exception):
    """Any failure of a call of Agon.

    `run` is the run with what was played until then, if a run was under way.
    """

    def __init__(self, message: str, *, run: Run | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.run = run


class BadNews(AgonError):  # noqa: N818
    """Done, with bad news: a record that does not verify, sessions set aside. Exit code 1."""


class BadInput(AgonError, ValueError):  # noqa: N818
    """The input is wrong and must be changed. Exit code 2."""


class MissingDependency(AgonError):  # noqa: N818
    """Something outside is missing: a server, a port, disk space. Exit code 3."""


class Paused(AgonError):  # noqa: N818
    """A budget is spent; the message says how to continue. Exit code 4."""


class Failed(AgonError):  # noqa: N818
    """The binary ended in a way that has no code, such as a crash or a kill."""


class BinaryNotFound(AgonError):  # noqa: N818
    """There is no agon binary to run."""


class PlayerFailed(AgonError):  # noqa: N818
    """A player written in Python raised, and nobody could answer in its place."""


class GatewayRefused(AgonError):  # noqa: N818
    """The gateway refused a player's call, such as for a wrong token."""


class Interrupted(KeyboardInterrupt):
    """Stopped by Ctrl-C. The message says what is kept, `run` has what was played."""

    def __init__(self, message: str, *, run: Run | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.run = run


BY_EXIT_CODE: dict[int, type[AgonError]] = {
    1: BadNews,
    2: BadInput,
    3: MissingDependency,
    4: Paused,
}

INTERRUPTED = 130
