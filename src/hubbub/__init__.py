"""Hubbub publishes statistics about people so that each person stays lost in the crowd, and says how lost.

This is the public surface. Importing it loads no database, no chart library and no command line: each name is fetched
when it is first used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hubbub.channels.catalogue import channel as channel
    from hubbub.channels.estimate import interval as interval
    from hubbub.channels.profile import decide as decide
    from hubbub.channels.profile import profile as profile
    from hubbub.release import open as open
    from hubbub.release import open_graph as open_graph
    from hubbub.release import save as save

__version__ = "0.1.0"

_WHERE = {
    "channel": "hubbub.channels.catalogue",
    "decide": "hubbub.channels.profile",
    "interval": "hubbub.channels.estimate",
    "open": "hubbub.release",
    "open_graph": "hubbub.release",
    "profile": "hubbub.channels.profile",
    "save": "hubbub.release",
}

__all__ = ["__version__", "channel", "decide", "interval", "open", "open_graph", "profile", "save"]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    raise AttributeError(f"hubbub has no {name}; it has {', '.join(__all__)}")
