"""`floe schema`: the JSON Schema of floe's files."""

from __future__ import annotations

import json

import click

from floe_core.json_schema import artifacts_schema, manifest_schema, product_schema, report_schema, run_schema

SCHEMAS = {
    "manifest": manifest_schema,
    "product": product_schema,
    "artifacts": artifacts_schema,
    "run": run_schema,
    "report": report_schema,
}


@click.command(short_help="Print the JSON Schema of a file that floe reads or writes.")
@click.argument("file", type=click.Choice(list(SCHEMAS)))
def command(file: str) -> int:
    """Print the JSON Schema of manifest.yaml (`manifest`), floe.yaml (`product`), compiled_artifacts.json
    (`artifacts`), run_results.json (`run`) or the report of `--format json` (`report`).

    Editors complete and check with it: save it, and name it in a first line
    `# yaml-language-server: $schema=floe-manifest.json`.
    """
    click.echo(json.dumps(SCHEMAS[file](), indent=2, ensure_ascii=False))
    return 0
