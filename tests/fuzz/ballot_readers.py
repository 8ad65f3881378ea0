"""Readers of ballots against damaged files: nobody wins by a file that was not understood.

Each case makes an election, writes it as an office or vendor would, damages it, and reads it. The outcome is a refusal, or
the very ballots that were written; anything else is a fault. Half of the cases are tables (headers permuted, columns added,
ratings, identifiers, codes, rows cut), half vendors' records (cut short, called as another vendor's, without or with another
contest's manifest, with marks for strangers, impossible ranks, twice, in archives that were cut).

    python -m tests.fuzz.ballot_readers 5000
"""

from __future__ import annotations

import gzip
import io
import json
import sys
import tempfile
import zipfile
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

from hubbub.errors import HubbubError, WrongUse
from hubbub.voting.formats.formats import for_rule
from hubbub.voting.formats.several import read_all
from tests.fuzz.ballot_tables import (
    DESTROYS,
    SHAPES,
    Counts,
    Table,
    counted,
    election,
    ranks,
    turned,
    widened,
    written,
)

Ballots = list[tuple[str, ...]]
Files = dict[str, bytes]
REFUSED, SAME = "refused", "same"
CUT_ROOM = 0.97  # a file that lacks less than this share of its bytes may lack nothing but its last line break


def codes_of(ballots: Ballots) -> dict[str, str]:
    return {name: f"c{i}" for i, name in enumerate(sorted({name for ballot in ballots for name in ballot}), 1)}


def dominion(ballots: Ballots) -> Files:
    codes = codes_of(ballots)
    sessions = [
        {
            "TabulatorId": 1,
            "BatchId": 1,
            "RecordId": i,
            "Original": {
                "PrecinctPortionId": 1,
                "Cards": [
                    {
                        "Contests": [
                            {
                                "Id": 7,
                                "Marks": [
                                    {"CandidateId": codes[name], "Rank": r, "IsAmbiguous": False}
                                    for r, name in enumerate(ballot, 1)
                                ],
                            }
                        ]
                    }
                ],
            },
        }
        for i, ballot in enumerate(ballots)
    ]
    people = [{"Id": code, "Description": name, "ContestId": 7} for name, code in codes.items()]
    listed = {
        "CvrExport.json": {"Sessions": sessions},
        "ContestManifest.json": {"List": [{"Id": 7, "Description": "Mayor", "VoteFor": 1}]},
        "CandidateManifest.json": {"List": people},
    }
    return {name: json.dumps(value).encode() for name, value in listed.items()}


def hart(ballots: Ballots) -> Files:
    codes = codes_of(ballots)
    most = max(map(len, ballots))
    out: Files = {}
    for i, ballot in enumerate(ballots):
        options = "".join(
            f"<Option><Name>{name}</Name><Id>{codes[name]}</Id>"
            f"<Value>{''.join('1' if r == at else '0' for r in range(most))}</Value></Option>"
            for at, name in enumerate(ballot)
        )
        record = (
            f"<Cvr><Contests><Contest><Name>Mayor</Name><Id>k</Id><Options>{options}</Options></Contest></Contests>"
        )
        out[f"{i}.xml"] = f'<?xml version="1.0"?>{record}<CvrGuid>g{i}</CvrGuid></Cvr>'.encode()
    return out


def cdf_xml(ballots: Ballots) -> Files:
    codes = codes_of(ballots)
    records = "".join(
        f"<CVR><CurrentSnapshotId>s{i}</CurrentSnapshotId><CVRSnapshot ObjectId='s{i}'><CVRContest><ContestId>k</ContestId>"
        + "".join(
            f"<CVRContestSelection><ContestSelectionId>x{codes[name]}</ContestSelectionId><SelectionPosition>"
            f"<HasIndication>yes</HasIndication><Rank>{r}</Rank></SelectionPosition></CVRContestSelection>"
            for r, name in enumerate(ballot, 1)
        )
        + "</CVRContest></CVRSnapshot></CVR>"
        for i, ballot in enumerate(ballots)
    )
    people = "".join(f"<Candidate ObjectId='{code}'><Name>{name}</Name></Candidate>" for name, code in codes.items())
    selections = "".join(
        f"<ContestSelection ObjectId='x{code}'><CandidateIds>{code}</CandidateIds></ContestSelection>"
        for code in codes.values()
    )
    contest = f"<Contest ObjectId='k'><Name>Mayor</Name>{selections}</Contest>"
    whole = f"<CastVoteRecordReport>{records}<Election>{people}{contest}</Election></CastVoteRecordReport>"
    return {"records.xml": whole.encode()}


