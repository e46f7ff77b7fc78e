"""Classification compliance: a column stays at least as classified as what its values come from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from floe_core.classes import LEVELS, Classes, Classified, Travel, uncovered
from floe_core.findings import Finding, Place, Related, Severity
from floe_core.order import Cover, show
from floe_core.personal import looks_personal
from floe_core.project import Project, RawSource
from floe_core.rules.context import Breach, Context, Model, setters
from floe_core.rules.rule import gate
from floe_core.schemas.levels import ClassificationLevel, FieldClass
from floe_core.sql.facts import relation_key

MINIMUM = ("governance", "classification", "minimum")

Locate = Callable[[str, str | None], Place]
"""Where a node, by id, or one of its columns is written."""


@dataclass(frozen=True, slots=True)
class Port:
    """An output port: the nodes behind it, what it says about its columns, and where that is written."""

    name: str
    nodes: Sequence[str]  # several for a versioned model, none where there is no model to know
    place: Place
    level: ClassificationLevel | None = None
    level_place: Place | None = None
    columns: dict[str, tuple[Classes, Place]] = field(default_factory=dict)


def check_model(context: Context, model: Model) -> Iterator[Breach]:
    """E340, E341, E344: what a model makes of the classes that reach it, and names that look personal."""
    whole, node = context.columns.travel, model.node.unique_id
    if not whole.has_losses(node) and not any(map(looks_personal, whole.reached.get(node, ()))):  # nearly all
        return
    travel, find = whole.of(node), _locator(model.project)
    yield from map(Breach, check_losses(travel, find, gate(context.merged)))
    yield from map(Breach, check_unfollowed(travel, find))
    yield from map(Breach, check_names(travel, node, find))


def check_product(context: Context) -> Iterator[Breach]:
    """E340, E342, E343: the output ports."""
    leaf = context.leaf(MINIMUM)
    minimum, find = leaf.value if leaf else None, _locator(*context.projects)
    for item in check_ports(context.columns.travel, _ports(context), find, minimum, gate(context.merged)):
        yield Breach(item, setters(leaf) if item.code == "FLOE-E343" else frozenset())


def _ports(context: Context) -> Iterator[Port]:
    product = context.product
    for number, port in enumerate(product.document.output_ports):
        at, table = ("output_ports", number), port.table or port.name
        nodes = [node.unique_id for project in context.projects for node in project.by_name.get(table, ())]
        written = {
            relation_key(column.name): (column.classification or (), product.place((*at, "schema", index)))
            for index, column in enumerate(port.columns or ())
        }
        level = product.place((*at, "classification")) if port.classification else None
        yield Port(port.name, nodes, product.place(at), port.classification, level, written)


def _locator(*projects: Project) -> Locate:
    def find(node: str, column: str | None) -> Place:
        for project in projects:
            found = project.manifest.nodes.get(node) or project.manifest.sources.get(node)
            if found and found.package_name != project.name:
                return project.places.packages()
            if isinstance(found, RawSource):
                return project.places.table(found, column)
            if found:
                return project.places.column(found, column) if column else project.places.code(found)
        raise KeyError(node)

    return find


def check_losses(travel: Travel, locate: Locate, severity: Severity = Severity.ERROR) -> Iterator[Finding]:
    """E340: columns of models that say less than what reaches them."""
    for loss in travel.losses:
        label = f"{travel.nodes[loss.node].name}.{loss.column}"
        steps = [travel.path(loss.node, loss.column, one) for one in loss.missing]
        place = locate(loss.node, loss.column)
        yield _loss(travel, label, loss.written, loss.missing, steps, place, locate, severity)


def check_unfollowed(travel: Travel, locate: Locate) -> Iterator[Finding]:
    """E341: models that cannot be followed and read classified columns, or read such a model of a package."""
    for node, inputs in travel.lost.items():
        name, facts = travel.nodes[node].name, travel.nodes[node].facts
        names = ", ".join(travel.nodes[item].name for item in inputs)
        if facts and facts.not_followed:
            message = f"{name} cannot be followed, and reads classified columns of {names}: {facts.not_followed}"
        else:
            message = f"{name} reads {names} of a package, where classified columns cannot be followed"
        yield Finding("FLOE-E341", message, locate(node, None), Severity.WARNING)


def check_ports(
    travel: Travel,
    ports: Iterable[Port],
    locate: Locate,
    minimum: ClassificationLevel | None,
    severity: Severity = Severity.ERROR,
) -> Iterator[Finding]:
    """E340 for the columns of ports, E342 and E343 for the ports themselves."""
    for port in ports:
        # An undeclared port takes the minimum, and is PUBLIC where there is none.
        level = port.level or minimum or ClassificationLevel.PUBLIC
        if minimum and level < minimum:
            message = f"port {port.name} is {level.value}, and the minimum is {minimum.value}"
            place = port.level_place or port.place
            yield Finding("FLOE-E343", message, place, severity, expected=minimum.value, actual=level.value)
        found = [
            item
            for node in port.nodes or ("",)
            for item in (
                *_port_losses(travel, port, node, locate, severity),
                *_port_level(travel, port, node, level, severity),
            )
        ]
        yield from dict.fromkeys(found)  # versions of a model often say the same


def _port_losses(travel: Travel, port: Port, node: str, locate: Locate, severity: Severity) -> Iterator[Finding]:
    for name, (written, place) in port.columns.items():
        missing = uncovered(written, travel.classes(node, name)) if written else ()
        if missing:
            steps = [travel.path(node, name, one) for one in missing]
            label = f"{name} of port {port.name}"
            yield _loss(travel, label, written, missing, steps, place, locate, severity)


def _port_level(
    travel: Travel, port: Port, node: str, level: ClassificationLevel, severity: Severity
) -> Iterator[Finding]:
    needed = travel.level(node, (one for written, _ in port.columns.values() for one in written))
    if needed and level < needed:
        names = dict.fromkeys((*travel.reached.get(node, {}), *port.columns))
        columns = [name for name in names if _demands(travel, port, node, name, level)]
        said = f"is {level.value}" if port.level else f"has no classification of its own, so {level.value},"
        message = f"port {port.name} {said} and offers {_few(columns)}"
        expected, place = f"at least {needed.value}", port.level_place or port.place
        yield Finding("FLOE-E342", message, place, severity, expected=expected, actual=level.value)


def check_names(travel: Travel, node: str, locate: Locate) -> Iterator[Finding]:
    """E344: columns of a node with the name of personal data and no class, unless told of where they come from."""
    if node not in travel.nodes:
        return
    suspects = [name for name in travel.reached[node] if _suspicious(travel, node, name)]
    origins = _origins(travel, travel.nodes[node]) if suspects else {}
    for name in suspects:
        if not any(_told(travel, *origin) for origin in origins.get(name, ())):
            message = f"{travel.nodes[node].name}.{name} looks like personal data and is not classified"
            yield Finding("FLOE-E344", message, locate(node, name), Severity.WARNING)


def _suspicious(travel: Travel, node: str, name: str) -> bool:
    return looks_personal(name) and not travel.classes(node, name)


def _told(travel: Travel, node: str, name: str) -> bool:
    """Whether the column was reported at the node itself."""
    return travel.nodes[node].judged and name in travel.reached[node] and _suspicious(travel, node, name)


def _origins(travel: Travel, node: Classified) -> dict[str, list[tuple[str, str]]]:
    inputs = {name: item for item in node.reads if item in travel.nodes for name in travel.nodes[item].relations}
    columns = (node.facts.columns if node.facts else None) or ()
    return {
        column.name: [(inputs[one.relation], one.column) for one in column.origins if one.relation in inputs]
        for column in columns
    }


def _loss(
    travel: Travel,
    label: str,
    written: Classes,
    missing: Classes,
    paths: Sequence[list[tuple[str, str]]],
    place: Place,
    locate: Locate,
    severity: Severity,
) -> Finding:
    route = " → ".join(f"{travel.nodes[node].name}.{column}" for node, column in paths[0])
    message = f"{label} is classified {_words(written)}, and holds {_words(missing)} data: {route}"
    related = tuple(
        Related(locate(*path[0]), f"{travel.nodes[path[0][0]].name}.{path[0][1]} is {one.value}")
        for one, path in zip(missing, paths, strict=True)
    )
    expected = Cover().demand(missing)
    fix = f"Classify it {_words((*missing, *_kept(written, missing)))}, or remove its classification to inherit."
    actual = show(written)
    return Finding(
        "FLOE-E340", message, place, severity, fix=fix, expected=expected, actual=actual, related=related
    )


def _kept(written: Classes, missing: Classes) -> Classes:
    """What is written and not made superfluous by what is missing."""
    return tuple(one for one in written if not any(other.covers(one) for other in missing))


def _demands(travel: Travel, port: Port, node: str, name: str, level: ClassificationLevel) -> bool:
    written = port.columns.get(name, ((), None))[0]
    return any(LEVELS[one] > level for one in (*written, *travel.classes(node, name)) if one in LEVELS)


def _few(names: list[str]) -> str:
    shown = ", ".join(names[:5])
    return f"{shown} and {len(names) - 5} more" if len(names) > 5 else shown


def _words(classes: Iterable[FieldClass]) -> str:
    return ", ".join(one.value for one in classes)
