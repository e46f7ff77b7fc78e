"""`floe product`: who owns which product, and what the registry knows about it."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar

import click

from floe_core.claims import judge
from floe_core.commands import CommandHost
from floe_core.findings import Finding, FloeError, Place, Report
from floe_core.identity import Disagreement, HistoryEntry, IdentityStatus, Product, RegistrationResult
from floe_core.workplace import COMMAND_LINE, workplace

F = TypeVar("F", bound=Callable[..., Any])
CATALOG = Place("(catalog)")
PLURALS = {"product": "products", "property": "properties"}

WHERE = click.option(
    "--in",
    "folder",
    type=click.Path(path_type=Path),
    default=Path(),
    metavar="FOLDER",
    help="A product's or a platform's folder, whose catalog is used; the current one by default.",
)
FORMAT = click.option(
    "--format",
    "output",
    type=click.Choice(["text", "json"]),
    default="text",
    show_default=True,
    help="How to print the result.",
)
NAMED = click.argument("product", required=False, metavar="[PRODUCT]")
REASON = click.option("--reason", default="", help="Why; recorded in the history.")
ADMIN = click.option("--admin", is_flag=True, help="Change it without its owner's checkout; needs a reason.")


def everywhere(command: F) -> F:
    """The options that every command of the group has."""
    return click.pass_context(WHERE(FORMAT(command)))  # type: ignore[return-value]  # the context comes first


@click.group(short_help="Register products in the catalog, and show who owns them.")
def command() -> None:
    """Register products in the catalog, and show who owns them."""


@command.command("list")
@click.option("--as-registry", is_flag=True, help="Print a registered_products block for a domain manifest.")
@everywhere
def list_products(ctx: click.Context, folder: Path, output: str, as_registry: bool) -> int:
    """List every product of the catalog, retired ones too."""
    here = workplace(folder)
    products = here.catalog.list_products()
    if as_registry:
        click.echo(registered_products(item for item in products if here.domain in (None, item.domain)))
        return 0
    if output == "json":
        return _emit(ctx, Report("floe product list", summary={"products": [_as_json(item) for item in products]}))
    if not products:
        click.echo("No products are registered.")
        return 0
    head = ("PRODUCT", "VERSION", "OWNER", "REPOSITORY", "SINCE")
    click.echo(_host(ctx).table([head, *(_row(item) for item in products)]))
    return 0


@command.command()
@NAMED
@everywhere
def show(ctx: click.Context, product: str | None, folder: Path, output: str) -> int:
    """Show PRODUCT: its owner, its contracts, and who reads them."""
    here = workplace(folder)
    named = here.product(product)
    with here.catalog.session():
        found = here.catalog.get_product(named)
        if found is None:
            raise FloeError(Finding("FLOE-E630", f"{named} is not registered", COMMAND_LINE))
        contracts = here.catalog.list_registered_contracts(named)
        consumers = here.catalog.list_consumers(named)
    if output == "json":
        about = {
            "product": _as_json(found),
            "contracts": [_plain(asdict(item)) for item in contracts],
            "consumers": [_plain(asdict(item)) for item in consumers],
        }
        return _emit(ctx, Report("floe product show", summary=about))
    rows = [
        (found.id, "retired" if found.retired else found.version or "no version"),
        ("Owner", found.owner),
        ("Repository", found.repository),
        ("Path", found.path or "."),
        ("Namespace", ".".join(found.namespace)),
        ("Registered", _when(found.registered_at)),
        *(("Contract", f"{item.name}:{item.version}{' retired' * item.retired}") for item in contracts),
        *(("Consumer", f"{item.product} reads {item.contract} {item.version}") for item in consumers),
    ]
    click.echo(_host(ctx).table([(label, value) for label, value in rows if value]))
    return 0


@command.command()
@everywhere
def register(ctx: click.Context, folder: Path, output: str) -> int:
    """Register the product in FOLDER, or bring what is known about it up to date."""
    here = workplace(folder)
    claim, rules = here.claim()
    before = judge(claim, rules, None, here.checkout, os.environ, check=False)
    if any(item.blocks for item in before):
        return _emit(ctx, Report("floe product register", tuple(before)), output)
    with here.catalog.session():
        found = here.catalog.validate_product_identity(claim.id, claim.repository, claim.path)
        findings = judge(claim, rules, found, here.checkout, os.environ, check=False)
        if any(item.blocks for item in findings):
            return _emit(ctx, Report("floe product register", tuple(findings)), output)
        change = here.catalog.register_product_namespace
        if found.status is IdentityStatus.VALID:
            change = here.catalog.update_product_metadata
        result = change(claim.id, claim.metadata, by=here.actor(claim.id))
    return _changed(ctx, "register", result, output, "FLOE-E601", findings)


@command.command()
@NAMED
@click.option("--to", "repository", required=True, metavar="REPOSITORY", help="The repository that gets it.")
@click.option("--owner", required=True, help="Who answers for it from now on.")
@click.option("--path", default=None, help="Its folder in that repository; as it is by default.")
@REASON
@ADMIN
@everywhere
def transfer(
    ctx: click.Context,
    product: str | None,
    repository: str,
    owner: str,
    path: str | None,
    reason: str,
    admin: bool,
    folder: Path,
    output: str,
) -> int:
    """Give PRODUCT to another repository, or to another folder of this one."""
    here = workplace(folder)
    named = here.product(product)
    with here.catalog.session():
        result = here.catalog.transfer_product(
            named,
            repository,
            owner,
            path=None if path is None else path.strip("/").removeprefix("."),
            reason=reason,
            by=here.actor(named),
            admin=admin,
        )
    return _changed(ctx, "transfer", result, output, "FLOE-E613")


@command.command()
@NAMED
@REASON
@ADMIN
@everywhere
def retire(ctx: click.Context, product: str | None, reason: str, admin: bool, folder: Path, output: str) -> int:
    """End PRODUCT. No table is dropped, and the name stays taken."""
    here = workplace(folder)
    named = here.product(product)
    with here.catalog.session():
        result = here.catalog.retire_product(named, reason=reason, by=here.actor(named), admin=admin)
    return _changed(ctx, "retire", result, output, "FLOE-E613")


@command.command()
@NAMED
@click.option("--repair", is_flag=True, help="Write the properties again from the registry.")
@everywhere
def verify(ctx: click.Context, product: str | None, repair: bool, folder: Path, output: str) -> int:
    """Compare the floe.* properties of PRODUCT, or of every product, with the registry."""
    here = workplace(folder)
    with here.catalog.session():
        names = [product] if product else [item.id for item in here.catalog.list_products()]
        look = here.catalog.repair_product if repair else here.catalog.verify_product
        wrong = {name: look(name) for name in names}
        left = {name: here.catalog.verify_product(name) for name in names if wrong[name]} if repair else wrong
    findings = tuple(_disagreement(name, item) for name, found in left.items() for item in found)
    summary = {"products": len(names), "repaired": repair, "wrong": sum(map(len, wrong.values()))}
    code = _emit(ctx, Report("floe product verify", findings, summary), output)
    if output == "text":
        right = f"{_count(len(names), 'product')} as registered"
        said = f"{_count(summary['wrong'], 'property')} repaired" if repair and summary["wrong"] else right
        click.echo(
            _host(ctx).verdict(f"{_count(len(findings), 'property')} wrong" if findings else said, not findings)
        )
    return code


@command.command()
@NAMED
@everywhere
def history(ctx: click.Context, product: str | None, folder: Path, output: str) -> int:
    """Show every change of PRODUCT, its contracts and its consumers, oldest first."""
    here = workplace(folder)
    named = here.product(product)
    lines = here.catalog.product_history(named)
    if not lines:
        raise FloeError(Finding("FLOE-E630", f"{named} is not registered", COMMAND_LINE))
    if output == "json":
        about = {"history": [_plain(asdict(line)) for line in lines]}
        return _emit(ctx, Report("floe product history", summary=about))
    head = ("WHEN", "WHAT", "SUBJECT", "BY", "CHANGE")
    click.echo(_host(ctx).table([head, *(_line(line) for line in lines)]))
    return 0


@command.command("init-registry")
@everywhere
def init_registry(ctx: click.Context, folder: Path, output: str) -> int:
    """Make the namespace floe__registry, where a catalog needs it made by hand."""
    here = workplace(folder)
    is_new = here.catalog.init_registry()
    if output == "json":
        return _emit(ctx, Report("floe product init-registry", summary={"created": is_new}))
    said = "is made" if is_new else "was there already"
    click.echo(_host(ctx).verdict(f"floe__registry {said} in {here.catalog.describe()}", True))
    return 0


def registered_products(products: Iterable[Product]) -> str:
    """The approval list of a domain manifest, as YAML."""
    lines = ["registered_products:"]
    for item in sorted(products, key=lambda product: product.id):
        if not item.retired:
            lines.append(f"  - name: {item.name}")
            lines.append(f"    repository: {json.dumps(item.repository)}")
            lines.append(f"    registered_at: {json.dumps(_when(item.registered_at))}")
    return "\n".join(lines) if len(lines) > 1 else "registered_products: []"


def _changed(
    ctx: click.Context,
    verb: str,
    result: RegistrationResult,
    output: str,
    code: str,
    findings: Iterable[Finding] = (),
) -> int:
    """Print how a change ended; a conflict is a finding."""
    found = [*findings] if result.ok else [*findings, Finding(code, result.message, CATALOG)]
    summary = {"status": result.status.value, "message": result.message, "repository": result.repository}
    exit_code = _emit(ctx, Report(f"floe product {verb}", tuple(found), summary), output)
    if output == "text" and result.ok:
        click.echo(_host(ctx).verdict(f"{result.message} ({result.status.value})", True))
    return exit_code


def _disagreement(product: str, item: Disagreement) -> Finding:
    return Finding("FLOE-E609", f"{product}: {item}", CATALOG, expected=item.expected, actual=item.actual)


def _count(number: int, noun: str) -> str:
    return f"{number:,} {noun if number == 1 else PLURALS[noun]}"


def _host(ctx: click.Context) -> CommandHost:
    host: CommandHost = ctx.obj
    return host


def _emit(ctx: click.Context, report: Report, output: str = "json") -> int:
    return _host(ctx).emit(report, output)


def _row(item: Product) -> tuple[str, ...]:
    version = "retired" if item.retired else item.version or "-"
    return item.id, version, item.owner or "-", item.repository, f"{item.registered_at:%Y-%m-%d}"


def _line(line: HistoryEntry) -> tuple[str, ...]:
    before, after = line.before or {}, line.after or {}
    changed = [
        f"{key} {before.get(key, '')!r} → {value!r}" for key, value in after.items() if before.get(key) != value
    ]
    what = ", ".join(changed) if line.before else f"from {line.by.repository}" if line.by.repository else ""
    why = f" ({line.reason})" if line.reason else ""
    return _when(line.at), line.action.value, line.subject, line.by.run or line.by.user or "-", f"{what}{why}"


def _when(at: datetime) -> str:
    return at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def _as_json(item: Product) -> dict[str, Any]:
    return _plain(asdict(item))


def _plain(fields: dict[str, Any]) -> dict[str, Any]:
    return {key: _when(value) if isinstance(value, datetime) else value for key, value in fields.items()}
