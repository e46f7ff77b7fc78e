"""Makes the manifest.json of every rule case again, with the real dbt: `python -m testing.cases`.

Each case is a small dbt project. Its manifest.json is dbt's own, reduced to what floe reads of the project itself.
Cases of rules that read SQL have their compiled code in it, made as a compile makes it.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import msgspec
from msgspec import structs

from floe_core.project import DependsOn, Metadata, RawManifest, RawNode, RawSource, read_manifest
from floe_core.transforms import TransformRequest
from floe_dbt.manifest import compile_nodes, parse, write
from floe_dbt.shadow import Shadow

REPO = Path(__file__).resolve().parents[1]
CASES = REPO / "packages" / "floe-core" / "tests" / "rule_cases"
PROFILE = "floe: {target: floe, outputs: {floe: {type: spark, method: session, schema: floe, host: NA}}}\n"
NAME = "customer_360"
NOT_DBT = {"floe.yaml", "manifest.yaml", "sales.yaml", "manifest.json", "expected"}
COMPILED = ("FLOE-E32", "FLOE-E34")  # rules that read SQL


def projects(cases: Path = CASES) -> list[Path]:
    """Every case that is a dbt project."""
    return sorted(path.parent for path in cases.glob("*/*/dbt_project.yml"))


def manifests(folders: list[Path]) -> Iterator[tuple[Path, bytes]]:
    """The reduced manifest of each project.

    dbt takes most of a second for the smallest project, so all of them are parsed at once, as packages of one
    project, each under a name and in a schema of its own; both are then what they would be alone.
    """
    with tempfile.TemporaryDirectory(prefix="floe-cases-") as scratch:
        home = Path(scratch)
        names = {folder: f"case_{number:03}_" for number, folder in enumerate(folders)}
        schemas = "".join(f"  {name}: {{+schema: {name}}}\n" for name in names.values())
        kinds = "".join(f"{kind}:\n{schemas}" for kind in ("models", "seeds", "snapshots"))
        (home / "dbt_project.yml").write_text(f"name: cases\nversion: 1.0.0\nprofile: floe\n{kinds}")
        (home / "profiles.yml").write_text(PROFILE)
        for folder, name in names.items():
            package = home / "dbt_packages" / name
            shutil.copytree(folder, package, ignore=shutil.ignore_patterns(*NOT_DBT))
            project = package / "dbt_project.yml"
            project.write_text(project.read_text().replace(f"name: {NAME}\n", f"name: {name}\n"))
        whole = _read(home)
    nodes: defaultdict[str, dict[str, RawNode]] = defaultdict(dict)
    for key, node in sorted(whole.nodes.items()):
        reads = DependsOn(sorted(node.depends_on.nodes))  # dbt has them in any order
        nodes[node.package_name][key] = structs.replace(node, depends_on=reads)
    sources: defaultdict[str, dict[str, RawSource]] = defaultdict(dict)
    for key, source in sorted(whole.sources.items()):
        sources[source.package_name][key] = source
    for folder, name in names.items():
        if not folder.parent.name.startswith(COMPILED):
            nodes[name] = {key: structs.replace(node, compiled_code=None) for key, node in nodes[name].items()}
        metadata = Metadata(whole.metadata.dbt_schema_version, "", name)
        alone = RawManifest(metadata, nodes[name], sources[name])
        text = json.dumps(msgspec.to_builtins(alone), indent=1, ensure_ascii=False) + "\n"
        yield folder, text.replace(f"floe_{name}", "floe").replace(name, NAME).encode()


def _read(home: Path) -> RawManifest:
    shadow = Shadow(TransformRequest(home, "models", home, "floe"), home, home, {})
    manifest = parse(shadow)
    compile_nodes(shadow, manifest)
    return read_manifest(write(manifest, home / "manifest.json"))


if __name__ == "__main__":
    for folder, data in manifests(projects()):
        (folder / "manifest.json").write_bytes(data)
