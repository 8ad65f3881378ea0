"""``hubbub demo``: a story that shows what a release is, and what the mechanisms do."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from hubbub.cli import examples, json_option, page, print_json, table
from hubbub.errors import WrongUse
from hubbub.runtime.progress import working

if TYPE_CHECKING:
    from hubbub.audit.stories import Story as Attack
    from hubbub.demo.friend_attack import Story as Network
    from hubbub.demo.millbrook import Story
    from hubbub.demo.salaries import Outcome

_LARGEST: Final = 8  # published numbers shown on the terminal


@click.command("demo", epilog=examples("hubbub demo --out hubbub-demo"))
@click.option("--out", metavar="DIR", default="hubbub-demo", show_default=True, help="The folder for its files.")
@json_option
def demo(out: str, as_json: bool) -> None:
    """Can somebody find out what the managers earn?

    Millbrook, an invented town, publishes how many of its residents earn how much, with a certificate and a report.
    Then a company of 9,900 employees does the same. Its 100 managers share one of 40 salary bins, and an attacker who
    knows everything else guesses which. Each mechanism publishes the table once, for real, and is measured by how
    often the best attack finds the bin and by how far the other bins are off.

    Last, the network of Millbrook's friends: who knows the streets guesses how people vote, and what the town may
    publish about its network instead. The paper's own example of that, Democrats and Republicans, stands beside it.
    """
    from hubbub.audit.stories import story
    from hubbub.demo import addresses, friend_attack, millbrook, salaries
    from hubbub.noise.source import SystemSource

    folder = Path(out)
    _prepare(folder)
    with working("Inventing a town"):
        town = millbrook.publish(folder)
    if not as_json:
        _print_town(town)
    with working("Publishing with each mechanism"):
        rows = salaries.play(SystemSource())
    if not as_json:
        _print_outcomes(rows)
    books = folder / "ledger" / "ledger.db"
    with working("Publishing the network"):
        drawn = salaries.draw(rows, folder)
        network = friend_attack.publish(folder, books, SystemSource())
        homes = addresses.write(folder)
        friends, friends_page = story("democrats"), folder / "democrats.html"
    friends_page.write_text(friends.page(), encoding="utf-8")
    if not as_json:
        _print_network(network)
        _print_attack(friends)
    following = [*millbrook.try_next(folder), friend_attack.try_next(folder, books)]
    if as_json:
        print_json(
            {
                "millbrook": {"residents": millbrook.RESIDENTS, **town.as_json()},
                "employees": salaries.EMPLOYEES,
                "managers": salaries.MANAGERS,
                "candidates": salaries.CANDIDATES,
                "chance": 1 / salaries.CANDIDATES,
                "rows": [row.as_json() for row in rows],
                "friends": network.as_json(),
                "democrats": {**friends.as_json(), "chart": str(friends_page)},
                "chart": str(drawn[0]),
                "files": [
                    *town.files.values(),
                    *map(str, drawn),
                    *network.files.values(),
                    str(homes),
                    str(friends_page),
                ],
                "look_at": salaries.READING_HINT,
                "open_first": town.files["report"],
                "try_next": following,
            }
        )
    else:
        _print_files(town, network, drawn, following, friends_page)


def _prepare(folder: Path) -> None:
    """Make the folder, unless something of somebody's is in it."""
    from hubbub.demo.millbrook import check_folder

    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise WrongUse(f"--out must be a folder that can be made, not {folder}; choose another") from error
    check_folder(folder)


