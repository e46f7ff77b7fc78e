"""floe's shorthand for contracts (`models`, `elements`, `owner`, …) and ODCS v3.1.0, translated without loss.

The way there works on nodes, so that every value of the ODCS document still knows its line in the file. What ODCS
cannot say stands in the custom property `floe.shorthand` of the same block: `spelling.py` has the way back.
"""

from __future__ import annotations

from typing import Any

from floe_contracts.schemas import WRITTEN
from floe_core.findings import Finding, Place, Severity
from floe_core.source import Node
from floe_core.table import Kind, read_type

MARK = "floe.shorthand"
DEPRECATION = "floe.deprecation"
OWNER, TERMS, LINKS = "floe.owner", "floe.terms", "floe.links"
UNKNOWN = "unknown key of the shorthand"
ENUM = "floe.enum"

SIGNS = frozenset({"models", "owner", "terms", "deprecation", "links"})
LOGICAL = ("string", "date", "timestamp", "time", "number", "integer", "object", "array", "boolean")
# fmt: off
KEPT = frozenset({
    "kind", "name", "version", "id", "status", "domain", "tags", "tenant", "servers", "dataProduct",
    "support", "price", "roles", "team", "contractCreatedTs", "authoritativeDefinitions", "customProperties",
})
MODEL_KEPT = frozenset({
    "id", "description", "businessName", "physicalName", "physicalType", "tags", "quality",
    "dataGranularityDescription", "relationships", "authoritativeDefinitions", "customProperties",
})
ELEMENT_KEPT = frozenset({
    "id", "description", "businessName", "authoritativeDefinitions", "tags", "customProperties",
    "physicalType", "physicalName", "required", "unique", "primaryKey", "primaryKeyPosition", "partitioned",
    "partitionKeyPosition", "encryptedName", "transformSourceObjects", "transformLogic",
    "transformDescription", "examples", "criticalDataElement", "relationships", "quality", "logicalType",
    "logicalTypeOptions",
})
SLA_KEPT = frozenset({
    "id", "value", "valueExt", "unit", "element", "driver", "description", "scheduler", "schedule",
})
OPTIONS = frozenset({
    "format", "minLength", "maxLength", "pattern", "minimum", "maximum", "exclusiveMinimum",
    "exclusiveMaximum", "multipleOf", "minItems", "maxItems", "uniqueItems", "minProperties", "maxProperties",
    "timezone", "defaultTimezone",
})
# fmt: on
_LOGICAL_OF = {
    Kind.STRING: "string",
    Kind.INT: "integer",
    Kind.LONG: "integer",
    Kind.FLOAT: "number",
    Kind.DOUBLE: "number",
    Kind.DECIMAL: "number",
    Kind.BOOLEAN: "boolean",
    Kind.DATE: "date",
    Kind.TIME: "time",
    Kind.TIMESTAMP_NTZ: "timestamp",
    Kind.TIMESTAMP_TZ: "timestamp",
    Kind.BYTES: "string",
    Kind.UUID: "string",
    Kind.OBJECT: "object",
    Kind.ARRAY: "array",
}


def is_shorthand(root: Node) -> bool:
    """Whether a file is floe's shorthand. A `schema` makes it ODCS, whatever else it holds."""
    return "schema" not in root.value and bool(SIGNS & root.value.keys())


def logical_type(written: str) -> str | None:
    """The ODCS logicalType of a type as people write it; None when floe does not know it."""
    return written if written in LOGICAL else _LOGICAL_OF.get(read_type(written).kind)


class _Block:
    """A mapping under construction; every entry remembers where it was written."""

    def __init__(self, at: Node) -> None:
        self.at = at
        self.node = Node({}, at.line, at.column)
        self.mark: dict[str, Any] = {}
        self.extra: list[Node] = []

    def put(self, key: str, value: Node, at: tuple[int, int] | None = None) -> None:
        self.node.value[key] = value
        self.node.keys[key] = at or (value.line, value.column)

    def put_all(self, key: str, nodes: list[Node], at: Node) -> None:
        self.put(key, Node(nodes, at.line, at.column))

    def custom(self, name: str, value: Node, description: str = "") -> None:
        entry = _Block(value)
        entry.put("property", _leaf(name, value))
        entry.put("value", value)
        if description:
            entry.put("description", _leaf(description, value))
        self.extra.append(entry.node)

    def close(self) -> Node:
        """The block with its custom properties, those that were written first."""
        if self.mark:
            self.custom(MARK, _tree(self.mark, self.at))
        if self.extra:
            written = self.node.value.get("customProperties")
            if written is None or isinstance(written.value, list):
                before = written.value if written else []
                self.put_all("customProperties", [*before, *self.extra], self.extra[0])
        return self.node


