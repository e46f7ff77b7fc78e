"""What a contract takes from above: SLA minimums, base contracts, what it extends. It may only strengthen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from floe_contracts.meaning import EXTENDS, custom_path, understand
from floe_contracts.merge import merge
from floe_contracts.read import Draft, read_draft
from floe_contracts.sla import NAMES
from floe_contracts.weakenings import EVERY_TABLE, Parent, weakenings
from floe_contracts.writer import finder
from floe_core.contract import Json, Origin, Sla
from floe_core.findings import Finding, FloeError, Place
from floe_core.merge import Leaf, Merged
from floe_core.order import iso_duration, show
from floe_core.source import KeyPath

MINIMUMS = ("freshness", "availability", "quality")


@dataclass(slots=True)
class Ancestors:
    """Everything that a product's contracts inherit from."""

    parents: list[Parent] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)


def ancestors(merged: Merged) -> Ancestors:
    """The SLA minimums and base contracts of every tier, topmost first."""
    found = Ancestors()
    minimums = {name: leaf for name in MINIMUMS if (leaf := merged.leaves.get(("sla_minimums", name)))}
    if minimums:
        found.parents.append(_minimums(minimums))
    base = merged.leaves.get(("data_contracts", "base"))
    for said in base.statements if base else ():
        for path in said.value:
            file = Path(said.place.path).parent / path
            try:
                draft, _ = read_draft(file)
            except FloeError as exc:
                found.findings += [_not_found(item, path, said.place) for item in exc.findings]
                continue
            found.parents.append(Parent(understand(draft), draft, said.tier))
    return found


def _not_found(finding: Finding, path: str, place: Place) -> Finding:
    if finding.code != "FLOE-E100":
        return finding
    return Finding("FLOE-E514", f"the base contract {path} cannot be read", place)


def _minimums(leaves: Mapping[str, Leaf]) -> Parent:
    """The SLA minimums as a contract, so that they are judged like one."""
    slas: list[Json] = []
    origins: dict[KeyPath, Origin] = {}
    for name, leaf in leaves.items():
        setter = leaf.setters[0]
        origins[("slaProperties", len(slas))] = Origin(setter.tier, setter.place)
        value = iso_duration(leaf.value) if name == "freshness" else f"{show(leaf.value)}%"
        slas.append({"property": name, "value": value})
    start = next(iter(origins.values()))
    data: Json = {"apiVersion": "v3.1.0", "kind": "DataContract", "id": "sla_minimums", "version": "0.0.0"}
    draft = Draft({**data, "slaProperties": slas}, finder(origins, start), start.place.path)
    return Parent(understand(draft), draft, start.source)


def inherit(child: Draft, parents: Sequence[Parent]) -> tuple[Draft, list[Finding]]:
    """The child completed by what it inherits, and every place where it says less than a parent."""
    findings: list[Finding] = []
    result, meant = child, understand(child)
    for parent in reversed(parents):  # the nearest first: what it says, those above it cannot replace
        findings += weakenings(meant, parent)
        result = merge(result, _relevant(parent.draft, result, _outdone(parent, parents)))
    return result, findings


def _outdone(parent: Parent, parents: Sequence[Parent]) -> frozenset[str]:
    """The service levels that another parent demands more strictly."""
    return frozenset(
        mine.name.casefold()
        for mine in parent.contract.slas
        for other in parents
        for theirs in other.contract.slas
        if theirs.name == mine.name and _stricter(theirs, mine)
    )


def _stricter(one: Sla, other: Sla) -> bool:
    row = NAMES.get(one.name.casefold())
    if row is None or one.value is None or other.value is None or one.value == other.value:
        return False
    return row.order.holds(one.value, other.value)


def _relevant(parent: Draft, child: Draft, outdone: frozenset[str]) -> Draft:
    """What of a parent concerns a child: service levels, and columns of tables that both have."""
    data: Json = {"apiVersion": child.data["apiVersion"]}
    origins: dict[KeyPath, KeyPath] = {}
    if slas := parent.data.get("slaProperties"):
        named = {str(item["property"]).casefold() for item in child.data.get("slaProperties") or ()} | outdone
        kept = [number for number, item in enumerate(slas) if str(item["property"]).casefold() not in named]
        data["slaProperties"] = [slas[number] for number in kept]
        origins |= {("slaProperties", new): ("slaProperties", old) for new, old in enumerate(kept)}
    tables: list[Json] = []
    for table in child.data.get("schema") or ():
        for number, above in enumerate(parent.data.get("schema") or ()):
            if above["name"] in (table["name"], EVERY_TABLE):
                origins[("schema", len(tables))] = ("schema", number)
                kept_keys = {key: above[key] for key in ("properties", "quality") if key in above}
                tables.append({"name": table["name"], **kept_keys})
                break
    if tables:
        data["schema"] = tables

    def origin(path: KeyPath) -> Origin:
        start = origins.get(path[:2], path[:2])
        return parent.origin((*start, *path[2:]))

    return Draft(data, origin, parent.path)


@dataclass(slots=True)
class Family:
    """The contracts of a product by name and by file, to follow `floe.extends`."""

    folder: Path
    by_name: Mapping[str, Draft]
    findings: list[Finding] = field(default_factory=list)

    def extended(self, draft: Draft) -> list[Parent]:
        """The contracts that this one extends, topmost first."""
        chain: list[Parent] = []
        seen = [draft.path]
        current = draft
        while name := understand(current).extends:
            place = current.origin(custom_path(current.data, EXTENDS)).place
            above = self._find(name, current, place)
            if above is None:
                break
            if above.path in seen:
                names = " → ".join(Path(path).name for path in (*seen, above.path))
                self.findings.append(Finding("FLOE-E512", f"contracts extend each other: {names}", place))
                break
            seen.append(above.path)
            chain.insert(0, Parent(understand(above), above, Path(above.path).name))
            current = above
        return chain

    def _find(self, name: str, draft: Draft, place: Place) -> Draft | None:
        if name in self.by_name:
            return self.by_name[name]
        file = (Path(draft.path).parent / name).resolve()
        if not file.is_relative_to(self.folder.resolve()):
            message = f"{name!r} is no contract of this product, and leads outside its folder"
            self.findings.append(Finding("FLOE-E514", message[:200], place))
            return None
        known = {Path(item.path).resolve(): item for item in self.by_name.values()}
        if file in known:
            return known[file]
        try:
            return read_draft(file)[0]
        except FloeError as exc:
            self.findings += [
                replace(item, code="FLOE-E514", place=place) if item.code == "FLOE-E100" else item
                for item in exc.findings
            ]
            return None
