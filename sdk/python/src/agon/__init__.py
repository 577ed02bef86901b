"""Run Agon from Python, read its results as frames, and write players."""

from agon._version import __version__

__all__ = ["__version__"]
