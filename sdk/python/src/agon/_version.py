"""The version of the package; that of the binary is its own."""

__version__ = "0.1.0"
