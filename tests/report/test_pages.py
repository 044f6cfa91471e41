"""Which module shows which result, and that no other page is loaded for it."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module
from pkgutil import walk_packages

import pytest

from fourfifths import _report
from fourfifths._report import to_charts, to_document
from fourfifths._report.pages import CHARTS, PAGES
from fourfifths._results import Result


@pytest.mark.parametrize(("modules", "show"), [(PAGES, to_document), (CHARTS, to_charts)])
def test_every_module_that_registers_is_listed_by_the_module_of_its_results(modules, show):
    for module in walk_packages(_report.__path__, "fourfifths._report."):
        import_module(module.name)
    registered = {
        (kind.__module__, version.__module__)
        for kind, version in show.registry.items()
        if kind is not Result and kind.__module__.startswith("fourfifths.")
    }
    assert registered == {
        (f"fourfifths.{result}", f"fourfifths._report.{page}") for result, page in modules.items()
    }


def test_an_audit_loads_its_own_page_only():
    code = (
        "import sys, fourfifths; text = str(fourfifths.impact('ricci'));"
        "print('adverse impact' in text.lower(),"
        " [name for name in sys.modules if name.startswith('fourfifths._certify')])"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "True []"
