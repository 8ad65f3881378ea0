"""Record what releases draw, publish and promise under scripted randomness, and compare it later.

``python -m tests.recording write`` writes digests.json again: do so only with a change that means to change numbers.
``python -m tests.recording show CASE`` prints all that one case draws and says; run it before and after to see a
difference. The comparison itself is a test, test_recording.py.
"""

from __future__ import annotations

import sys

from tests.recording.cases import cases
from tests.recording.replay import DIGESTS, canonical_digests, replay, text


def main(words: list[str]) -> int:
    if words[:1] == ["show"]:
        print(text(replay(*cases()[" ".join(words[1:])])))
        return 0
    if words != ["write"]:
        print(__doc__, file=sys.stderr)
        return 2
    DIGESTS.write_text(canonical_digests(), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
