"""What every command owes its caller: one JSON object and nothing else, or one sentence and nothing else."""

from __future__ import annotations

import json
from typing import Any

from click.testing import Result


def one_object(result: Result) -> dict[str, Any]:
    """The answer of a call with --json: on stdout, on one line, alone."""
    assert (result.exit_code, result.stderr) == (0, "")
    assert result.stdout.count("\n") == 1
    answer = json.loads(result.stdout)
    assert isinstance(answer, dict)
    return answer


def one_sentence(result: Result, code: int, says: str) -> None:
    """What is wrong: on stderr, on one line, alone."""
    assert (result.exit_code, result.stdout) == (code, ""), result.output
    assert result.stderr.startswith("hubbub: ")
    assert result.stderr.count("\n") == 1
    assert says in result.stderr
