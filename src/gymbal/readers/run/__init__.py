"""The reader of NeMo Gym run directories: files in, one `Run` out."""

from gymbal.readers.run.read import read_run

__all__ = ["read_run"]
