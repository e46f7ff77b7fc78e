"""Rules of other packages (entry-point group `floe.rules`), run where a manifest's custom_rules name them."""

from __future__ import annotations

import re
from abc import abstractmethod
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

from floe_core.codes import Code, Exit
from floe_core.findings import Finding, FloeError, Place, Severity
from floe_core.load import Loaded
from floe_core.plugins import PluginInterface, load_plugin
from floe_core.rules.context import Breach, Context
from floe_core.schemas.manifest import Manifest, PluginRule

GROUP = "floe.rules"
_CODE = re.compile(r"(?!FLOE-)[A-Z][A-Z0-9]*-[A-Z]?[0-9]{1,6}\Z")


class RulePlugin(PluginInterface):
    """A rule of your own. Its codes carry your own prefix, ACME-001 for example: FLOE- is floe's."""

    API_VERSION: ClassVar[int] = 1

    codes: ClassVar[tuple[Code, ...]] = ()

    @abstractmethod
    def check(self, context: Context, config: Mapping[str, Any]) -> Iterable[Finding]:
        """What is wrong, as findings made with `self.finding`; `config` is the rule's block in the manifest."""

    def finding(
        self, code: str, message: str, place: Place, severity: Severity = Severity.ERROR, fix: str = ""
    ) -> Finding:
        """A finding with one of the plugin's own codes."""
        row = next(row for row in self.codes if row.id == code)
        return Finding(code, message, place, severity, fix=fix, about=row)


def check_plugins(context: Context) -> Iterator[Breach]:
    """What the rules of other packages find; one that cannot be loaded or fails is said, never passed over."""
    for loaded in context.chain.manifests:
        governance = loaded.document.governance
        for number, rule in enumerate((governance and governance.custom_rules) or ()):
            if isinstance(rule, PluginRule):
                place = loaded.place(("governance", "custom_rules", number, "name"))
                for finding in _run(context, rule, place):
                    yield Breach(finding, frozenset({tier_name(loaded)}))


def tier_name(loaded: Loaded[Manifest]) -> str:
    return f"{loaded.document.scope.value} {loaded.document.metadata.name}"


def _run(context: Context, rule: PluginRule, place: Place) -> list[Finding]:
    try:
        plugin = load_plugin(GROUP, rule.name, RulePlugin, place)  # type: ignore[type-abstract]  # an interface
    except FloeError as exc:
        return list(exc.findings)
    if wrong := [row.id for row in plugin.codes if not _CODE.match(row.id) or row.exit is not Exit.FINDINGS]:
        message = f"the rule {rule.name} has codes that no plugin may have: {', '.join(wrong)}"
        return [Finding("FLOE-E803", message, place, expected="codes like ACME-001, with exit code 1")]
    try:
        found: list[object] = list(plugin().check(context, rule.config))
    except Exception as exc:  # noqa: BLE001 - a plugin may fail in any way: named, not hidden
        message = f"the rule {rule.name} failed: {type(exc).__name__}: {exc}"
        return [Finding("FLOE-E809", message, place)]
    own = [item for item in found if isinstance(item, Finding) and item.about in plugin.codes]
    if len(own) < len(found):
        strange = next(item for item in found if item not in own)
        message = f"the rule {rule.name} returned what is no finding of its own: {strange!r:.80}"
        return [Finding("FLOE-E803", message, place, expected=", ".join(row.id for row in plugin.codes))]
    return own
