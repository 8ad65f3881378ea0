"""Hubbub publishes statistics about people so that each person stays lost in the crowd, and says how lost.

This is the public surface. Importing it loads no database, no chart library and no command line: each name is fetched
when it is first used.

::

    open, open_graph, save
                     a table of people or a network; a release of it, written with its certificate and report
    withdraw, correct
                     a signed notice beside a release that stands no more, or that another stands in its place
    reopen           a published synopsis, to ask it for answers
    sample_and_sanitize
                     a differentially private mechanism of your own, run on a secret sample
    verify, explain  a certificate, checked without the data, and in plain words
    plan, account    which release reaches a promise, and what follows from what: the theorems as a calculator
    ledger           what was published about whom, and what it adds up to
    vote             elections in which honesty pays: counted, and with what a margin promises
    Table, Network, Release, Certificate, HubbubError, WrongUse, Refused, CheckFailed
                     the types of what these hand out (Certificate: what verify found), and the errors they raise
    channel, profile, decide, interval
                     one count channel, its exact losses, whether a claim holds, what a published value says
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hubbub import account as account
    from hubbub import ledger as ledger
    from hubbub import plan as plan
    from hubbub import vote as vote
    from hubbub.channels.catalogue import channel as channel
    from hubbub.channels.estimate import interval as interval
    from hubbub.channels.profile import decide as decide
    from hubbub.channels.profile import profile as profile
    from hubbub.errors import CheckFailed as CheckFailed
    from hubbub.errors import HubbubError as HubbubError
    from hubbub.errors import Refused as Refused
    from hubbub.errors import WrongUse as WrongUse
    from hubbub.kinds.custom.spec import sample_and_sanitize as sample_and_sanitize
    from hubbub.kinds.network import Network as Network
    from hubbub.kinds.table import Table as Table
    from hubbub.opening import open as open
    from hubbub.opening import open_graph as open_graph
    from hubbub.private_sql.execution import sql as sql
    from hubbub.project.running import publish_all as publish_all
    from hubbub.protocol.release import Release as Release
    from hubbub.publication.revocation import correct as correct
    from hubbub.publication.revocation import withdraw as withdraw
    from hubbub.release import save as save
    from hubbub.verification import Certificate as Certificate
    from hubbub.verification.api import explain as explain
    from hubbub.verification.api import verify as verify
    from hubbub.verification.synopsis import reopen as reopen

__version__ = "0.1.0"

_WHERE = {
    "Certificate": "hubbub.verification",
    "CheckFailed": "hubbub.errors",
    "HubbubError": "hubbub.errors",
    "Network": "hubbub.kinds.network",
    "Refused": "hubbub.errors",
    "Release": "hubbub.protocol.release",
    "Table": "hubbub.kinds.table",
    "WrongUse": "hubbub.errors",
    "channel": "hubbub.channels.catalogue",
    "correct": "hubbub.publication.revocation",
    "decide": "hubbub.channels.profile",
    "explain": "hubbub.verification.api",
    "interval": "hubbub.channels.estimate",
    "open": "hubbub.opening",
    "open_graph": "hubbub.opening",
    "profile": "hubbub.channels.profile",
    "publish_all": "hubbub.project.running",
    "reopen": "hubbub.verification.synopsis",
    "sample_and_sanitize": "hubbub.kinds.custom.spec",
    "save": "hubbub.release",
    "sql": "hubbub.private_sql.execution",
    "verify": "hubbub.verification.api",
    "withdraw": "hubbub.publication.revocation",
}
_MODULES = ("account", "ledger", "plan", "vote")

__all__ = [
    "Certificate",
    "CheckFailed",
    "HubbubError",
    "Network",
    "Refused",
    "Release",
    "Table",
    "WrongUse",
    "__version__",
    "account",
    "channel",
    "correct",
    "decide",
    "explain",
    "interval",
    "ledger",
    "open",
    "open_graph",
    "plan",
    "profile",
    "publish_all",
    "reopen",
    "sample_and_sanitize",
    "save",
    "sql",
    "verify",
    "vote",
    "withdraw",
]


def __getattr__(name: str) -> Any:
    if name in _WHERE:
        return getattr(import_module(_WHERE[name]), name)
    if name in _MODULES:
        return import_module(f"hubbub.{name}")
    raise AttributeError(f"hubbub has no {name}; it has {', '.join(__all__)}")


def __dir__() -> list[str]:
    return list(__all__)
