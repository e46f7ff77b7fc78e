"""A contract for other readers: ODCS, HTML, Markdown, JSON Schema, dbt. The exporters are datacontract-cli's."""

from __future__ import annotations

import io
import json
import re
from typing import Any

from floe_core.contract import Contract
from floe_core.findings import Finding, FloeError

FORMATS = ("odcs", "html", "markdown", "jsonschema", "dbt")
_EXPORTERS = {"html": "html", "markdown": "markdown", "jsonschema": "jsonschema", "dbt": "dbt-models"}
_SCRIPT = re.compile(r"<script src=\"https?://[^\"]*\"></script>\s*")


def export(contract: Contract, output: str) -> str:
    """The contract as text in one of FORMATS."""
    if output == "odcs":
        return to_yaml(contract.document)
    if output == "jsonschema":
        return _json_schemas(contract)
    text = _by_datacontract(contract, _EXPORTERS[output])
    return _SCRIPT.sub("", text) if output == "html" else text  # a document loads nothing from elsewhere


def to_yaml(document: Any) -> str:
    from ruamel.yaml import YAML  # only exports need it, and it is not small

    yaml = YAML()
    yaml.default_flow_style = False
    yaml.width = 110
    out = io.StringIO()
    yaml.dump(document, out)
    return out.getvalue()


def _json_schemas(contract: Contract) -> str:
    """One schema for one table; several under their names, because JSON Schema knows no tables."""
    names = [table.name for table in contract.tables]
    schemas = {name: json.loads(_by_datacontract(contract, "jsonschema", name)) for name in names}
    return json.dumps(schemas[names[0]] if len(names) == 1 else schemas, indent=2, ensure_ascii=False) + "\n"


def _by_datacontract(contract: Contract, output: str, table: str = "all") -> str:
    # Imported here: it takes more than a second, and only this and the linter of record need it.
    from datacontract.data_contract import DataContract
    from datacontract.export.exporter import ExportFormat
    from datacontract.model.exceptions import DataContractException

    document = json.dumps(contract.document)
    source = DataContract(data_contract_str=document, inline_references=False)
    try:
        made = source.export(ExportFormat(output), schema_name=table)
    except (DataContractException, ValueError, KeyError, TypeError, AttributeError, RuntimeError) as exc:
        reason = f"{type(exc).__name__}: {str(exc)[:160]}"
        message = f"datacontract-cli cannot export this contract as {output}: {reason}"
        raise FloeError(Finding("FLOE-E501", message, contract.place())) from exc
    return made if isinstance(made, str) else str(made)
