"""Which kernels are chosen for how many rows."""

from __future__ import annotations

import subprocess
import sys

import pytest

from fourfifths._repair.columns.kernel_choice import (
    MIN_COMPILED_VALUES,
    MIN_VALUES_TO_LOAD,
    KernelChoice,
    compiled_kernels,
    kernels_for,
)
from fourfifths._repair.columns.kernels import Kernels
from fourfifths._repair.columns.numba_kernels import NumbaKernels


def test_few_rows_are_left_to_numpy_and_many_to_compiled_loops() -> None:
    assert type(kernels_for(MIN_COMPILED_VALUES - 1)) is Kernels
    assert type(kernels_for(MIN_COMPILED_VALUES)) is NumbaKernels


def test_numba_is_loaded_once_it_has_values_enough(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "numba")
    choice = KernelChoice()
    assert type(choice(MIN_VALUES_TO_LOAD // 2)) is Kernels
    assert type(choice(MIN_COMPILED_VALUES - 1)) is Kernels
    assert type(choice(MIN_VALUES_TO_LOAD // 2 - 1)) is Kernels
    assert type(choice(MIN_COMPILED_VALUES)) is NumbaKernels


def test_numpy_does_it_where_numba_cannot_be_loaded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "fourfifths._repair.columns.numba_kernels")
    monkeypatch.setitem(sys.modules, "numba", None)
    assert type(compiled_kernels.__wrapped__()) is Kernels


@pytest.mark.slow
@pytest.mark.parametrize("row_count", [200, 20_000])
def test_numba_is_not_loaded_for_few_rows(row_count: int) -> None:
    script = (
        f"import sys, numpy as np; from fourfifths import Repairer; n = {row_count};"
        "repairer, values = Repairer(scope='column'), np.arange(n)[:, None] / n;"
        "repairer.fit_transform(values, protected=np.arange(n) % 2);"
        "sys.exit('numba' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", script], check=False).returncode == 0
