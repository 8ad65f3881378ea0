"""What has been promised about whom, kept so that no promise is broken by the next one.

``hubbub.ledger.Ledger()`` is the user's own; `Policy` caps what may be spent, `trust` keeps whose key is whose.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hubbub.ledger import trust as trust
    from hubbub.ledger.ledger import Ledger as Ledger
    from hubbub.ledger.policy import Policy as Policy

_WHERE = {"Ledger": "hubbub.ledger.ledger", "Policy": "hubbub.ledger.policy"}

__all__ = ["Ledger", "Policy", "trust"]


def __getattr__(name: str) -> Any:
    if name in _WHERE:  # late: its parts are imported one by one, and the book imports them all
        return getattr(import_module(_WHERE[name]), name)
    if name == "trust":
        return import_module("hubbub.ledger.trust")
    raise AttributeError(f"hubbub.ledger has no {name}; it has {', '.join(__all__)}")
