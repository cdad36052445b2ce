"""What can run the fits; by itself, since every command reads it."""

from enum import StrEnum


class Engine(StrEnum):
    """What runs the fits: processes of this machine, or a Dask cluster."""

    local = "local"
    dask = "dask"
