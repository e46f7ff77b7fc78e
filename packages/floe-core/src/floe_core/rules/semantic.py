"""Whether the parts fit together: circles, layers in order, references and ports that lead somewhere."""

from __future__ import annotations

from collections.abc import Iterator, Set
from itertools import islice

from floe_core.defaults import LAYER_ORDER
from floe_core.findings import Finding, Place, Related
from floe_core.naming import RANKS
from floe_core.project import KINDS, Project, RawNode
from floe_core.rules.context import Breach, Context, Model, setters

SHOWN = 20  # models of a circle


def check_circles(context: Context) -> Iterator[Breach]:
    """E310: models that wait for each other."""
    for project in context.projects:
        for circle in project.circles:
            members = {node.unique_id for node in circle}
            first, *others = circle
            names = ", ".join(node.name for node in circle[:SHOWN]) + (", …" if len(circle) > SHOWN else "")
            message = f"{names} read each other in a circle" if others else f"{first.name} reads itself"
            parts = (Related(_way_on(project, node, members), f"{node.name} is part of it") for node in others)
            place = _way_on(project, first, members)
            yield Breach(Finding("FLOE-E310", message, place, related=tuple(islice(parts, SHOWN))))


def _way_on(project: Project, node: RawNode, members: Set[str]) -> Place:
    """Where a model of a circle refers to the next."""
    following = next(parent for parent in project.parents(node) if parent.unique_id in members)
    return project.places.reference(node, following.name)


def check_layer_order(context: Context, model: Model) -> Iterator[Breach]:
    """E311: the model reads from a later layer than its own."""
    project, rank = model.project, RANKS.get(model.layer or "")
    if rank is None:
        return
    for parent in project.parents(model.node):
        above = context.layer_of(parent) if parent.package_name == project.name else None
        if above and RANKS.get(above, rank) > rank:
            message = f"{model.name} ({model.layer} layer) reads from {parent.name} ({above} layer)"
            place = project.places.reference(model.node, parent.name)
            yield Breach(Finding("FLOE-E311", message, place), setters(context.leaf(LAYER_ORDER)))


def check_references(context: Context) -> Iterator[Breach]:
    """E312: what the manifest itself shows to lead nowhere."""
    for project in context.projects:
        yield from _unresolved(project)


def _unresolved(project: Project) -> Iterator[Breach]:
    known, own = project.manifest.nodes.keys() | project.manifest.sources.keys(), project.name
    for node in project.manifest.nodes.values():
        if node.package_name != own:
            continue
        if node.resource_type == "test":
            if not node.config.enabled:
                yield from _unresolved_test(project, node)
        elif node.resource_type in KINDS:
            for name in node.depends_on.nodes:
                if name not in known and name.partition(".")[0] in (*KINDS, "source"):
                    message = f"{node.name} refers to {name}, which is not in the manifest"
                    place = project.places.reference(node, name.rpartition(".")[2])
                    yield Breach(Finding("FLOE-E312", message, place))


def _unresolved_test(project: Project, test: RawNode) -> Iterator[Breach]:
    """dbt keeps a test that it could not resolve, disabled; one that is disabled on purpose it leaves out."""
    nodes = project.manifest.nodes
    resolved = {nodes[name].name for name in test.depends_on.nodes if name in nodes}
    absent = sorted({ref.name for ref in test.refs} - resolved)
    if absent:
        place, owner = project.places.code(test), nodes.get(test.attached_node or "")
        if owner:
            place = project.places.column(owner, test.column_name or "")
        elif test.test_metadata is None:
            place = project.places.reference(test, absent[0])
        message = f"the test {test.name} refers to {', '.join(absent)}, which no model, seed or snapshot is"
        yield Breach(Finding("FLOE-E312", message, place))


def check_output_ports(context: Context) -> Iterator[Breach]:
    """E313: a port of a table that the project does not build."""
    if not context.projects:
        return
    for number, port in enumerate(context.product.document.output_ports):
        table, key = (port.table, "table") if port.table else (port.name, "name")
        if not any(table in project.by_name for project in context.projects):
            place = context.product.place(("output_ports", number, key))
            message = f"the output port {port.name} offers {table}, which no model, seed or snapshot builds"
            yield Breach(Finding("FLOE-E313", message, place, actual=table))


def check_input_ports(context: Context) -> Iterator[Breach]:
    """E314: a port of an ingestion that the product does not have."""
    sources = [item.source for item in context.product.document.ingestion]
    for number, port in enumerate(context.product.document.input_ports):
        if port.source.ingestion and port.source.ingestion not in sources:
            place = context.product.place(("input_ports", number, "source", "ingestion"))
            message = (
                f"the input port {port.name} reads from the ingestion {port.source.ingestion}, which is not there"
            )
            expected = ", ".join(sources) or "an entry under ingestion"
            yield Breach(Finding("FLOE-E314", message, place, expected=expected))
