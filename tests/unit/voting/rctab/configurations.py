"""Small configurations of RCTab beside their records."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

RULES: dict[str, Any] = {
    "tiebreakMode": "useCandidateOrder",
    "overvoteRule": "exhaustImmediately",
    "winnerElectionMode": "singleWinnerMajority",
    "randomSeed": "",
    "numberOfWinners": "1",
    "decimalPlacesForVoteArithmetic": "4",
    "minimumVoteThreshold": "0",
    "maxSkippedRanksAllowed": "1",
    "maxRankingsAllowed": "max",
    "nonIntegerWinningThreshold": False,
    "hareQuota": False,
    "batchElimination": False,
    "continueUntilTwoCandidatesRemain": False,
    "exhaustOnDuplicateCandidate": False,
}


def made(
    folder: Path,
    records: str | bytes,
    name: str,
    provider: str,
    *,
    source: dict[str, Any] | None = None,
    **rules: Any,
) -> Path:
    """A configuration beside its records."""
    path = folder / name
    path.write_bytes(records.encode() if isinstance(records, str) else records)
    about = (source or {}) if provider in ("ess", "genericCsv") else {"contestId": "Mayor"}
    value = {
        "outputSettings": {"contestName": "Mayor"},
        "cvrFileSources": [{"filePath": name, "provider": provider, **about}],
        "candidates": [{"name": who, "excluded": False, "aliases": [who.lower()]} for who in ("Ann", "Bob", "Cid")],
        "rules": RULES | rules,
    }
    (folder / "config.json").write_text(json.dumps(value), encoding="utf-8")
    return folder / "config.json"


PERCENTAGE = {"winnerElectionMode": "bottomsUpUsingPercentageThreshold", "numberOfWinners": "0"}
ONE_A_ROUND = {"winnerElectionMode": "multiWinnerAllowOnlyOneWinnerPerRound"}
GRID = "Ann,Bob,Cid\n" + "1,2,\n" * 4 + "2,1,3\n" * 3 + ",2,1\n" * 2
FIRST = {"firstVoteColumnIndex": "1", "firstVoteRowIndex": "2"}

SESSION = {
    "TabulatorId": 1,
    "BatchId": 1,
    "RecordId": 1,
    "Original": {
        "Cards": [
            {
                "Contests": [
                    {
                        "Id": "Mayor",
                        "Marks": [
                            {"CandidateId": "ann", "Rank": 1, "IsAmbiguous": False},
                            {"CandidateId": "bob", "Rank": 1, "IsAmbiguous": True},
                            {"CandidateId": "cid", "Rank": 2, "IsAmbiguous": False},
                        ],
                    }
                ]
            }
        ]
    },
}


def packed(folder: Path, files: dict[str, str]) -> bytes:
    path = folder / "made.zip"
    with zipfile.ZipFile(path, "w") as archive:
        for name, text in files.items():
            archive.writestr(name, text)
    return path.read_bytes()


def workbook(folder: Path, rows: list[list[str]]) -> bytes:
    cells = ""
    for i, row in enumerate(rows, 1):
        texts = [
            f'<c r="{chr(65 + j)}{i}" t="inlineStr"><is><t>{cell}</t></is></c>' for j, cell in enumerate(row) if cell
        ]
        cells += f'<row r="{i}">{"".join(texts)}</row>'
    return packed(folder, {"xl/worksheets/sheet1.xml": f"<worksheet><sheetData>{cells}</sheetData></worksheet>"})
