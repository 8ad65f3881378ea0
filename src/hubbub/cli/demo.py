"""``hubbub demo``: a story that shows what the mechanisms do."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from hubbub.cli import examples, json_option, page, print_json, say
from hubbub.errors import WrongUse

if TYPE_CHECKING:
    from hubbub.demo.salaries import Outcome


@click.command("demo", epilog=examples("hubbub demo --out hubbub-demo"))
@click.option("--out", metavar="DIR", default="hubbub-demo", show_default=True, help="The folder for the chart.")
@json_option
def demo(out: str, as_json: bool) -> None:
    """Can somebody find out what the managers earn?

    A company publishes how many people earn how much. Its 100 managers share one of 40 salary bins, and an attacker
    who knows everything else guesses which. Each mechanism publishes the table once, for real, and is measured by
    how often the best attack finds the bin and by how far the other bins are off.
    """
    from hubbub.demo import salaries
    from hubbub.noise.source import SystemSource

    can_draw = _prepare(Path(out))
    rows = salaries.play(SystemSource())
    if not as_json:
        _tell(rows)
    files = salaries.draw(rows, Path(out)) if can_draw else []
    if as_json:
        print_json(
            {
                "employees": salaries.EMPLOYEES,
                "managers": salaries.MANAGERS,
                "candidates": salaries.CANDIDATES,
                "chance": 1 / salaries.CANDIDATES,
                "rows": [row.as_json() for row in rows],
                "chart": str(files[0]) if files else None,
                "files": [str(file) for file in files],
                "look_at": salaries.LOOK_AT,
            }
        )
    elif files:
        page().print(f"Open {files[0]}. {salaries.LOOK_AT}")


def _prepare(folder: Path) -> bool:
    """Make the folder for the chart, or say what is missing to draw one."""
    from hubbub import charts

    if not charts.available():
        say(
            "There will be no chart: altair or vl-convert is not installed; get both with pip install 'hubbub[charts]'."
        )
        return False
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WrongUse(f"--out must be a folder that can be made, not {folder}; choose another") from error
    return True


def _tell(rows: tuple[Outcome, ...]) -> None:
    from rich.console import Group
    from rich.padding import Padding
    from rich.table import Table
    from rich.text import Text

    from hubbub.demo import salaries

    console = page()
    console.print(
        f"{salaries.EMPLOYEES:,} employees earn ordinary salaries, and {salaries.MANAGERS} managers are all in one of "
        f"{salaries.CANDIDATES} higher bins. An attacker who knows everything else guesses which: blindly, that "
        f"works {1 / salaries.CANDIDATES:.1%} of the time.\n"
    )
    table = Table(box=None, pad_edge=False)
    table.add_column("mechanism, and the loss\nit promises by crowd", min_width=32)
    for heading in ("attack\nfinds bin", "error\nper bin"):
        table.add_column(heading, justify="right", no_wrap=True)
    for heading in ("its\nguess", "\nmanagers", "large\ncrowds"):
        table.add_column(heading, no_wrap=True)
    for row in rows:
        name = Group(Text(row.mechanism.title, "bold"), Padding(Text(row.promise, "dim"), (0, 0, 0, 2)))
        guess = "right" if row.right else "wrong"
        table.add_row(name, f"{row.attack:.1%}", f"{row.error:.1f}", guess, row.managers, row.crowds)
    console.print(table)
    console.print()