def _print_town(town: Story) -> None:
    from hubbub.certificate.explanation import crowd_sentence, meaning
    from hubbub.demo import millbrook
    from hubbub.guarantees.promise_order import requested_first

    console = page()
    console.print("1. Millbrook publishes its salaries", style="bold")
    console.print(
        f"{millbrook.RESIDENTS:,} residents; counted are those in a fresh secret sample, one in "
        f"{round(1 / float(millbrook.SAMPLE))}, by department and salary. A count below {millbrook.CROWD} is hidden. "
        f"The {_LARGEST} largest of {town.visible_bins} published numbers:\n"
    )
    largest = [(*labels, f"{n:,}", f"{low:,} and {high:,}") for labels, n, low, high in town.largest(_LARGEST)]
    table(largest, ("department", "salary", "in the sample", "so in Millbrook, between"), texts=2)
    hidden = town.counts.bins - town.visible_bins
    console.print(
        f"\n{hidden} of {town.counts.bins} bins are hidden. The {millbrook.FERRY} people of the ferry and the "
        f"{millbrook.MANAGERS} managers may look for themselves as long as they like: their bins look like the empty "
        "ones.\n"
    )
    for step in requested_first(town.release.promises):
        explanation = meaning(step.conclusion, step.people)  # what is not promised is in the report
        text = "\n".join(filter(None, (explanation.promised, explanation.crowd, crowd_sentence(step))))
        console.print(f"Promised, {step.conclusion}: {text}")
        console.print()
    console.print("Do not take its word for it: this works every number of the promises out again, without the data.\n")
    certificate = town.files["certificate"]
    key = shlex.quote(str(Path(certificate).with_name("publisher.key")))
    console.print(f"  hubbub verify {shlex.quote(certificate)} --key {key}\n", soft_wrap=True)


def _print_outcomes(rows: tuple[Outcome, ...]) -> None:
    from hubbub.cli.terminal.table import Cell, Column, Table
    from hubbub.demo import salaries

    console = page()
    console.print("2. A company publishes its salaries, and somebody attacks", style="bold")
    console.print(
        f"{salaries.EMPLOYEES:,} employees earn ordinary salaries, and {salaries.MANAGERS} managers are all in one of "
        f"{salaries.CANDIDATES} higher bins. An attacker who knows everything else guesses which: blindly, that "
        f"works {1 / salaries.CANDIDATES:.1%} of the time.\n"
    )
    grid = Table(
        Column("mechanism, and the loss\nit promises by crowd", least=32),
        *(Column(heading, right=True, firm=True) for heading in ("attack\nfinds bin", "error\nper bin")),
        *(Column(heading, firm=True) for heading in ("its\nguess", "\nmanagers", "large\ncrowds")),
    )
    for row in rows:
        name = Cell(row.mechanism.title, "bold")
        guess = "right" if row.right else "wrong"
        grid.add(name, f"{row.attack:.1%}", f"{row.error:.1f}", guess, row.managers, row.crowds)
        grid.add(Cell(row.promise, "dim", indent=2), *[""] * 5)
    console.print(grid)
    console.print()


def _print_network(network: Network) -> None:
    from hubbub.certificate.explanation import meaning
    from hubbub.demo import friend_attack, friends

    console = page()
    console.print("3. Millbrook's friends, and how their streets vote", style="bold")
    console.print(
        f"{friends.PEOPLE:,} people live in {friends.STREETS} streets, and friends vote alike. Somebody who knows who "
        f"lives where guesses everybody's party: from counts of each street, private with epsilon = "
        f"{friend_attack.EPSILON_OF_STREETS}, or from {friend_attack.SAMPLED_PEOPLE} random people.\n"
    )
    console.print(f"{network.guessed.sentence()}.\n")
    console.print("So the town publishes its network with a promise of the second kind:\n")
    table(network.rows(), ("", "published", "between", "in truth (nobody lives there)"))
    step = network.release.promises[0]
    console.print(f"\nPromised, {step.conclusion}: {meaning(step.conclusion, step.people).promised}")
    console.print("In a town this small that takes much noise; in a large one much less (hubbub graph plan).\n")


def _print_attack(friends: Attack) -> None:
    """The paper's own example, in its numbers."""
    console = page()
    console.print("4. Democrats and Republicans", style="bold")
    for sentence in (*friends.sentences, friends.protects):
        console.print(sentence)
    console.print()


def _print_files(town: Story, network: Network, drawn: list[Path], following: list[str], friends: Path) -> None:
    from hubbub.demo import friend_attack, salaries

    console = page()
    console.print("5. What to look at", style="bold")
    console.print(f"Open {town.files['report']} first: Millbrook's table, what it promises, and how to check it.")
    console.print(f"Then open {drawn[0]}. {salaries.READING_HINT}")
    console.print(f"Then open {network.files['chart']}. {friend_attack.READING_HINT}")
    console.print(f"Last, open {friends}: the same in the paper's own numbers.")
    console.print("\nThen publish something else about Millbrook:")
    for command in following:
        console.print(f"  {command}", soft_wrap=True)  # one line, to be copied
