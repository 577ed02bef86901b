"""Tables that the binary makes, as text or as HTML in notebooks."""

from __future__ import annotations

from agon import _binary


class Tables:
    """Printed tables: text for a terminal, HTML in a notebook."""

    def __init__(self, binary: str, arguments: list[str]) -> None:
        self._binary = binary
        self._arguments = arguments
        # Made at once, so that faults appear where the tables are asked for.
        self.text = self._made("text")

    def __str__(self) -> str:
        return self.text

    def __repr__(self) -> str:
        return self.text

    def _repr_html_(self) -> str:
        return self.html

    @property
    def html(self) -> str:
        """The tables as parts of an HTML page."""
        return self._made("html")

    @property
    def markdown(self) -> str:
        """The tables as GitHub-flavoured Markdown."""
        return self._made("markdown")

    @property
    def latex(self) -> str:
        """The tables as LaTeX, for the package booktabs."""
        return self._made("latex")

    def _made(self, form: str) -> str:
        return _binary.call(self._binary, [*self._arguments, "--format", form]).rstrip("\n")
