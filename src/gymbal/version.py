"""The version of gymbal, for what has to write it down without reading the package's metadata."""

__version__ = "0.1.0"