def cdf_json(ballots: Ballots) -> Files:
    codes = codes_of(ballots)
    records = [
        {
            "CurrentSnapshotId": f"s{i}",
            "CVRSnapshot": [
                {
                    "@id": f"s{i}",
                    "CVRContest": [
                        {
                            "ContestId": "k",
                            "CVRContestSelection": [
                                {
                                    "ContestSelectionId": f"x{codes[name]}",
                                    "SelectionPosition": [{"HasIndication": "yes", "Rank": r}],
                                }
                                for r, name in enumerate(ballot, 1)
                            ],
                        }
                    ],
                }
            ],
        }
        for i, ballot in enumerate(ballots)
    ]
    selections = [{"@id": f"x{code}", "CandidateIds": [code]} for code in codes.values()]
    election_part = {
        "Candidate": [{"@id": code, "Name": name} for name, code in codes.items()],
        "Contest": [{"@id": "k", "Name": "Mayor", "VotesAllowed": 1, "ContestSelection": selections}],
    }
    return {"records.json": json.dumps({"CVR": records, "Election": [election_part]}).encode()}


def workbook(ballots: Ballots) -> Files:
    rows = ranks(ballots, Random(1))
    cells = "".join(
        f'<row r="{i}">'
        + "".join(
            f'<c r="{chr(65 + j)}{i}" t="inlineStr"><is><t>{cell}</t></is></c>' for j, cell in enumerate(row) if cell
        )
        + "</row>"
        for i, row in enumerate(rows, 1)
    )
    sheet = f"<worksheet><sheetData>{cells}</sheetData></worksheet>"
    return {"records.xlsx": packed({"xl/worksheets/sheet1.xml": sheet.encode()})}


def blt(ballots: Ballots) -> Files:
    numbers = {name: i for i, name in enumerate(codes_of(ballots), 1)}
    lines = [f"1 {' '.join(str(numbers[name]) for name in ballot)} 0" for ballot in ballots]
    names = [f'"{name}"' for name in numbers]
    return {"records.blt": "\n".join([f"{len(numbers)} 1", *lines, "0", *names, '"Mayor"', ""]).encode()}


def preflib(ballots: Ballots) -> Files:
    numbers = {name: i for i, name in enumerate(codes_of(ballots), 1)}
    head = ["# FILE NAME: records.soi", "# DATA TYPE: soi", f"# NUMBER ALTERNATIVES: {len(numbers)}"]
    head += [f"# NUMBER VOTERS: {len(ballots)}", f"# NUMBER UNIQUE ORDERS: {len(set(ballots))}"]
    head += [f"# ALTERNATIVE NAME {i}: {name}" for name, i in numbers.items()]
    rows = [f"{many}: {','.join(str(numbers[name]) for name in row)}" for row, many in counted(ballots).items()]
    return {"records.soi": "\n".join([*head, *rows, ""]).encode()}


def abif(ballots: Ballots) -> Files:
    lines = [f"{many}:{'>'.join(row)}" for row, many in counted(ballots).items()]
    return {"records.abif": "\n".join([*lines, ""]).encode()}


def rankings(ballots: Ballots) -> Files:
    rows = [f"{many},{'>'.join(row)}" for row, many in counted(ballots).items()]
    return {"records.csv": "\n".join(["count,ranking", *rows, ""]).encode()}


