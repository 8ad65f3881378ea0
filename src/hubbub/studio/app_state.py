"""What the pages share: the folder, the ledger, the work under way, and what was worked out already."""

from __future__ import annotations

from dataclasses import field
from pathlib import Path

from starlette.requests import Request

from hubbub.errors import HubbubError, WrongUse
from hubbub.ledger.ledger import Ledger
from hubbub.publication.signed_files import published
from hubbub.runtime.frozen import dataclass
from hubbub.studio.answers import Answers
from hubbub.studio.drafts import Drafts
from hubbub.studio.folder import Folder
from hubbub.studio.work.work import Work


@dataclass(frozen=True, slots=True, eq=False)
class AppState:
    """`ledger` is a file, None for the user's own."""

    folder: Folder
    ledger: Path | None = None
    work: Work = field(default_factory=Work)
    answers: Answers = field(default_factory=Answers)
    drafts: Drafts = field(default_factory=Drafts)

    @property
    def open_ledger(self) -> Ledger:
        return Ledger(self.ledger)

    @property
    def ledger_name(self) -> str | None:
        """How a command is told which ledger."""
        return None if self.ledger is None else str(self.ledger)

    def published(self, folder: Path) -> dict[str, str]:
        """What this ledger published in a folder, with digests; nothing else there is hidden or handed out."""
        return published(folder, self.open_ledger)


def app_state_of(request: Request) -> AppState:
    """The state of the studio that a request came to."""
    found: AppState = request.app.state.app_state
    return found


def whose(app_state: AppState, public_key: str) -> str | None:
    """Who signs with a key: a known name, or you yourself by the ledger that is open here."""
    from hubbub.ledger import trust

    known = trust.signer(public_key)
    if known is not None or app_state.ledger is None:
        return known
    try:
        return (
            "you (the key is that of the ledger that is open here)"
            if public_key in app_state.open_ledger.public_keys()
            else None
        )
    except HubbubError:
        return None


def key_of(text: str) -> str:
    """A public key that somebody gives: itself, or by a known name. Names of files are not taken here."""
    from hubbub.ledger import trust

    known = trust.names()
    return known[text] if text in known else hexadecimal(text)


def hexadecimal(key: str) -> str:
    """A key itself."""
    if len(key) != 64 or not all(sign in "0123456789abcdef" for sign in key.lower()):
        raise WrongUse("a key has 64 signs, digits and a to f; copy all of it, or choose a known name")
    return key.lower()
