"""datacontract-cli, the linter of record. It only reads: no contract is ever given to it to run."""

from __future__ import annotations

import logging
from collections.abc import Iterator

from floe_contracts.export import to_yaml
from floe_core.contract import Json
from floe_core.findings import Finding, Place, Severity


def lint_of_record(document: Json, place: Place) -> Iterator[Finding]:
    """What datacontract-cli has against a document; it knows no lines, so all of it stands at `place`."""
    # Imported here: it takes more than a second.
    from datacontract.data_contract import DataContract
    from datacontract.model.run import ResultEnum

    level = logging.getLogger("datacontract").level
    logging.getLogger("datacontract").setLevel(logging.CRITICAL)
    try:
        run = DataContract(data_contract_str=to_yaml(document), inline_references=False, all_errors=True).lint()
    finally:
        logging.getLogger("datacontract").setLevel(level)
    severities = {ResultEnum.failed: Severity.ERROR, ResultEnum.error: Severity.ERROR}
    for check in run.checks or ():
        if check.result in (ResultEnum.failed, ResultEnum.error, ResultEnum.warning):
            severity = severities.get(check.result, Severity.WARNING)
            message = f"datacontract-cli: {' '.join(str(check.reason or check.name).split())[:300]}"
            yield Finding("FLOE-E501", message, place, severity)
