"""The steps of a run, in their order. Each leaves what it learned on the ledger."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from functools import partial

from floe_core.artifacts import CompiledArtifacts, read_artifacts
from floe_core.compile import with_rules
from floe_core.compiled import changed_since, refuse_changed
from floe_core.contract import Contract
from floe_core.contracts import PluginContracts
from floe_core.dbt import read_dbt
from floe_core.env import Env
from floe_core.findings import Finding, FloeError
from floe_core.project import Project
from floe_core.schemas.levels import ContractEnforcement
from floe_core.table import Column
from floe_core.transforms import TransformRequest
from floe_dbt.events import Event, NodeFinished, Status
from floe_dbt.manifest import Manifest, parse
from floe_dbt.packages import install_packages
from floe_dbt.placement import check_placement
from floe_dbt.run import execute
from floe_dbt.shadow import Shadow, make_shadow
from floe_iceberg.metadata import Metadata
from floe_iceberg.publication import Change
from floe_spark.checks import check_contracts
from floe_spark.context import Run
from floe_spark.gates import columns_of, contracts_level, judge_contracts, judge_schemas, subjects, tests_block
from floe_spark.ledger import Written
from floe_spark.marking import WITHOUT_TABLE, mark_tables, not_enforceable
from floe_spark.ownership import refuse_strangers
from floe_spark.reads import reads_of
from floe_spark.reporting import BUILT, Observers
from floe_spark.session import Engine

Parsed = tuple[Shadow, Manifest]


def compiled(run: Run) -> CompiledArtifacts:
    """The artifacts that are run: those asked for, or up to date ones, made now when there are none."""
    product, folder = run.product, run.product.spec.folder
    if asked := run.options.artifacts:
        artifacts = read_artifacts(asked)
        refuse_changed(artifacts, folder, asked)
        return artifacts
    reason = "it has not been compiled yet"
    if product.artifacts.exists():
        try:
            artifacts = read_artifacts(product.artifacts)
            reason = changed_since(artifacts, folder)
            if not reason:
                return artifacts
        except FloeError as exc:
            reason = exc.findings[0].message
    run.watcher.say(f"Compiling {product.id} first: {reason}")
    outcome = run.watcher.compile()
    if any(item.blocks for item in outcome.findings) or outcome.written.artifacts is None:
        raise FloeError(*outcome.findings)
    return outcome.written.artifacts


def understand(run: Run) -> tuple[tuple[Project, ...], tuple[Contract, ...]]:
    """The dbt projects and contracts as the rules see them; dbt is not needed for it after a compile."""
    spec = run.product.spec
    dbt, findings = read_dbt(spec, with_rules(Env()), run.watcher.say)
    contracts, more = PluginContracts(lambda: datetime.now(UTC)).read(spec, dbt.read())
    if blocking := [item for item in (*findings, *more) if item.blocks]:
        raise FloeError(*blocking)
    return tuple(item for item in dbt.read() if isinstance(item, Project)), tuple(contracts)


def parse_project(request: TransformRequest, say: Callable[[str], None]) -> Parsed:
    """dbt's own view of a project, for dbt to run."""
    shadow = make_shadow(request)
    install_packages(shadow, say)
    manifest = parse(shadow)
    check_placement(shadow, manifest)
    return shadow, manifest


def fill(run: Run, manifests: Sequence[Manifest]) -> dict[str, str]:
    """Begin the staging catalog with the product's tables and what it reads; a retry goes on where it stopped.

    Returns where new tables go, by their full names, where the catalog's service decides that.
    """
    product = run.product
    if not run.again:
        with product.catalog.open() as catalog:
            top = [tuple(parts) for parts in catalog.list_namespaces()]
        reads = reads_of(product.spec, product.catalog, manifests, top)
        run.staging.fill(reads.tables, reads.products)
    return {} if product.catalog.warehouse else dict(_places(run, manifests))


def _places(run: Run, manifests: Sequence[Manifest]) -> Iterator[tuple[str, str]]:
    with run.product.catalog.session():
        for node in (node for manifest in manifests for node in manifest.nodes.values()):
            parts = (*str(node.schema).split("."), str(node.alias))
            is_table = node.resource_type in BUILT and node.config.materialized not in WITHOUT_TABLE
            stands = run.staging.metadata_of(parts) if is_table else None
            if not is_table or (stands is not None and "view-uuid" not in stands):
                continue
            if location := run.product.catalog.table_location(parts[:-1], parts[-1]):
                yield ".".join(parts), location


