"""A release that was bound to the columns of its data: what follows from its spec, each worked out once.

Everybody after `bind` gets this value: the ledger its charge, the report its words, the certificate its JSON.
"""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING

from hubbub.runtime.frozen import dataclass

if TYPE_CHECKING:
    from hubbub.guarantees.derivation import Derivation
    from hubbub.protocol.spec import CompositionInfo, Description, Spec
    from hubbub.serialization.canonical import Plain


@dataclass(frozen=True, eq=False)
class Bound:
    """A spec with what the schema told, and all that is public about the release.

    Guarantee: it is a function of the spec alone, and so of nothing that is private.
    """

    spec: Spec

    def bind(self, schema: object) -> Bound:
        """Itself: what was bound once stays so, for whoever takes a spec and binds it."""
        return self

    @cached_property
    def promises(self) -> tuple[Derivation, ...]:
        """Every promise, the mechanism's own first; refuses where nothing can be promised."""
        return self.spec.promises()

    @cached_property
    def table_promises(self) -> tuple[Derivation, ...]:
        """Those to the people of the table, however it was collected."""
        return self.spec.table_promises()

    @cached_property
    def composition(self) -> CompositionInfo:
        """What decides how it adds up with other releases."""
        return self.spec.composition()

    @cached_property
    def description(self) -> Description:
        """The release in plain words."""
        return self.spec.describe()

    @cached_property
    def json(self) -> dict[str, Plain]:
        """The spec in exact JSON."""
        return self.spec.to_json()
