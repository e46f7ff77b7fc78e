"""The vocabularies with an order: every ladder, weakest first, and the classes of a column."""

from __future__ import annotations

from enum import Enum

from floe_core.order import Ladder


class ClassificationLevel(Ladder):
    """How sensitive data may be."""

    PUBLIC = "PUBLIC"
    INTERNAL = "INTERNAL"
    CONFIDENTIAL = "CONFIDENTIAL"
    RESTRICTED = "RESTRICTED"


class NamingEnforcement(Ladder):
    """What happens to a model whose name or layer breaks the pattern."""

    OFF = "off"
    WARN = "warn"
    STRICT = "strict"


class SqlLinting(Ladder):
    """What happens to SQL that breaks a linting rule."""

    DISABLED = "DISABLED"
    WARN = "WARN"
    ERROR = "ERROR"


class ContractEnforcement(Ladder):
    """What happens when a data contract is broken."""

    OFF = "off"
    WARN = "warn"
    ALERT_ONLY = "alert_only"
    BLOCK = "block"


class IdentityEnforcement(Ladder):
    """What happens to a product whose namespace is not registered."""

    OFF = "off"
    WARN = "warn"
    REGISTER = "register"
    ENFORCE = "enforce"


class RegistrationMode(Ladder):
    """Who may register a product in a domain."""

    OPEN = "open"
    APPROVAL_REQUIRED = "approval_required"


class SchemaEvolution(Ladder):
    """Which schema changes a run may publish."""

    ANY = "any"
    ADDITIVE = "additive"
    STRICT = "strict"


class Widening(Ladder):
    """Which bump a type widening needs."""

    MINOR = "minor"
    MAJOR = "major"


class InitialDevelopment(Ladder):
    """Whether contracts below 1.0.0 follow the version rules."""

    FREE = "free"
    STRICT = "strict"


class FieldClass(Enum):
    """What a single column may be classified as."""

    PUBLIC = "public"
    INTERNAL = "internal"
    IDENTIFIER = "identifier"
    CONFIDENTIAL = "confidential"
    PII = "pii"
    PHI = "phi"
    SENSITIVE = "sensitive"
    RESTRICTED = "restricted"

    @property
    def rank(self) -> int:
        return _RANKS[self]

    def covers(self, other: FieldClass) -> bool:
        """Whether this class demands at least what the other does; pii, phi, sensitive stay apart."""
        return self is other or self.rank > other.rank or self.rank == other.rank == _INTERNAL


_INTERNAL = 1
_RANKS = {
    FieldClass.PUBLIC: 0,
    FieldClass.INTERNAL: _INTERNAL,
    FieldClass.IDENTIFIER: _INTERNAL,
    FieldClass.CONFIDENTIAL: 2,
    FieldClass.PII: 3,
    FieldClass.PHI: 3,
    FieldClass.SENSITIVE: 3,
    FieldClass.RESTRICTED: 4,
}
