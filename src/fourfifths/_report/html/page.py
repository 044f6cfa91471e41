"""A page as one file of HTML that asks nobody for anything, and as a fragment for notebooks.

The templates beside this module hold the markup. The environment escapes every text and passes it
through `printable`: names are data. The page's security policy allows only the style and the script
that are written into it, by their hashes, so that not even a name that slipped through could run.
"""

from __future__ import annotations

import base64
import hashlib
import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from markupsafe import Markup

from fourfifths._report.charts.svg import chart_svg
from fourfifths._report.document import Document
from fourfifths._text import printable

if TYPE_CHECKING:
    from jinja2 import Environment

    from fourfifths._report.charts.chart import Chart

HERE = Path(__file__).parent
MAX_RUNNING_TITLE = 90  # letters at the head of a printed page


@lru_cache
def environment(*folders: Path) -> Environment:
    """Return the templates of this folder, after those of other folders.

    Whoever adds a page extends ``page.html.j2`` and fills its block ``body``.
    """
    from jinja2 import Environment, FileSystemLoader, StrictUndefined

    templates = Environment(
        loader=FileSystemLoader([*folders, HERE]),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=shown,
        trim_blocks=True,
    )
    templates.globals["chart_svg"] = chart_svg
    return templates


def shown(value: Any) -> Any:
    """Return what a template writes: texts without control characters; markup as it is."""
    return value if isinstance(value, Markup) or not isinstance(value, str) else printable(value)


def render_page(
    template: str,
    *,
    title: str,
    language: str = "en",
    folders: Sequence[Path] = (),
    has_pictures: bool = False,
    **content: Any,
) -> str:
    """Return a whole page.

    Parameters
    ----------
    template : str
        The name of a template that extends ``page.html.j2``.
    title : str
        Of the window and of each printed page.
    language : str
    folders : sequence of Path
        Where the template is, if not here.
    has_pictures : bool
        Whether pictures are written into the page, as data.
    **content
        What the template needs.
    """
    style = Markup((HERE / "style.css").read_text(encoding="utf-8") + running_title(title))
    script = Markup((HERE / "script.js").read_text(encoding="utf-8"))
    return (
        environment(*folders)
        .get_template(template)
        .render(
            title=title,
            language=language,
            style=style,
            script=script,
            policy=Markup(security_policy(style, script, has_pictures=has_pictures)),
            **{"has_contents": False} | content,
        )
    )


def running_title(title: str) -> str:
    r"""Return the style of the head and foot of printed pages.

    Everything but letters and digits is escaped, so that a title can end neither the text nor the
    style sheet.

    Examples
    --------
    >>> '"a\\3c b"' in running_title("a<b")
    True
    """
    text = printable(title)
    if len(text) > MAX_RUNNING_TITLE:
        text = f"{text[: MAX_RUNNING_TITLE - 1]}…"
    escaped = re.sub(r"[^A-Za-z0-9]", lambda letter: f"\\{ord(letter.group()):x} ", text)
    font = "font:8pt system-ui,sans-serif;color:#4b535d"
    return (
        f'@media print{{@page{{@top-left{{content:"{escaped}";{font}}}'
        f'@bottom-right{{content:"Page " counter(page) " of " counter(pages);{font}}}}}}}\n'
    )


def security_policy(style: str, script: str, *, has_pictures: bool = False) -> str:
    """Return a policy that allows this style, this script and pictures in the page, no more."""

    def digest(text: str) -> str:
        code = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        return f"'sha256-{code}'"

    pictures = "img-src data:; " if has_pictures else ""
    return (
        f"default-src 'none'; {pictures}style-src {digest(style)}; script-src {digest(script)}; "
        "base-uri 'none'; form-action 'none'"
    )


def document_page(document: Document, charts: Sequence[Chart] = ()) -> str:
    """Return a result's page, with its details and charts, as a file of its own."""
    return render_page(
        "document.html.j2", title=document.headline, document=document, charts=charts
    )


def document_fragment(document: Document) -> str:
    """Return a page without its details for a notebook: no script, and the notebook's colours."""
    style = Markup((HERE / "fragment.css").read_text(encoding="utf-8"))
    template = environment().get_template("fragment.html.j2")
    return template.render(document=document, style=style)
