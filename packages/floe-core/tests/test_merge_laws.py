"""The laws of merging, over whole manifests drawn from the schema."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import event, given
from hypothesis import strategies as st
from manifests import (
    AT_LEAST_AS_STRICT,
    GROWING,
    accepts,
    as_strict,
    chains,
    laws,
    line_of,
    manifest,
    manifests,
    strategy_for,
    tier,
)

from floe_core import Manifest, PolicyViolationError, merge_manifests
from floe_core.defaults import CONVENTIONS, PATTERN
from floe_core.merge import Merged, merge_tiers
from floe_core.naming import prefixes
from floe_core.schemas.manifest import Pattern
from floe_core.settings import SettingPath, flatten, strategies, strategy_at

PAIRS = st.one_of(chains(2), st.tuples(manifests(), manifests()))
TRIPLES = st.one_of(chains(3), st.tuples(manifests(), manifests(), manifests()))


def spoken(document: Manifest) -> dict[SettingPath, Any]:
    """What a tier says, with the names its pattern allows."""
    said = dict(flatten(document).values)
    groups = list(dict.fromkeys(said.get(CONVENTIONS) or ((),)))
    if (layers := prefixes(said.get(PATTERN, Pattern.CUSTOM))) and len(groups) == 1:
        said[CONVENTIONS] = (tuple(dict.fromkeys((*layers, *groups[0]))),)
    return said


def weakened(parent: dict[SettingPath, Any], child: dict[SettingPath, Any]) -> list[SettingPath]:
    return [
        path
        for path, value in child.items()
        if path in parent and not accepts(strategy_for(path), value, parent[path])
    ]


def combine(path: SettingPath, parent: Any, child: Any) -> Any:
    """What two values come to, where the child is accepted."""
    name = strategy_for(path).name
    if name in GROWING:
        return tuple(dict.fromkeys((*parent, *child)))
    return child


@laws
@given(chains(2))
def test_a_merge_says_what_either_tier_said(pair: tuple[Manifest, Manifest]) -> None:
    above, below = map(spoken, pair)
    inherited = {path: value for path, value in above.items() if strategy_for(path).name != "own"}
    both = {path: combine(path, above[path], below[path]) for path in inherited.keys() & below.keys()}
    assert flatten(merge_manifests(*pair)).values == inherited | below | both


@laws
@given(manifests())
def test_merging_a_manifest_with_itself_changes_nothing(document: Manifest) -> None:
    once = merge_manifests(document, document)
    assert merge_manifests(once, once) == once
    values = flatten(once).values
    said = spoken(document)
    assert values.keys() == said.keys()
    for path, value in said.items():
        growing = strategy_for(path).name in GROWING
        assert set(values[path]) == set(value) if growing else values[path] == value, path


@laws
@given(chains(3))
def test_along_a_chain_it_does_not_matter_where_merging_starts(chain: tuple[Manifest, Manifest, Manifest]) -> None:
    enterprise, domain, below = chain
    from_the_top = merge_manifests(merge_manifests(enterprise, domain), below)
    from_below = merge_manifests(enterprise, merge_manifests(domain, below))
    at_once, findings = merge_tiers(map(tier, chain), defaults=False)
    assert from_the_top == from_below == at_once.manifest()
    assert not [item for item in findings if item.blocks]


@laws
@given(TRIPLES, st.booleans())
def test_nothing_is_weakened_or_dropped_on_the_way_down(
    tiers: tuple[Manifest, Manifest, Manifest], defaults: bool
) -> None:
    before = Merged()
    for length in range(1, 4):
        after, _ = merge_tiers(map(tier, tiers[:length]), defaults=defaults)
        for path, leaf in before.leaves.items():
            if leaf.strategy.ordered:
                assert as_strict(leaf.strategy, after.get(path), leaf.value), path
            elif leaf.strategy.name == "override":
                assert path in after.leaves, path
        for path, leaf in after.leaves.items():
            assert leaf.strategy == strategy_for(path)
            if leaf.strategy.ordered:
                assert all(as_strict(leaf.strategy, leaf.value, said.value) for said in leaf.statements), path
        assert before.blocks <= after.blocks
        before = after


@laws
@given(PAIRS)
def test_a_child_is_accepted_exactly_when_every_ordered_setting_holds(pair: tuple[Manifest, Manifest]) -> None:
    above, below = map(spoken, pair)
    weak = weakened(above, below)
    event("refused" if weak else "accepted")
    merged, findings = merge_tiers(map(tier, pair), defaults=False)
    assert sorted(item.line for item in findings if item.blocks) == sorted(map(line_of, weak))
    for path in weak:
        assert merged.get(path) == above[path]
    if weak:
        with pytest.raises(PolicyViolationError) as caught:
            merge_manifests(*pair)
        assert len(caught.value.findings) == len(weak)
    else:
        assert merge_manifests(*pair) == merged.manifest()


@laws
@given(manifests())
def test_a_child_that_says_nothing_inherits_everything_but_what_is_own(document: Manifest) -> None:
    child = manifest()
    merged = flatten(merge_manifests(document, child)).values
    inherited = {path: value for path, value in spoken(document).items() if strategy_for(path).name != "own"}
    assert merged == inherited | flatten(child).values


@laws
@given(manifests())
def test_a_parent_that_says_nothing_lets_the_child_decide(document: Manifest) -> None:
    assert flatten(merge_manifests(manifest(), document)).values == spoken(document)


@laws
@given(st.tuples(manifests(), manifests(), manifests()))
def test_what_is_overridden_is_what_the_last_tier_said(tiers: tuple[Manifest, Manifest, Manifest]) -> None:
    merged, _ = merge_tiers(map(tier, tiers), defaults=False)
    for path, leaf in merged.leaves.items():
        if leaf.strategy.name == "override":
            assert leaf.value == [flatten(item).values[path] for item in tiers if path in flatten(item).values][-1]
        elif leaf.strategy.name == "own":
            assert leaf.value == flatten(tiers[-1]).values[path]


def test_every_strategy_is_either_ordered_here_or_promises_no_order() -> None:
    kinds = set(strategies().values())
    assert {item.name for item in kinds if item.ordered} == AT_LEAST_AS_STRICT.keys()
    assert {item.name for item in kinds if not item.ordered} == {"override", "own"}


@laws
@given(manifests())
def test_the_strategy_of_a_setting_is_the_one_of_its_pattern(document: Manifest) -> None:
    for path in flatten(document).values:
        assert strategy_at(path) == strategy_for(path)
