"""`python -m fourfifths` is `fourfifths`."""

from __future__ import annotations

from fourfifths._cli.main import main

if __name__ == "__main__":
    main()