def _leaf(value: Any, at: Node) -> Node:
    return Node(value, at.line, at.column, str(value))


def _tree(value: Any, at: Node) -> Node:
    if isinstance(value, dict):
        return Node({key: _tree(item, at) for key, item in value.items()}, at.line, at.column)
    if isinstance(value, list):
        return Node([_tree(item, at) for item in value], at.line, at.column)
    return value if isinstance(value, Node) else _leaf(value, at)


def to_odcs(root: Node, path: str) -> tuple[Node, list[Finding]]:
    """The same contract as ODCS v3.1.0."""
    reader = _Reader(path)
    return reader.contract(root), reader.findings


class _Reader:
    def __init__(self, path: str) -> None:
        self.path = path
        self.findings: list[Finding] = []

    def contract(self, root: Node) -> Node:
        block = _Block(root)
        for key, value in root.value.items():
            match key:
                case "apiVersion":
                    block.put(key, _leaf(WRITTEN, value), root.keys.get(key))
                    block.mark[key] = value
                case "models" if value.is_mapping:
                    tables = [self.model(name, model, value) for name, model in value.value.items()]
                    block.put_all("schema", tables, value)
                case "models":
                    block.put("schema", value, root.keys.get(key))
                case "slaProperties":
                    self.slas(block, value)
                case "description" | "terms" | "owner" | "links":
                    pass
                case "deprecation":
                    block.custom(DEPRECATION, value)
                case key if key in KEPT:
                    block.put(key, value, root.keys.get(key))
                case key:
                    self.unknown(block, key, value, root)
        self.owner(block, root)
        self.links(block, root)
        self.words(block, root)
        return block.close()

    def unknown(self, block: _Block, key: str, value: Node, parent: Node) -> None:
        line, column = parent.keys.get(key, (value.line, value.column))
        message = f"{key} is no key of the shorthand; it is kept as a custom property"
        self.findings.append(Finding("FLOE-E508", message, Place(self.path, line, column), Severity.WARNING))
        block.custom(key, value, UNKNOWN)

    def owner(self, block: _Block, root: Node) -> None:
        owner = root.value.get("owner")
        if "team" in block.node.value:
            block.mark.setdefault("odcs", []).append("team")
            if owner:
                block.custom(OWNER, owner)
        elif owner:
            member = _tree({"username": owner, "role": "owner"}, owner)
            block.put("team", _tree({"members": [member]}, owner), root.keys.get("owner"))

    def links(self, block: _Block, root: Node) -> None:
        links = root.value.get("links")
        if "authoritativeDefinitions" in block.node.value:
            block.mark.setdefault("odcs", []).append("authoritativeDefinitions")
        if links and links.is_mapping and "authoritativeDefinitions" not in block.node.value:
            nodes = [_tree({"type": _leaf(name, url), "url": url}, url) for name, url in links.value.items()]
            block.put_all("authoritativeDefinitions", nodes, links)
        elif links:
            block.custom(LINKS, links)

    def words(self, block: _Block, root: Node) -> None:
        """`description` and `terms` share ODCS's description."""
        description, terms = root.value.get("description"), root.value.get("terms")
        if description and not isinstance(description.value, str):
            block.put("description", description, root.keys.get("description"))
            block.mark.setdefault("odcs", []).append("description")
            if terms:
                block.custom(TERMS, terms)
            return
        words = _Block(description or terms or root)
        if description:
            words.put("purpose", description)
        rest = dict(terms.value) if terms and terms.is_mapping else {}
        for key in ("usage", "limitations"):
            if key in rest and isinstance(rest[key].value, str):
                words.put(key, rest.pop(key))
        if words.node.value:
            block.put("description", words.node, root.keys.get("description"))
        if terms and (rest or not terms.is_mapping or not terms.value):
            block.custom(TERMS, Node(rest, terms.line, terms.column) if terms.is_mapping else terms)

    def slas(self, block: _Block, value: Node) -> None:
        if not value.is_mapping:
            block.put("slaProperties", value)
            block.mark.setdefault("odcs", []).append("slaProperties")
            return
        nodes = []
        for name, given in value.value.items():
            line, column = value.keys.get(name, (given.line, given.column))
            entry = _Block(Node(None, line, column))
            entry.put("property", Node(name, line, column, name))
            if given.is_mapping:
                for key, item in given.value.items():
                    if key in SLA_KEPT:
                        entry.put(key, item, given.keys.get(key))
                    else:
                        self.unknown(_Block(item), key, item, given)
                        block.mark.setdefault("sla", {}).setdefault(name, {})[key] = item
            else:
                entry.put("value", given)
                block.mark.setdefault("scalars", []).append(name)
            nodes.append(entry.node)
        block.put_all("slaProperties", nodes, value)

    def model(self, name: str, model: Node, models: Node) -> Node:
        line, column = models.keys.get(name, (model.line, model.column))
        block = _Block(Node(None, line, column))
        block.put("name", Node(name, line, column, name))
        for key, value in model.value.items() if model.is_mapping else ():
            if key == "elements" and value.is_mapping:
                block.put_all("properties", self.elements(value), value)
            elif key in MODEL_KEPT:
                block.put(key, value, model.keys.get(key))
            elif key == "elements":
                block.put("properties", value, model.keys.get(key))
            else:
                self.unknown(block, key, value, model)
        return block.close() if model.is_mapping or model.value is None else model

    def elements(self, elements: Node) -> list[Node]:
        found = []
        for name, element in elements.value.items():
            line, column = elements.keys.get(name, (element.line, element.column))
            block = _Block(Node(None, line, column))
            block.put("name", Node(name, line, column, name))
            found.append(self.element(block, element))
        return found

    def element(self, block: _Block, element: Node) -> Node:
        if not element.is_mapping:
            return block.close() if element.value is None else element
        options = _Block(element)
        for key, value in element.value.items():
            match key:
                case "type" if "logicalType" not in element.value:
                    self.type(block, value, element)
                case "elements" if value.is_mapping:
                    block.put_all("properties", self.elements(value), value)
                case "items" if value.is_mapping:
                    block.put("items", self.element(_Block(value), value), element.keys.get(key))
                case "classification" if isinstance(value.value, list):
                    block.put(key, _leaf(", ".join(str(item.value) for item in value.value), value))
                    block.mark[key] = value
                case "classification":
                    block.put(key, value, element.keys.get(key))
                case "enum" if isinstance(value.value, list):
                    pass
                case key if key in OPTIONS:
                    options.put(key, value, element.keys.get(key))
                case key if key in ELEMENT_KEPT:
                    block.put(key, value, element.keys.get(key))
                    if key == "logicalType":
                        block.mark.setdefault("odcs", []).append(key)
                case key:
                    self.unknown(block, key, value, element)
        self.options(block, options)
        self.values(block, element)
        self.shape(block, element)
        return block.close()

    def type(self, block: _Block, value: Node, element: Node) -> None:
        written = value.value if isinstance(value.value, str) else ""
        logical = logical_type(written)
        block.put("logicalType", _leaf(logical, value) if logical else value, element.keys.get("type"))
        if "physicalType" in element.value:
            block.mark["type"] = value
        elif logical and logical != written:
            block.put("physicalType", value)

    def options(self, block: _Block, options: _Block) -> None:
        written = block.node.value.get("logicalTypeOptions")
        if written is None and options.node.value:
            block.put("logicalTypeOptions", options.node)
        elif written and written.is_mapping:
            block.mark["options"] = list(options.node.value)
            both = {**written.value, **options.node.value}
            keys = {**written.keys, **options.node.keys}
            block.put("logicalTypeOptions", Node(both, written.line, written.column, keys=keys))

    def values(self, block: _Block, element: Node) -> None:
        """A list of legal values is a rule that counts the others."""
        enum, quality = element.value.get("enum"), block.node.value.get("quality")
        if enum is None or not isinstance(enum.value, list) or (quality and not isinstance(quality.value, list)):
            return
        rule = {"name": ENUM, "metric": "invalidValues", "arguments": {"validValues": enum}, "mustBe": 0}
        block.put_all("quality", [*(quality.value if quality else ()), _tree(rule, enum)], enum)

    def shape(self, block: _Block, element: Node) -> None:
        """Fields or items without a type still make an object or an array."""
        if "type" in element.value or "logicalType" in element.value:
            return
        for key, logical in (("properties", "object"), ("items", "array")):
            if key in block.node.value:
                block.put("logicalType", _leaf(logical, element))
                block.mark["type"] = ""
