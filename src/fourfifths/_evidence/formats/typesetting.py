r"""What typst sets: whole reports, and charts as pictures for formats that hold no SVG.

Typst reads texts as data, never as markup. The same content gives the same bytes, since the fonts
are those that typst brings along. A sign that is in none of these is looked for in the fonts of
the system; one that is not there either is written as its code, as in ``\u5e74``.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, cast

import typst

from fourfifths._report.charts.chart import Chart
from fourfifths._report.charts.svg import chart_svg
from fourfifths.errors import OutputError

Standard = Literal["ua-1", "a-2a"]
PICTURE = b"""
#let chart = json(bytes(sys.inputs.content))
#set document(title: "chart", date: none)
#set page(width: auto, height: auto, margin: 3pt)
#image(bytes(chart.svg), format: "svg", alt: "chart", width: 13cm)
"""
PICTURE_PPI = 220.0
# Whether typst's own fonts are tried alone, and whether signs without a glyph become codes.
FONT_ATTEMPTS = (
    (True, False),
    (False, True),
    (False, True),
    (True, True),
    (True, True),
    (True, True),
)
# What typst says of a sign that no font has, quoted as Rust quotes texts.
NO_GLYPH = re.compile(r'the text `"((?:[^"\\]|\\.)*)"` could not be displayed')
RUST_ESCAPE = re.compile(r"\\u\{([0-9a-f]+)\}")


@dataclass(frozen=True, kw_only=True)
class Setting:
    """Content that typst could set.

    Attributes
    ----------
    pdf : bytes
    content : str
        JSON, with codes in the place of signs that no font has.
    compiler : typst.Compiler
        Sets the same content in another format.
    """

    pdf: bytes
    content: str
    compiler: typst.Compiler


def typeset(template: bytes, content: str, *, standards: Sequence[Standard] = ("ua-1",)) -> Setting:
    """Set content with a template.

    Parameters
    ----------
    template : bytes
        Typst's markup; it finds the content in ``sys.inputs.content``.
    content : str
        JSON.
    standards : sequence of {"ua-1", "a-2a"}
        The standards that the PDF keeps. At least one, since only then typst says which signs
        no font has.
    """
    problem = ""
    # Fonts of the system may fail in ways that name no sign, as for emoji of several parts: then
    # the signs that typst's own fonts lack are written as codes.
    for ignore_system_fonts, writes_codes in FONT_ATTEMPTS:
        compiler = typst.Compiler(
            template, ignore_system_fonts=ignore_system_fonts, sys_inputs={"content": content}
        )
        try:
            pdf = compiler.compile(format="pdf", pdf_standards=list(standards))
        except typst.TypstError as error:
            problem = str(error)
            if writes_codes:
                content = content.translate(sign_codes(error.diagnostic) or selector_codes(content))
        else:
            return Setting(pdf=cast("bytes", pdf), content=content, compiler=compiler)
    raise OutputError(f"the report cannot be written as PDF: typst says {problem!r}")


def selector_codes(content: str) -> dict[int, str]:
    r"""Return the codes of signs that only change the sign before them.

    Examples
    --------
    >>> selector_codes("a\N{WHITE FLAG}\N{VARIATION SELECTOR-16}")
    {65039: '\\\\ufe0f'}
    """
    return sign_table({sign for sign in content if unicodedata.category(sign) == "Mn"})


def sign_codes(diagnostic: str) -> dict[int, str]:
    r"""Return the codes of signs that typst could not display, as they are written in JSON.

    Examples
    --------
    >>> sign_codes('error: the text `"年"` could not be displayed with font `"Libertinus Serif"`')
    {24180: '\\\\u5e74'}
    """
    texts = [
        RUST_ESCAPE.sub(lambda code: chr(int(code[1], 16)), text)
        for text in NO_GLYPH.findall(diagnostic)
    ]
    return sign_table({sign for text in texts for sign in text if not sign.isascii()})


def sign_table(signs: Iterable[str]) -> dict[int, str]:
    """Return the codes of signs, as they are written in JSON."""
    return {ord(sign): ascii(sign)[1:-1].replace("\\", r"\\") for sign in sorted(signs)}


def drawn(chart: Chart) -> Setting:
    """Return a chart, set on a page of its own size."""
    svg = str(chart_svg(chart, is_standalone=True))
    return typeset(PICTURE, json.dumps({"svg": svg}, ensure_ascii=False))


def chart_drawing(chart: Chart) -> str:
    """Return a chart as SVG that typst can set."""
    svg: str = json.loads(drawn(chart).content)["svg"]
    return svg


def chart_png(chart: Chart) -> bytes:
    """Return a chart as a PNG picture."""
    picture = drawn(chart).compiler.compile(PICTURE, format="png", ppi=PICTURE_PPI)
    return cast("bytes", picture)
