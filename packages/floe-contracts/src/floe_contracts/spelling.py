"""The way back from ODCS to the shorthand: what `shorthand.py` made, exactly as it was written."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from floe_contracts.shorthand import DEPRECATION, ENUM, LINKS, MARK, OWNER, TERMS, UNKNOWN
from floe_core.contract import Json


def to_shorthand(document: Json) -> Json:
    """The shorthand that `to_odcs` turned into this document."""
    block, custom, mark = _open(document)
    by_hand = mark.get("odcs", [])
    written: Json = {}
    for key, value in block.items():
        match key:
            case "apiVersion":
                written[key] = mark.get(key, value)
            case "schema":
                written["models"] = {table["name"]: _model(table) for table in value}
            case "slaProperties" if key not in by_hand:
                written[key] = {item["property"]: _sla(item, mark) for item in value}
            case "team" if key not in by_hand:
                written["owner"] = value["members"][0]["username"]
            case "authoritativeDefinitions" if key not in by_hand:
                written["links"] = {item["type"]: item["url"] for item in value}
            case "description" if key not in by_hand:
                terms = {name: text for name, text in value.items() if name != "purpose"}
                written |= {"description": value["purpose"]} if "purpose" in value else {}
                written |= {"terms": terms} if terms else {}
            case _:
                written[key] = value
    names = {DEPRECATION: "deprecation", OWNER: "owner", LINKS: "links"}
    written |= {names[name]: value for name, value in custom.items() if name in names}
    if TERMS in custom:
        rest = custom[TERMS]
        written["terms"] = {**written.get("terms", {}), **rest} if isinstance(rest, dict) else rest
    return written


def _open(block: Json) -> tuple[Json, Json, Json]:
    """A block without floe's custom properties, those properties, and the mark among them."""
    entries = block.get("customProperties", [])
    own = {item["property"]: item["value"] for item in entries if item["property"].startswith("floe.")}
    unknown = {item["property"]: item["value"] for item in entries if item.get("description") == UNKNOWN}
    kept = [
        item for item in entries if not item["property"].startswith("floe.") and item.get("description") != UNKNOWN
    ]
    rest = {key: value for key, value in block.items() if key != "customProperties"} | unknown
    if kept or ("customProperties" in block and not own and not unknown):
        rest["customProperties"] = kept
    return rest, own, own.get(MARK, {})


def _model(table: Json) -> Json:
    block, _, _ = _open(table)
    return dict(_model_entries(block))


def _model_entries(block: Json) -> Iterator[tuple[str, Any]]:
    for key, value in block.items():
        if key == "properties":
            yield "elements", {item["name"]: _element(item) for item in value}
        elif key != "name":
            yield key, value


def _element(item: Json) -> Json:
    block, _, mark = _open(item)
    written: Json = {}
    for key, value in block.items():
        match key:
            case "name":
                pass
            case "logicalType" if key in mark.get("odcs", []):
                written[key] = value
            case "logicalType":
                written["type"] = mark.get("type", block.get("physicalType", value))
            case "physicalType":
                written |= {} if _is_type(block, mark) else {key: value}
            case "properties":
                written["elements"] = {field["name"]: _element(field) for field in value}
            case "items":
                written[key] = _element(value)
            case "classification":
                written[key] = mark.get(key, value)
            case "logicalTypeOptions":
                written |= _options(value, mark)
            case "quality":
                written |= _rules(value)
            case _:
                written[key] = value
    return {key: value for key, value in written.items() if (key, value) != ("type", "")}


def _is_type(block: Json, mark: Json) -> bool:
    """Whether the physical type is the `type` of the shorthand."""
    return "logicalType" in block and "type" not in mark and "logicalType" not in mark.get("odcs", [])


def _options(options: Json, mark: Json) -> Json:
    if "options" not in mark:
        return options
    top = {name: options[name] for name in mark["options"]}
    return {**top, "logicalTypeOptions": {name: value for name, value in options.items() if name not in top}}


def _rules(quality: list[Json]) -> Json:
    values = [rule for rule in quality if rule.get("name") == ENUM]
    others = [rule for rule in quality if rule.get("name") != ENUM]
    enum = {"enum": values[0]["arguments"]["validValues"]} if values else {}
    return enum | ({"quality": others} if others or not values else {})


def _sla(item: Json, mark: Json) -> Any:
    if item["property"] in mark.get("scalars", []):
        return item["value"]
    kept = {key: value for key, value in item.items() if key != "property"}
    return kept | mark.get("sla", {}).get(item["property"], {})
