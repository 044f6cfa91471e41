"""LightGBM, which is loaded when it is first needed."""

from __future__ import annotations

from typing import Any

from fourfifths.errors import OptionError


def lightgbm(needed_for: str) -> Any:
    """Return LightGBM.

    Parameters
    ----------
    needed_for : str
        The argument that asks for it, with which an error begins.
    """
    try:
        import lightgbm as library
    except OSError as error:
        raise OptionError(
            f"{needed_for}: LightGBM cannot be loaded; it needs the OpenMP library of the system "
            f"(on Debian: apt install libgomp1): {error}"
        ) from error
    return library
