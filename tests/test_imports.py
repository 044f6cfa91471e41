from __future__ import annotations

import importlib
import subprocess
import sys

import pytest

import fourfifths

HEAVY = ["matplotlib", "duckdb", "sklearn.ensemble", "pandas", "numpy", "polars", "pyarrow"]


def loaded_after(code: str) -> set[str]:
    """Return the modules that a fresh Python has loaded after running the code."""
    done = subprocess.run(
        [sys.executable, "-c", f"{code}\nimport sys; print('\\n'.join(sys.modules))"],
        capture_output=True,
        text=True,
        check=True,
    )
    return set(done.stdout.split())


def test_importing_the_package_loads_nothing_heavy():
    assert not loaded_after("import fourfifths") & {*HEAVY, "scipy", "narwhals", "typer", "rich"}


def test_asking_for_help_loads_nothing_heavy():
    code = (
        "import sys; sys.argv = ['fourfifths', '--help']\n"
        "from fourfifths._cli import main as cli\n"
        "try: cli.main()\n"
        "except SystemExit: pass\n"
    )
    assert not loaded_after(code) & {*HEAVY, "scipy", "narwhals"}


@pytest.mark.slow
def test_an_audit_loads_no_plots_and_no_dataframe_library():
    code = "import fourfifths; fourfifths.impact('ricci')"
    assert not loaded_after(code) & {"matplotlib", "sklearn.ensemble", "pandas", "polars"}


@pytest.mark.slow
def test_an_audit_at_the_shell_loads_neither_distributions_nor_optimisers():
    code = (
        "import sys; sys.argv = ['fourfifths', 'audit', 'ricci']\n"
        "from fourfifths._cli import main as cli\n"
        "try: cli.main()\n"
        "except SystemExit: pass\n"
    )
    assert not loaded_after(code) & {"scipy.stats", "scipy.optimize", "sklearn", "matplotlib"}


def test_a_script_that_reads_a_file_ends_without_a_word():
    code = "import fourfifths; fourfifths.impact('ricci')"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == done.stderr == ""


def test_a_repair_of_a_file_loads_no_scikit_learn():
    code = "import fourfifths._cli.main, fourfifths._cli.repair, fourfifths._effect.files"
    assert not loaded_after(code) & {"sklearn", "scipy.stats", "pandas", "matplotlib"}


@pytest.mark.parametrize("name", [*fourfifths.__all__, "__version__"])
def test_every_public_name_is_there(name):
    assert getattr(fourfifths, name) is not None
    assert name in dir(fourfifths)


def test_a_public_name_survives_the_import_of_every_module():
    for module in (
        "_impact.impact",
        "_impact.result",
        "_report.impact",
        "_plot.impact",
        "_cli.main",
        "_cli.demo",
    ):
        importlib.import_module(f"fourfifths.{module}")
    assert callable(fourfifths.impact)


def test_a_public_name_is_loaded_once():
    assert fourfifths.impact is fourfifths.impact
    assert vars(fourfifths)["impact"] is fourfifths.impact


@pytest.mark.slow
def test_printing_an_audit_loads_neither_plots_nor_models():
    code = "import fourfifths; str(fourfifths.impact('ricci'))"
    assert not loaded_after(code) & {"matplotlib", "sklearn", "pandas", "polars"}


def test_another_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'fairness'"):
        _ = fourfifths.fairness
