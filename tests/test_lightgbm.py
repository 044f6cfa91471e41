"""LightGBM, when it can be loaded and when not."""

import os
import subprocess
import sys

from fourfifths._lightgbm import lightgbm


def test_it_is_the_library():
    assert hasattr(lightgbm("scope='blocks'"), "train")


def test_without_the_library_of_the_system_one_line_says_what_to_install(tmp_path):
    (tmp_path / "lightgbm.py").write_text("raise OSError('libgomp.so.1: cannot open')")
    code = (
        "from fourfifths._lightgbm import lightgbm\n"
        "from fourfifths.errors import OptionError\n"
        "try: lightgbm('auditors')\n"
        "except OptionError as error: print(error)"
    )
    environment = os.environ | {"PYTHONPATH": str(tmp_path)}
    printed = subprocess.check_output([sys.executable, "-c", code], env=environment, text=True)
    assert printed == (
        "auditors: LightGBM cannot be loaded; it needs the OpenMP library of the system (on "
        "Debian: apt install libgomp1): libgomp.so.1: cannot open\n"
    )
