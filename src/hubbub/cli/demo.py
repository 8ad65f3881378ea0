"""``hubbub demo``: a story that shows what the mechanisms do."""

from __future__ import annotations

from pathlib import Path

import click

from hubbub.cli import examples, json_option, page, print_json, say


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

    rows = salaries.play(SystemSource())
    files = _draw(rows, Path(out))
    look = salaries.LOOK_AT
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
                "look_at": look,
            }
        )
        return
