"""Who reports is read from the compiled artifacts."""

from __future__ import annotations

from typing import Any

import pytest

from floe_core.artifacts import Ancestor, ArtifactIdentity, ArtifactMetadata, CompiledArtifacts, Observability
from floe_telemetry import Facts, Telemetry


def artifacts(mode: Any, *tiers: tuple[Any, str]) -> CompiledArtifacts:
    return CompiledArtifacts(
        metadata=ArtifactMetadata(
            compiled_at="2026-01-03T10:15:00Z",
            floe_version="0.1.0",
            source_hash="0" * 64,
            product_name="customer-360",
            product_version="3.2.1",
        ),
        identity=ArtifactIdentity(product_id="sales.customer_360", namespace="sales.customer_360"),
        mode=mode,
        inheritance=tuple(Ancestor(scope=scope, name=name, path="x", sha256="0" * 64) for scope, name in tiers),
        policy={},
        set_by={},
        observability=Observability(namespace="sales.customer-360", traces=True),
    )


@pytest.mark.parametrize(
    ("mode", "domain", "enterprise"), [("mesh", "sales", "acme"), ("centralized", "", ""), ("simple", "", "")]
)
def test_facts_of_artifacts(mode: str, domain: str, enterprise: str) -> None:
    compiled = artifacts(mode, ("enterprise", "acme"), ("domain", "sales"), ("product", "customer-360"))
    assert Facts.of(compiled) == Facts(
        "customer-360", "3.2.1", mode, "sales.customer-360", "0.1.0", domain, enterprise
    )


def test_the_artifacts_say_what_the_platform_wants(tmp_path: Any) -> None:
    compiled = artifacts("simple", ("product", "customer-360"))
    environ = {"OPENLINEAGE_URL": "http://127.0.0.1:9"}
    assert not Telemetry.of(Facts.of(compiled), compiled.observability, environ, tmp_path).active