def build(run: Run, parsed: Sequence[Parsed], locations: Mapping[str, str], observers: Observers) -> None:
    """Each dbt project in turn; what follows a project that failed is not begun."""
    ledger, options = run.ledger, run.options
    select = options.select
    if run.again:
        select = run.again.select(manifest for _, manifest in parsed)
        if not select:
            return
    for shadow, manifest in parsed:
        outcome = execute(
            shadow,
            "build",
            select=select,
            exclude=options.exclude,
            full_refresh=options.full_refresh,
            vars=options.vars,
            manifest=manifest,
            warehouse=run.product.catalog.warehouse,
            locations=locations,
            warn_only=not tests_block(run.product.spec.merged),
            on_event=partial(hear, run, manifest, observers),
        )
        ledger.nodes += outcome.nodes
        ledger.findings += outcome.findings
        if not outcome.success:
            bad = [node.name for node in outcome.nodes if node.status.bad]
            ledger.reasons.append(
                f"failed: {', '.join(bad[:5])}{' …' if len(bad) > 5 else ''}" if bad else "dbt failed"
            )
            return


def hear(run: Run, manifest: Manifest, observers: Observers, event: Event) -> None:
    """One event of dbt: what was written is read from the staged table's own metadata."""
    if not isinstance(event, NodeFinished):
        observers.node(event)
        return
    written, columns = Written(), tuple[Column, ...]()
    if event.kind in BUILT and not event.status.bad and event.status is not Status.SKIPPED:
        node = manifest.nodes.get(event.unique_id)
        metadata = run.staging.metadata_of((*node.schema.split("."), node.alias)) if node else None
        if metadata:
            written, columns = written_of(metadata), columns_of(metadata)
            run.ledger.written[event.unique_id] = written
    observers.node(event, written, columns)
    run.watcher.finished(event, written.rows)


def written_of(metadata: Metadata) -> Written:
    """Rows and bytes, as Iceberg counted them when the newest snapshot was made; of a view nobody has."""
    current = metadata.get("current-snapshot-id")
    found = next((item for item in metadata.get("snapshots", ()) if item["snapshot-id"] == current), None)
    if found is None:
        return Written()
    summary = found.get("summary", {})
    rows, size = summary.get("total-records"), summary.get("added-files-size", "0")
    return Written(int(rows) if rows is not None else None, int(size))


def check(run: Run, engine: Engine, observers: Observers, contracts: Sequence[Contract]) -> list[Change]:
    """Mark what is classified, then judge what was staged; reasons on the ledger keep it from being published."""
    product, ledger = run.product, run.ledger
    spec, artifacts = product.spec, ledger.artifacts
    assert artifacts  # noqa: S101 - the run has compiled
    findings: list[Finding] = list(not_enforceable(spec.chain.product))
    with run.staging.open() as catalog:
        mark_tables(catalog, product.namespace, artifacts.models, artifacts.classifications or {})
        if contracts and contracts_level(spec.merged) > ContractEnforcement.OFF:
            run.watcher.say(f"Checking {len(contracts)} data contract{'s' if len(contracts) > 1 else ''}")
            began = datetime.now(UTC)
            places = list(subjects(contracts, artifacts.models, product.namespace))
            memory = product.home / "measures"
            ledger.verdicts += check_contracts(engine.session(), catalog, places, memory, began)
            scores, found = judge_contracts(spec, ledger.verdicts)
            ledger.scores += scores
            findings += found
            observers.checks(ledger, ledger.verdicts, began)
    changes = run.staging.changes()
    findings += judge_schemas(spec, artifacts, changes, run.staging.files)
    ledger.findings += findings
    withholding = [item for item in findings if item.severity.blocks and _withholds(run, item)]
    ledger.reasons += dict.fromkeys(item.message for item in withholding)
    return changes


def _withholds(run: Run, item: Finding) -> bool:
    """What could not be measured keeps data back only where a broken contract would."""
    level = contracts_level(run.product.spec.merged)
    return item.code != "FLOE-E741" or level is ContractEnforcement.BLOCK


def publish(run: Run, changes: Sequence[Change]) -> None:
    """Everything that changed becomes what consumers see, if the namespace still is the product's."""
    ledger, product = run.ledger, run.product
    if not changes:
        ledger.outcome = "nothing to publish"
        run.staging.clean()
        return
    refuse_strangers(product.spec, product.catalog)
    final = in_build_order(run.staging.publishable(), ledger.nodes)
    run.watcher.say(f"Publishing {counted(final)}")
    try:
        product.catalog.publish(final, run.journal)
    except FloeError:
        ledger.outcome = "failed" if run.journal.exists() else "withheld"
        raise
    ledger.published += final
    ledger.outcome = "published"
    run.staging.clean()


def counted(changes: Sequence[Change]) -> str:
    """How many tables and views."""
    numbers = Counter(change.after.kind.value for change in changes)
    return " and ".join(f"{number} {kind}{'s' if number > 1 else ''}" for kind, number in sorted(numbers.items()))


def in_build_order(changes: Iterable[Change], nodes: Sequence[NodeFinished]) -> list[Change]:
    """What others read comes before them, for catalogs that move one table at a time."""
    place = {node.name: number for number, node in enumerate(nodes)}
    return sorted(changes, key=lambda change: place.get(change.after.name, -1))
