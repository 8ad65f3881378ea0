"""A chart that stands alone: a drawing under its message, and the files that it can become.

An SVG file and a page carry everything inside, open without a network and run no code. A PNG needs a renderer, which
is the extra `charts`.
"""

from __future__ import annotations

import html
import math
import re
from collections.abc import Callable, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Final

from hubbub.charts.page import page
from hubbub.charts.style import FONTS, INK, MARKS, WIDTHS
from hubbub.charts.svg import TEXT, px, text_length, text_lines
from hubbub.errors import WrongUse, install
from hubbub.runtime.frozen import dataclass

ENDINGS: Final = (".html", ".png", ".svg")
_MARGIN: Final = 16
_TITLE, _BELOW = 17, 13  # pixels: the size of the title, and of the lines below it
_SIZE: Final = re.compile(r'viewBox="0 0 ([\d.]+) ([\d.]+)"')
_VARIABLE: Final = re.compile(r"var\(--[\w-]+, ([^()]+)\)")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A drawing for wide pages, and perhaps one for narrow ones, with what it says."""

    title: str
    subtitle: tuple[str, ...] = ()
    wide: str
    narrow: str = ""
    below: tuple[str, ...] = ()

    def svg(self) -> str:
        """One SVG element with its style inside, on white."""
        wide, high = _size(self.wide)
        parts, y = [], float(_MARGIN)
        for text, size in ((self.title, _TITLE), *((line, _BELOW) for line in self.subtitle)):
            for line in _wrapped(text, wide, size) if text else ():
                y += size + 5
                parts.append(_heading(line, y - 5, size))
        y += 12 if parts else 0
        inner = self.wide.replace("<svg ", f'<svg x="{_MARGIN}" y="{px(y)}" width="{px(wide)}" height="{px(high)}" ', 1)
        y += high
        for text in self.below:
            for line in _wrapped(text, wide, TEXT):
                y += TEXT + 4
                parts.append(_heading(line, y, TEXT))
        outer = f'width="{px(wide + 2 * _MARGIN)}" height="{math.ceil(y + _MARGIN)}"'
        box = f'viewBox="0 0 {px(wide + 2 * _MARGIN)} {math.ceil(y + _MARGIN)}"'
        style = _VARIABLE.sub(r"\1", MARKS)
        return (
            f'<svg xmlns="http://www.w3.org/2000/svg" {outer} {box} color="{INK}" fill="{INK}" '
            f'font-family="{html.escape(FONTS)}" font-size="{TEXT}"><style>{style}</style>'
            f'<rect width="100%" height="100%" fill="white"/>{"".join(parts)}{inner}</svg>\n'
        )

    def html(self) -> str:
        """A page that shows it."""
        return page(
            self.title, "\n".join(filter(None, (self.wide, self.narrow))), above=self.subtitle, below=self.below
        )

    def png(self) -> bytes:
        """As pixels, two for one of the drawing."""
        if not png_available():
            raise WrongUse(
                f"a PNG needs resvg_py, which is not installed; {install('charts')}, or choose a "
                "file that ends in .svg or .html"
            )
        import resvg_py

        return bytes(resvg_py.svg_to_bytes(svg_string=self.svg(), zoom=2, background="white"))

    def save(self, path: str | Path) -> None:
        """Write it to a file that ends in .svg, .html or .png."""
        ready(path)
        match Path(path).suffix.lower():
            case ".svg":
                made = self.svg().encode()
            case ".html":
                made = self.html().encode()
            case _:
                made = self.png()
        try:
            Path(path).write_bytes(made)
        except OSError as error:
            raise WrongUse(
                f"the chart cannot be written to {path}: {error.strerror or error}; choose another file"
            ) from error

    def _repr_svg_(self) -> str:
        """What a notebook shows."""
        return self.svg()


def charted(draw: Callable[..., str], title: str, subtitle: Sequence[str], below: Sequence[str] = ()) -> Chart:
    """A chart from a function that draws at a width (:data:`hubbub.charts.style.WIDTHS`)."""
    wide, narrow = (draw(width, kind=kind) for kind, width in WIDTHS.items())
    return Chart(title=title, subtitle=tuple(subtitle), wide=wide, narrow=narrow, below=tuple(below))


def png_available() -> bool:
    """Whether a chart can become a PNG here."""
    return find_spec("resvg_py") is not None


def ready(path: str | Path) -> None:
    """Raise, before any work is done, if a chart cannot be written to a file of that name."""
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise WrongUse(
            f"a chart file must end in {', '.join(ENDINGS[:-1])} or {ENDINGS[-1]}, not {Path(path).name[:60]!r}"
        )
    if ending == ".png" and not png_available():
        raise WrongUse(
            f"a PNG needs resvg_py, which is not installed; {install('charts')}, or choose a file "
            "that ends in .svg or .html"
        )


def _size(drawing: str) -> tuple[float, float]:
    found = _SIZE.search(drawing)
    assert found is not None, "every drawing has a size"
    return float(found[1]), float(found[2])


def _heading(line: str, y: float, size: int) -> str:
    weight = ' font-weight="600"' if size == _TITLE else ""
    return f'<g font-size="{size}"{weight}>{text_lines(_MARGIN, y, [line])}</g>'


def _wrapped(text: str, width: float, size: int) -> list[str]:
    lines = [""]
    for word in text.split():
        longer = f"{lines[-1]} {word}".strip()
        if lines[-1] and text_length(longer) * size / TEXT > width:
            lines.append(word)
        else:
            lines[-1] = longer
    return lines
