"""``hubbub ledger``: what was released about whom, what that cost, and what is left."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from hubbub.cli import Command, Commands, display, examples, json_option, page, print_answer, print_json
from hubbub.errors import HubbubError, WrongUse

if TYPE_CHECKING:
    from hubbub.guarantees.derivation import Derivation
    from hubbub.ledger.admission import Total, Totals
    from hubbub.ledger.ledger import Account, Ledger, Record

_NOTIONS = {
    "differential": "differential",
    "replaced": "differential, for one person replaced",
    "adaptive": "differential, at a delta, however each was chosen",
    "planned": "differential, at a delta, if all noise was fixed beforehand",
    "concentrated": "zero-concentrated differential, which adds up without a delta",
    "zero_knowledge": "zero-knowledge",
    "crowd_blending": "crowd-blending",
    "outlier": "outlier",
    "population": "differential, for the population",
}
_WHOM = {
    "differential": ", for one person more or less",
    "replaced": ", for one person replaced",
    "adaptive": ", however each release was chosen",
    "planned": ", if all noise was fixed before any of it was seen",
    "concentrated": ", which adds up without a delta",
    "population": ", for the population that the table was collected from",
}


def _ledger_option(command: Command) -> Command:
    return click.option("--ledger", metavar="FILE", help="Another ledger than your own.")(command)


def _open(path: str | None) -> Ledger:
    from hubbub.ledger.ledger import Ledger

    return Ledger(path)


@click.group("ledger", cls=Commands, epilog=examples("hubbub ledger show"))
def ledger() -> None:
    """What was released about whom, what that cost, and what is left.

    The ledger is one file, ~/.local/share/hubbub/ledger.db unless HUBBUB_LEDGER or --ledger names another. Releases
    with one dataset name are releases about the same people.
    """


@ledger.command("show", epilog=examples("hubbub ledger show", "hubbub ledger show --json"))
@click.argument("dataset", required=False)
@_ledger_option
@json_option
def show(dataset: str | None, ledger: str | None, as_json: bool) -> None:
    """What was released about a dataset, what has been spent under each notion, and what is left; or all datasets."""
    book = _open(ledger)
    if dataset is None:
        accounts = book.accounts()
        if as_json:
            print_json({"ledger": str(book.path), "datasets": [_as_json(each) for each in accounts.values()]})
        else:
            _print_accounts(book, accounts)
        return
    account = book.account(dataset)
    if as_json:
        print_json(_as_json(account))
    else:
        _print_account(account)


@ledger.command(
    "policy", epilog=examples("hubbub ledger policy town --zero-knowledge-epsilon 1 --delta 1e-6", "hubbub ledger show")
)
@click.argument("dataset")
@click.option("--differential-epsilon", metavar="E", help="Cap the epsilon of differential privacy.")
@click.option("--zero-knowledge-epsilon", metavar="E", help="Cap the epsilon of zero-knowledge privacy.")
@click.option("--zero-knowledge-rate", metavar="P", help="Cap the rate of all secret samples together.")
@click.option("--delta", metavar="D", help="Cap the delta of each notion.")
@click.option("--crowd", metavar="K", help="Ask for crowds of at least K.")
@click.option("--overlap", metavar="S", help="The largest share of people who may be under another name too (0.05).")
@click.option(
    "--planned",
    is_flag=True,
    help="All releases and their noise were fixed before any was seen: add up by the exact law, at --delta.",
)
@click.option(
    "--per",
    type=click.Choice(["month", "quarter", "year"]),
    help="The caps are for each of these by itself (UTC), and count afresh in the next, by this computer's clock.",
)
@click.option("--none", "no_caps", is_flag=True, help="Take every cap away.")
@_ledger_option
@json_option
def policy(
    dataset: str,
    ledger: str | None,
    planned: bool,
    per: str | None,
    no_caps: bool,
    as_json: bool,
    **caps: str | None,
) -> None:
    """Cap what may be spent on a dataset from now on. The new caps replace all older ones; without any, show them.

    With --per year the caps hold for each year by itself. Over a lifetime the years add up, and nothing caps that. A
    series counts in every year from its start to the end of its last period. Which year it is, this computer's clock
    says: where that went back, or jumped ahead by more than 45 days (35 for caps of a month), you are asked (hubbub
    ledger clock).
    """
    from hubbub.ledger.policy import Policy
    from hubbub.numeric.exact import integer, rational

    given = {name: value for name, value in caps.items() if value is not None}
    if (given or planned) and no_caps:
        raise WrongUse("--none takes every cap away, so no other can be given with it; choose one of them")
    if per is not None and not given:
        raise WrongUse("--per renews caps, and none is given; add one, like --differential-epsilon 1")
    book = _open(ledger)
    if given or planned or no_caps:
        book.set_policy(
            dataset,
            Policy(
                planned=planned,
                per=per,
                **{
                    name: integer(text, "--crowd", least=2) if name == "crowd" else rational(text, _flag(name))
                    for name, text in given.items()
                },  # type: ignore[arg-type]
            ),
        )
    account = book.account(dataset)
    facts = {"dataset": dataset, "policy": _policy(account)}
    print_answer(facts, f"{dataset}: {_policy_text(account)}.", as_json=as_json)


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


@ledger.command("clock", epilog=examples("hubbub ledger clock"))
@_ledger_option
@json_option
def clock(ledger: str | None, as_json: bool) -> None:
    """Say that this computer's clock is right, where caps for each month, quarter or year were refused because of it.

    Compare it with another clock first. Releases with a later date count now, and once more in the period of that date.
    """
    said = _open(ledger).confirm_clock()
    print_answer({"time": said}, f"The ledger goes by this computer's clock: it is {said}.", as_json=as_json)


@ledger.command("key", epilog=examples("hubbub ledger key"))
@click.option("--new", is_flag=True, help="Sign with another key from now on.")
@_ledger_option
@json_option
def key(new: bool, ledger: str | None, as_json: bool) -> None:
    """Print the public half of the key that signs your certificates: give it to those who check them."""
    book = _open(ledger)
    public = book.new_key() if new else book.public_key()
    if as_json:
        print_json({"public_key": public})
    else:
        click.echo(public)


@ledger.command("check", epilog=examples("hubbub ledger check"))
@click.argument("certificates", nargs=-1)
@_ledger_option
@json_option
def check(certificates: tuple[str, ...], ledger: str | None, as_json: bool) -> None:
    """Check the ledger: every entry's seal, what is remembered outside it, every running total from the first release
    on, and that it knows these certificates.

    A certificate that is out and that the ledger does not know shows that the ledger was put back to an older state.
    """
    from hubbub.ledger.ledger import committed_certificate
    from hubbub.verification import load

    book = _open(ledger)
    entries = book.check()
    for path in certificates:
        committed_certificate(book, load(path), path)
    facts = {"entries": entries, "certificates": len(certificates), "passed": True}
    text = f"{entries} entries and {len(certificates)} certificates are as they should be."
    print_answer(facts, text, as_json=as_json)


@ledger.command(
    "record",
    epilog=examples(
        "hubbub ledger record hubbub-demo/report.html --from hubbub-demo/certificate.json --ledger hubbub-demo/ledger/ledger.db"
    ),
)
@click.argument("file")
@click.option("--from", "certificate", metavar="CERTIFICATE", required=True, help="Of the release it is computed from.")
@click.option("--how", metavar="WORDS", default="computed from the release alone", show_default=True, help="Of what.")
@_ledger_option
@json_option
def record(file: str, certificate: str, how: str, ledger: str | None, as_json: bool) -> None:
    """Record a file that was computed from a committed release and from nothing else. That costs nothing."""
    from hubbub.ledger.durable import sha256
    from hubbub.ledger.ledger import committed_certificate
    from hubbub.protocol.release import release_digests
    from hubbub.verification import load

    book = _open(ledger)
    body = committed_certificate(book, load(certificate), certificate)
    try:
        digest = sha256(file)
    except OSError:
        raise WrongUse(f"there is no file {file[:200]!r} that can be read; check the name") from None
    dataset = body["ledger"]["dataset"]
    number = book.derive(dataset, next(iter(release_digests(body).values())), digest, how)
    facts = {"dataset": dataset, "release": number, "sha256": digest}
    text = f"Recorded as computed from release {number} of {dataset}; it costs nothing."
    print_answer(facts, text, as_json=as_json)


@ledger.command("finish", epilog=examples("hubbub ledger finish hubbub-demo"))
@click.argument("folder")
@json_option
def finish(folder: str, as_json: bool) -> None:
    """Bring out a release that was ready when its process died or failed.

    The bytes are the same, nothing is paid twice, and nothing that was ready is ever deleted.
    """
    from pathlib import Path

    from hubbub.publication import recovery, staging

    left = staging.unfinished(Path(folder))
    if not left:
        raise WrongUse(f"nothing in {folder[:200]!r} was cut short; there is nothing to finish")
    done, failed = [], []
    for hidden in left:
        try:
            done.append(recovery.finish(hidden))
        except HubbubError as error:  # the others may still come out
            failed.append(error)
    if as_json and (done or not failed):
        print_json({"finished": done})
    elif not as_json:
        for written in done:
            for path in written.values():
                page().print(f"Written: {path}", soft_wrap=True)
    if failed:
        raise failed[0]


@ledger.command("adopt", epilog=examples("hubbub ledger adopt --ledger hubbub-demo/ledger/ledger.db"))
@_ledger_option
@json_option
def adopt(ledger: str | None, as_json: bool) -> None:
    """Use a ledger that was moved or restored here. If another copy of it stays in use, both spend the same budget."""
    book = _open(ledger)
    missing = book.adopt()
    sentences = [f"The ledger {book.path} is in use from here on; see that no other copy is."]
    if missing is not None:
        which = f"entry {missing[0]} is" if missing[0] == missing[1] else f"entries {missing[0]} to {missing[1]} are"
        lost = f"{which} missing or another; what they say was spent is forgotten here."
        sentences.insert(0, f"Not as this machine remembers it: {lost}")
    print_answer({"ledger": str(book.path), "missing_entries": list(missing or ())}, *sentences, as_json=as_json)


@ledger.command("backup", epilog=examples("hubbub ledger backup saved/ --ledger hubbub-demo/ledger/ledger.db"))
@click.argument("folder")
@_ledger_option
@json_option
def backup(folder: str, ledger: str | None, as_json: bool) -> None:
    """Copy the ledger, its key and what its series keep into a new folder. Keep it as safe as the table itself."""
    from hubbub.ledger.backup import backup as copy

    names = copy(_open(ledger), folder)
    where = f"The backup is in {folder}: {', '.join(names)}."
    care = "It holds the key and secrets of people, so keep it as safe as the table itself."
    print_answer({"folder": folder, "files": names}, where, care, as_json=as_json)


@ledger.command(
    "restore",
    epilog=examples(
        "hubbub ledger backup saved/ --ledger hubbub-demo/ledger/ledger.db",
        "hubbub ledger restore saved/ hubbub-demo/certificate.json --ledger restored.db",
    ),
)
@click.argument("folder")
@click.argument("certificates", nargs=-1)
@_ledger_option
@json_option
def restore(folder: str, certificates: tuple[str, ...], ledger: str | None, as_json: bool) -> None:
    """Put a backup where a ledger is gone. Name certificates that are out: a backup that is older than one is refused."""
    from hubbub.ledger.backup import restore as put_back

    book = _open(ledger)
    entries = put_back(book, folder, certificates)
    sentences = [f"The ledger {book.path} is in use again, with {entries:,} entries."]
    if not certificates:
        sentences.append("See that it is not too old: hubbub ledger check CERTIFICATE, for the newest one that is out.")
    facts = {"ledger": str(book.path), "entries": entries, "certificates": len(certificates)}
    print_answer(facts, *sentences, as_json=as_json)


@ledger.command("new", epilog=examples("hubbub ledger new --ledger new.db"))
@_ledger_option
@json_option
def new(ledger: str | None, as_json: bool) -> None:
    """Begin a new ledger where the old one is gone for good. What that one knew was spent is forgotten: say so."""
    book = _open(ledger)
    book.new()
    print_answer({"ledger": str(book.path)}, f"A new ledger is in {book.path}.", as_json=as_json)


def _as_json(account: Account) -> dict[str, Any]:
    from hubbub.ledger.sketch import MOST

    return {
        "dataset": account.dataset,
        "policy": _policy(account),
        "releases": [_record(each) for each in account.records],
        "table": _table(account),
        "other_people_than": list(account.apart),
        "period_of": account.part_of,
        **({} if account.part_of is None else {"people_compared_at_most": MOST}),
        "spent": _spent(account),
        "left": _left(account),
    }


def _record(record: Record) -> dict[str, Any]:
    return {
        "release": record.release.number,
        "entry": record.entry.number,
        "time": record.entry.time,
        "what": record.release.charge.what,
        "state": record.state,
        "counts_as_spent": record.is_spent,
        "promises": [str(each) for each in record.release.charge.promises],
        "declared_unique": record.release.charge.declared_unique,
        "files_sha256": list(record.files),
        "computed_from_it": [{"sha256": each["derived"], "how": each["how"]} for each in record.derived],
    }


def _table(account: Account) -> str:
    """Whether all releases that count are known to be of one and the same table."""
    spent = [record for record in account.records if record.is_spent]
    sources = [record.entry.body["source"] for record in spent]
    if not sources:
        return "nothing was released"
    if any(not isinstance(each, dict) for each in sources):
        return "unknown"  # a frame has no bytes to know it by
    from hubbub.ledger.overlap import content

    return "unchanged" if len({content(each) for each in sources}) == 1 else "changed"


_UNCHECKED = "no person has two rows, as was declared and not checked"
_TABLE = {
    "unchanged": "The table was the same, byte by byte and untouched, in every release that counts.",
    "changed": "The table changed between releases, or they were of several tables: no two states are one partition.",
    "unknown": "Whether the table changed between releases is not known, so each release is a partition of its own.",
}


def _totals(account: Account) -> dict[str, Total]:
    totals = account.totals
    if totals is None:
        return {}
    return {name: _planned(account, totals) if name == "planned" else getattr(totals, name) for name in _NOTIONS}


def _planned(account: Account, totals: Totals) -> Total:
    """What the exact law of all losses says, where that is less than the sum: at the delta of the policy, or of what is
    shown beside it."""
    from hubbub.ledger.admission import ADAPTIVE_DELTA, Total

    if len(account.spent_releases) < 2:
        return Total(why="one release is what it promises")
    found = totals.planned.at(account.policy.delta or ADAPTIVE_DELTA)
    basic = getattr(totals.differential.guarantee, "epsilon", None)
    if found.derivation is None or basic is None:
        return found
    if not getattr(found.guarantee, "epsilon") < basic:  # noqa: B009
        return Total(why="so few releases lose no less at a delta than the sum")
    return found


def _relevant_totals(account: Account) -> dict[str, Total]:
    """The totals that say something: of notions that a release promises, and differential privacy once, in the relation
    that was asked for. All of them are in the JSON."""
    charges = [record.release.charge for record in account.records if record.is_spent]
    replaced = any(charge.promises_replacement for charge in charges)
    promised = {
        "differential": not replaced and any(charge.differential is not None for charge in charges),
        "replaced": replaced,
        "zero_knowledge": any(charge.zero_knowledge is not None for charge in charges),
        "crowd_blending": any(charge.crowd_blending is not None for charge in charges),
        "outlier": any(charge.curve is not None for charge in charges),
    }
    hidden = "differential" if replaced else "replaced"
    totals = _totals(account)
    return {
        name: total
        for name, total in totals.items()
        if promised.get(name, False)
        or (
            total.guarantee is not None
            and name != hidden
            and not (name == "planned" and _reads_no_better(total, totals["differential"]))
        )
    }


def _reads_no_better(total: Total, sum_of_all: Total) -> bool:
    """Whether a total has the epsilon of the plain sum, in the digits that are shown."""
    from hubbub.numeric.format import short

    shown = [getattr(each.guarantee, "epsilon", None) for each in (total, sum_of_all)]
    return None not in shown and short(shown[0], 3) == short(shown[1], 3)


def _spent(account: Account) -> dict[str, Any]:
    return {
        name: {"why": total.why} if total.derivation is None else _about(total.derivation) | _why(total)
        for name, total in _totals(account).items()
    }


def _about(step: Derivation) -> dict[str, Any]:
    from hubbub.certificate.certificate import about

    return about(step.conclusion, step.people)


def _why(total: Total) -> dict[str, str]:
    return {"person_by_person": total.why} if total.why else {}


def _policy(account: Account) -> dict[str, Any]:
    from hubbub.serialization.exact_json import plain

    policy = plain(account.policy)
    assert isinstance(policy, dict)
    said = {name: value for name, value in policy.items() if value is not None and value is not False}
    return {name: value for name, value in said.items() if name not in ("is", "before_all")}  # the ledger's own marks


def _left(account: Account) -> dict[str, str]:
    """What the caps leave, as exact text."""
    from hubbub.ledger.policy import remaining_budget

    return remaining_budget(account.policy, account.capped_totals)


def _policy_text(account: Account) -> str:
    caps = _policy(account)
    if not caps:
        return "no cap on what may be spent"
    plan = ", by the exact law of losses, all noise having been planned" if caps.pop("planned", False) else ""
    per = caps.pop("per", None)
    if per is not None:
        plan += f", for each {per} by itself, by this computer's clock (UTC); over a lifetime the {per}s add up, and nothing caps that"
    listed = [
        f"{name.replace('_', ' ')} {value}" if name != "crowd" else f"crowds of at least {value}"
        for name, value in caps.items()
    ]
    return "at most " + ", ".join(listed) + plan


def _whom(name: str, total: Total) -> str:
    """Which two tables, or networks, are compared."""
    people = None if total.derivation is None else total.derivation.people
    if name == "differential" and people is not None and people.in_graph:
        return f", for {'one person with other edges' if people.unit == 'vertex' else 'one edge more or less'}"
    return _WHOM.get(name, "")


def _beside(total: Total) -> str:
    """Whom it is fair to know, of a zero-knowledge promise."""
    from hubbub.certificate.explanation import sampled_people
    from hubbub.guarantees.definitions import ZeroKnowledge

    known = total.guarantee
    return f", beside {sampled_people(known.aggregate)}" if isinstance(known, ZeroKnowledge) else ""


def _print_accounts(book: Ledger, accounts: dict[str, Account]) -> None:
    from hubbub.cli.terminal.table import Column, Table
    from hubbub.guarantees.promise_order import in_brief
    from hubbub.ledger.overlap import COMPARED

    console = page()
    if not accounts:
        console.print(f"The ledger {book.path} is empty: nothing has been released.", soft_wrap=True)
        return
    table = Table("dataset", Column("releases", right=True), "what holds for all of them together")
    for account in accounts.values():
        holding = [
            f"{in_brief(total.guarantee)}{_whom(name, total)}"
            for name, total in _relevant_totals(account).items()
            if total.guarantee is not None
        ]
        table.add(account.dataset, str(len(account.spent_releases)), "; ".join(holding) or "nothing yet")
    console.print(table)
    for whole in dict.fromkeys(account.part_of for account in accounts.values() if account.part_of is not None):
        console.print(
            f"The people of each period of {whole} are declared to be in no other: a person loses what their own period loses, "
            f"and not the sum. It was checked in part: {COMPARED}."
        )


def _state(record: Record) -> str:
    if record.state == "committed":
        return f"published (SHA-256 {', '.join(record.files)})"
    if not record.is_spent:
        return "given up before anything was drawn; costs nothing"
    return f"{record.state}, not published from here; counts as spent"


def _print_account(account: Account) -> None:
    """Numbers of three digits, rounded up; --json has them exact."""
    from hubbub.guarantees.people import Whose
    from hubbub.guarantees.promise_order import in_brief
    from hubbub.ledger.overlap import COMPARED

    console = page()
    for each in account.records:
        console.print(f"Release {each.release.number}: {display(each.release.charge.what)}", soft_wrap=True)
        console.print(f"  {each.entry.time}, {_state(each)}", soft_wrap=True)
        for promise in each.release.charge.promises:
            whom = f", for {each.release.charge.people}" if each.release.charge.people.whose is Whose.KEYS else ""
            console.print(f"  {in_brief(promise)}{whom}", soft_wrap=True)
        if each.release.charge.declared_unique:
            console.print(f"  if {_UNCHECKED}", soft_wrap=True)
        for file in each.derived:
            console.print(
                f"  computed from it, at no cost: {display(file['how'])} (SHA-256 {file['derived']})", soft_wrap=True
            )
    if (sentence := _TABLE.get(_table(account))) is not None:
        console.print(sentence, soft_wrap=True)
    if account.part_of is not None:
        console.print(
            f"A period of {account.part_of}, whose people are declared to be in no other. It was checked in part: {COMPARED}.",
            soft_wrap=True,
        )
    if account.apart:
        console.print(f"Declared to be other people than {', '.join(account.apart)}.", soft_wrap=True)
    console.print("\nAll releases together:")
    for name, total in _relevant_totals(account).items():
        more = f"; {total.why}" if total.guarantee is not None and total.why else ""
        nothing = f"{_NOTIONS[name]}: nothing ({total.why})"
        beside = f"{_whom(name, total)}{_beside(total)}{more}"
        sentence = nothing if total.guarantee is None else f"{in_brief(total.guarantee)}{beside}"
        console.print(f"- {sentence}", soft_wrap=True)
    if any(each.charge.declared_unique for each in account.spent_releases):
        console.print(f"All of this holds only if {_UNCHECKED}.", soft_wrap=True)
    console.print(f"\nThe policy: {_policy_text(account)}.", soft_wrap=True)
    for name, value in _left(account).items():
        console.print(f"- left of {name.replace('_', ' ')}: {value}", soft_wrap=True)
