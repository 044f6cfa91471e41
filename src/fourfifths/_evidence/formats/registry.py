"""Which formats there are: a name's ending leads to a renderer, loaded when it is asked for.

To add a format, write a module with one function from a `Report` to bytes or text, and add its line
to `FORMATS`. A format that needs further packages names the extra that installs them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Literal, get_args

from fourfifths._results import json_text
from fourfifths._text import listed
from fourfifths.errors import OptionError

if TYPE_CHECKING:
    from fourfifths._evidence.report import Report


# The laws that most reports are about are American, and so is the default.
Paper = Literal["letter", "a4"]


@dataclass(frozen=True, kw_only=True)
class ReportFormat:
    """A format of a report.

    Attributes
    ----------
    module, function : str
        Where in this folder the renderer is; it takes a `Report`.
    extra : str
        The extra of the package that it needs; empty if it needs none.
    has_pages : bool
        Whether the renderer also takes the size of the paper.
    """

    module: str
    function: str
    extra: str = ""
    has_pages: bool = False


PACK_ENDING = ".zip"
FORMATS: Mapping[str, ReportFormat] = {
    ".html": ReportFormat(module="html", function="report_html"),
    ".md": ReportFormat(module="markdown", function="report_markdown"),
    ".json": ReportFormat(module="registry", function="report_json"),
    ".pdf": ReportFormat(module="pdf", function="report_pdf", extra="pdf", has_pages=True),
    ".docx": ReportFormat(module="docx", function="report_docx", extra="office", has_pages=True),
    ".xlsx": ReportFormat(module="xlsx", function="report_xlsx", extra="office"),
}


def format_of(path: Path, formats: Mapping[str, ReportFormat] = FORMATS) -> ReportFormat:
    """Return the format that a file's name asks for.

    Raises
    ------
    OptionError
        If no format has this ending, or its packages are not installed.
    """
    ending = path.suffix.lower()
    if ending not in formats:
        raise OptionError(
            f"out={str(path)!r}: a report cannot be written as {ending or 'a file without ending'};"
            f" expected a name ending in {listed((*formats, PACK_ENDING))}"
        )
    form = formats[ending]
    try:
        import_module(f"{__package__}.{form.module}")
    except ImportError as error:
        raise OptionError(
            f"out={str(path)!r}: {ending} needs {error.name}, which is not installed; "
            f"pip install 'fourfifths[{form.extra}]'"
        ) from error
    return form


def check_all_formats(path: Path, formats: Mapping[str, ReportFormat] = FORMATS) -> None:
    """Refuse a pack or a folder, which have every format, unless all packages are installed."""
    missing: dict[str, str] = {}
    for form in formats.values():
        try:
            import_module(f"{__package__}.{form.module}")
        except ImportError as error:
            missing.setdefault(form.extra, error.name or form.module)
    if missing:
        raise OptionError(
            f"out={str(path)!r}: the report in every format needs {listed([*missing.values()])}, "
            f"which is not installed; pip install 'fourfifths[{','.join(missing)}]'"
        )


def render(report: Report, form: ReportFormat, *, paper: Paper = "letter") -> bytes:
    """Return a report in a format; the size of the paper matters to formats with pages only."""
    if paper not in get_args(Paper):
        raise OptionError(f"paper={paper!r}: expected one of {listed(get_args(Paper))}")
    module = import_module(f"{__package__}.{form.module}")
    options = {"paper": paper} if form.has_pages else {}
    content: str | bytes = getattr(module, form.function)(report, **options)
    return content.encode() if isinstance(content, str) else content


def report_json(report: Report) -> str:
    """Return the report as JSON; docs/schema/report.schema.json describes it."""
    return f"{json_text(report.to_dict())}\n"