def blt_commas(ballots: Ballots) -> Files:
    numbers = {name: i for i, name in enumerate(codes_of(ballots), 1)}
    lines = [f"1,{','.join(str(numbers[name]) for name in ballot)}," for ballot in ballots]
    names = [f'"Candidate {i}","{name}","Independent",' for name, i in numbers.items()]
    return {"records.csv": "\n".join([f"{len(numbers)},1,", *lines, *names, '"Mayor",', ""]).encode()}


def two_files(ballots: Ballots) -> Files:
    """A column for each rank, in a file for the north and one for the south, by wards; each names somebody whom the other does."""
    width = max(map(len, ballots))
    heads = ["id", "Ward", *(f"Rank {i}" for i in range(1, width + 1))]
    rows = [[str(i), f"w{i % 3}", *ballot, *[""] * (width - len(ballot))] for i, ballot in enumerate(ballots, 1)]
    half = len(rows) // 2
    return {
        name: "\n".join(",".join(row) for row in [heads, *part, []]).encode()
        for name, part in (("north.csv", rows[:half]), ("south.csv", rows[half:]))
    }


def packed(files: Files) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


VENDORS: dict[str, Callable[[Ballots], Files]] = {
    "dominion": dominion,
    "hart": hart,
    "cdf xml": cdf_xml,
    "cdf json": cdf_json,
    "workbook": workbook,
    "blt": blt,
    "preflib": preflib,
    "abif": abif,
    "rankings": rankings,
    "blt with commas": blt_commas,
    "two files": two_files,
}


# --- damage to records: each gives files of which no result may come but the one that was ------------------------------


def as_it_was(files: Files, random: Random) -> Files:
    return files


def in_an_archive(files: Files, random: Random) -> Files:
    return {"all.zip": packed(files)}


def cut_archive(files: Files, random: Random) -> Files:
    whole = packed(files)
    return {"all.zip": whole[: int(len(whole) * random.uniform(0, CUT_ROOM))]}


def cut(files: Files, random: Random) -> Files:
    """The largest file ends too early."""
    name = max(files, key=lambda name: len(files[name]))
    data = files[name]
    return files | {name: data[: int(len(data) * random.uniform(0, CUT_ROOM))]}


def other_ending(files: Files, random: Random) -> Files:
    """What one vendor wrote, called as another's."""
    ending = random.choice([".csv", ".xml", ".json", ".blt", ".soi", ".abif", ".xlsx", ".zip", ".toc"])
    _, data = random.choice(sorted(files.items()))
    return {f"records{ending}": data}


def strangers(files: Files, random: Random) -> Files:
    """Marks for codes that nobody has."""
    return {name: data.replace(b"c1<", b"zz<").replace(b'"c1"', b'"zz"', 3) for name, data in files.items()}


def approvals(files: Files, random: Random) -> Files:
    """Categories of approval in the place of ranks: no rule for rankings counts them."""
    return {
        "records.cat": b"# DATA TYPE: cat\n# NUMBER ALTERNATIVES: 3\n# NUMBER VOTERS: 3\n# NUMBER UNIQUE PREFERENCES: 1\n"
        b"# NUMBER CATEGORIES: 2\n# CATEGORY NAME 1: Approved\n# CATEGORY NAME 2: Not\n# ALTERNATIVE NAME 1: Ann\n"
        b"# ALTERNATIVE NAME 2: Bob\n# ALTERNATIVE NAME 3: Cid\n3: {1,2},3\n"
    }


def gzipped(files: Files, random: Random) -> Files:
    """Packed one by one and cut, as after a download that broke off."""
    out: Files = {}
    for name, data in files.items():
        whole = gzip.compress(data, mtime=0)
        out[f"{name}.gz"] = whole[: int(len(whole) * random.uniform(0.2, CUT_ROOM))]
    return out


def other_encoding(files: Files, random: Random) -> Files:
    """Text in UTF-16 without the mark that says so."""
    return {name: data if data.startswith(b"PK") else data.decode().encode("utf-16-le") for name, data in files.items()}


def other_count(files: Files, random: Random) -> Files:
    """How many ballots a row stands for, in a column of another name."""
    return {name: data.replace(b"count,ranking", b"Votes,ranking") for name, data in files.items()}


