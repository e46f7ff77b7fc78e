"""How schema fields spell their merge strategy: `threshold: AtLeast[Percent]`."""

from __future__ import annotations

from typing import Annotated, TypeVar

from floe_core import order
from floe_core.schemas.values import Flag

T = TypeVar("T")

AtLeast = Annotated[T | None, order.AtLeast()]
AtMost = Annotated[T | None, order.AtMost()]
Climb = Annotated[T | None, order.Climb()]
Switch = Annotated[Flag | None, order.Switch()]
Extend = Annotated[tuple[T, ...] | None, order.Extend()]
Require = Annotated[tuple[T, ...] | None, order.Require()]
Subset = Annotated[tuple[T, ...] | None, order.Subset()]
Equal = Annotated[T | None, order.Equal()]
Override = Annotated[T | None, order.Override()]
Own = Annotated[T | None, order.Own()]
OwnAlways = Annotated[T, order.Own()]  # a key that every file of the kind must have
