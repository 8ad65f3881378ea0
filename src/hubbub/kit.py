"""What the author of a kind of release outside this repository imports: one module, and nothing else.

A kind is a frozen `Spec`. Its `measure` alone sees data and randomness: it asks the engine for exact counts
(`CountQuery`) and hands them to a mechanism through `release`. Its `present` makes a `Result` of the `Measurement`, and
its `load` reads the measurement back from the published files. docs/how-to/write-a-kind.md goes through an example.
Kinds in `hubbub.kinds` import what they need from the layers below them instead.
"""

from __future__ import annotations

from hubbub.channels.mechanisms.geometric import Geometric as Geometric
from hubbub.channels.protocol import Channel as Channel
from hubbub.errors import CheckFailed as CheckFailed
from hubbub.errors import Refused as Refused
from hubbub.errors import WrongUse as WrongUse
from hubbub.guarantees.definitions import DifferentialPrivacy as DifferentialPrivacy
from hubbub.guarantees.derivation import DMNS as DMNS
from hubbub.guarantees.derivation import Derivation as Derivation
from hubbub.guarantees.derivation import Theorem as Theorem
from hubbub.guarantees.derivation import state_promise as state_promise
from hubbub.guarantees.derivation import texts as texts
from hubbub.guarantees.people import People as People
from hubbub.noise.source import Source as Source
from hubbub.protocol.channel_checks import laws as laws
from hubbub.protocol.check import Check as Check
from hubbub.protocol.measurement import LABELS as LABELS
from hubbub.protocol.measurement import Drawn as Drawn
from hubbub.protocol.measurement import Measurement as Measurement
from hubbub.protocol.measurement import Mechanism as Mechanism
from hubbub.protocol.measurement import loaded as loaded
from hubbub.protocol.measurement import release as release
from hubbub.protocol.option import Option as Option
from hubbub.protocol.result import DisplayTable as DisplayTable
from hubbub.protocol.result import Result as Result
from hubbub.protocol.result import Sheet as Sheet
from hubbub.protocol.spec import CompositionInfo as CompositionInfo
from hubbub.protocol.spec import Description as Description
from hubbub.protocol.spec import Kind as Kind
from hubbub.protocol.spec import Spec as Spec
from hubbub.serialization.canonical import Plain as Plain
from hubbub.serialization.exact_json import plain as plain
from hubbub.serialization.exact_json import restored as restored
from hubbub.serialization.published_files import Files as Files
from hubbub.tables.engine import CountQuery as CountQuery
from hubbub.tables.engine import Engine as Engine
from hubbub.tables.engine import ExactCounts as ExactCounts
from hubbub.tables.engine import MultiRowPolicy as MultiRowPolicy
from hubbub.tables.privacy_unit import EACH_ROW as EACH_ROW
from hubbub.tables.privacy_unit import Unit as Unit