def no_manifest(files: Files, random: Random) -> Files:
    return {name: data for name, data in files.items() if name != "CandidateManifest.json"}


def twice(files: Files, random: Random) -> Files:
    """A file that is there under two names."""
    name = random.choice([name for name in files if not name.endswith("Manifest.json")])
    return files | {f"copy-{name}": files[name]}


def impossible_ranks(files: Files, random: Random) -> Files:
    """Ranks that no ballot has."""
    return {
        name: data.replace(b'"Rank": 1', b'"Rank": 99999')
        .replace(b"<Rank>1<", b"<Rank>0<")
        .replace(b"<Value>1", b"<Value>7")
        for name, data in files.items()
    }


def with_a_document_type(files: Files, random: Random) -> Files:
    bomb = b'<!DOCTYPE x [<!ENTITY a "Ann Lee">]>'
    return {name: bomb + data if name.endswith("records.xml") else data for name, data in files.items()}


def letters_changed(files: Files, random: Random) -> Files:
    """Structure of the file, and no name, is changed: brackets and braces where others were."""
    swaps = [(b"{", b"["), (b"</", b"<"), (b": ", b"; "), (b" 0\n", b"\n"), (b"Sessions", b"Session")]
    old, new = random.choice(swaps)
    return {name: data if data.startswith(b"PK") else data.replace(old, new, 1) for name, data in files.items()}


ENDLESS = ("abif", "rankings", "two files")
"""Lines of text that say nowhere how many they are: one that was cut is another election, and nobody can tell."""

DAMAGES = (
    as_it_was,
    in_an_archive,
    cut_archive,
    cut,
    other_ending,
    strangers,
    no_manifest,
    twice,
    impossible_ranks,
    with_a_document_type,
    letters_changed,
    approvals,
    gzipped,
    other_encoding,
    other_count,
)


# --- cases ---------------------------------------------------------------------------------------------------------


def read_back(folder: Path, files: Files) -> Counts | None:
    """The ballots, or None if they are refused. Every other error is a fault."""
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    paths = [folder / name for name in files]
    try:
        return for_rule(read_all(paths[0] if len(paths) == 1 else folder), "instant-runoff").ballots.counts()
    except WrongUse:
        return None


def check(number: int, folder: Path) -> str:
    """One case: what came of it. Raises AssertionError where ballots came out that were not in it."""
    random = Random(number)
    ballots = election(random)
    if number % 2:
        shape = random.choice(sorted(SHAPES))
        table: Table = SHAPES[shape](ballots, random)
        destroys = random.random() < 0.7
        damage = random.choice(DESTROYS[shape]) if destroys else random.choice([turned, widened])
        damaged = damage(table, shape, random) if destroys else damage(table, random)  # type: ignore[call-arg, arg-type]
        what = f"{shape}: {damage.__name__}"
        found = read_back(folder, {"ballots.csv": written(damaged).encode()})
        wanted = None if destroys else counted(ballots)
    else:
        vendor = random.choice(sorted(VENDORS))
        harm = random.choice(DAMAGES)
        if harm is cut and vendor in ENDLESS:
            harm = cut_archive
        what = f"{vendor}: {harm.__name__}"
        found = read_back(folder, harm(VENDORS[vendor](ballots), random))
        wanted = counted(ballots)
        if harm in (as_it_was, in_an_archive):
            assert found == wanted, f"case {number}, {what}: a whole file is read, and here it was not"
    assert found is None or found == wanted, f"case {number}, {what}: {found}"
    return REFUSED if found is None else SAME


def run(first: int, cases: int) -> Counter[str]:
    """How many cases came out how."""
    found: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as temporary:
        for number in range(first, first + cases):
            found[check(number, Path(temporary) / str(number))] += 1
    return found


if __name__ == "__main__":
    many = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    try:
        print(dict(run(0, many)))
    except (AssertionError, HubbubError) as error:
        raise SystemExit(f"fault: {error}") from error
