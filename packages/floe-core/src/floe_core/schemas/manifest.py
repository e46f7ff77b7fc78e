"""manifest.yaml: what a platform team demands. Each key declares how tiers combine it."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, model_validator

from floe_core.schemas.aliases import fold_aliases
from floe_core.schemas.levels import (
    ClassificationLevel,
    ContractEnforcement,
    IdentityEnforcement,
    InitialDevelopment,
    NamingEnforcement,
    RegistrationMode,
    SchemaEvolution,
    SqlLinting,
    Widening,
)
from floe_core.schemas.parts import AllOf, NamePattern, Plugin, Reference
from floe_core.schemas.strategies import (
    AtLeast,
    AtMost,
    Climb,
    Equal,
    Extend,
    Override,
    Own,
    OwnAlways,
    Require,
    Subset,
    Switch,
)
from floe_core.schemas.values import (
    Block,
    Count,
    Cron,
    Date,
    Duration,
    FindingCode,
    Flag,
    FloeVersion,
    Fraction,
    Name,
    Percent,
    ProductId,
    RelativePath,
    Text,
    Version,
    Word,
    choice,
    key,
)

Level = Annotated[ClassificationLevel, *choice(ClassificationLevel)]
Naming = Annotated[NamingEnforcement, *choice(NamingEnforcement)]


class Scope(Enum):
    """Which tier a manifest is."""

    ENTERPRISE = "enterprise"
    DOMAIN = "domain"


class Pattern(Enum):
    """The data architectures whose layers floe knows."""

    MEDALLION = "medallion"
    KIMBALL = "kimball"
    DATA_VAULT = "data_vault"
    CUSTOM = "custom"


class MonitoringMode(Enum):
    """When the contract monitor checks."""

    SCHEDULED = "scheduled"
    CONTINUOUS = "continuous"
    ON_DEMAND = "on_demand"


class OverrideAction(Enum):
    """What an exception does to the findings it reaches."""

    DOWNGRADE = "downgrade"
    EXCLUDE = "exclude"


class Standard(Enum):
    """The contract standards floe reads."""

    ODCS_V3 = "odcs_v3"


class ManifestMetadata(Block):
    """Who this manifest is."""

    name: OwnAlways[Name] = Field(description="Name of the platform or domain.")
    version: Own[Version] = key("Version of the manifest, X.Y or X.Y.Z; needed to publish.")
    owner: Own[Word] = key("Who answers for it.")
    description: Own[Text] = key("What it is for.")
    labels: Own[dict[str, Text]] = key("Free labels.")


class PluginConfig(Block):
    """Which plugin does each job. A child replaces a whole plugin, type and config."""

    compute: Override[Plugin] = key("Where pipelines run.")
    catalog: Override[Plugin] = key("The Iceberg catalog.")
    orchestrator: Override[Plugin] = key("What starts pipelines.")
    semantic_layer: Override[Plugin] = key("What serves metrics.")
    ingestion: Override[Plugin] = key("What loads sources.")


class ApprovedPlugins(Block):
    """Which plugins a tier may choose, per kind. A kind left out is unrestricted; [] approves none."""

    compute: Subset[Word] = key("Compute plugins that may be used.")
    catalog: Subset[Word] = key("Catalog plugins that may be used.")
    orchestrator: Subset[Word] = key("Orchestrator plugins that may be used.")
    semantic_layer: Subset[Word] = key("Semantic layer plugins that may be used.")
    ingestion: Subset[Word] = key("Ingestion plugins that may be used.")


class Layer(Block):
    """What one layer of the architecture demands of its models."""

    required_tests: Require[Word] = key("Tests every model of the layer must have.")
    minimum_coverage: AtLeast[Percent] = key("Test coverage every model of the layer must reach.")


class NamingConfig(Block):
    """How strictly model names follow the pattern."""

    enforcement: Climb[Naming] = key("off, warn or strict.")


class DataArchitectureConfig(Block):
    """The layers of the platform and how models are named."""

    pattern: Equal[Annotated[Pattern, *choice(Pattern)]] = key("medallion, kimball, data_vault or custom.")
    layers: dict[Name, Layer] | None = key("Demands per layer.")
    layer_order: Climb[Naming] = key("Whether a layer may read from a later one; as naming by default.")
    naming: NamingConfig | None = key("Naming of models.")


class QualityGates(Block):
    """What every model must show before it may run."""

    threshold: AtLeast[Percent] = key("Lowest quality score of an output port, 0 to 100.")
    minimum_test_coverage: AtLeast[Percent] = key("Lowest test coverage of every model.")
    require_descriptions: Switch = key("Models must be described.")
    require_column_descriptions: Switch = key("Columns must be described.")
    block_on_failure: Switch = key("A failed gate or dbt test stops the pipeline.")


class ClassCoverage(Block):
    """Lowest test coverage of the columns of each class named."""

    public: AtLeast[Percent] = key("Columns that anyone may see.")
    internal: AtLeast[Percent] = key("Columns for the company.")
    identifier: AtLeast[Percent] = key("Columns that identify a record.")
    confidential: AtLeast[Percent] = key("Columns for a few.")
    pii: AtLeast[Percent] = key("Columns about a person.")
    phi: AtLeast[Percent] = key("Columns about a person's health.")
    sensitive: AtLeast[Percent] = key("Columns that harm when they leak.")
    restricted: AtLeast[Percent] = key("Columns for named people only.")


class ClassificationPolicy(Block):
    """How data must be classified."""

    minimum: Climb[Level] = key("Level of an output port that declares none.")
    coverage: ClassCoverage | None = key("Test coverage of the columns of a class.")


class SqlLintingPolicy(Block):
    """Linting of the models' SQL."""

    enforcement: Climb[Annotated[SqlLinting, *choice(SqlLinting)]] = key("DISABLED, WARN or ERROR.")


class RequireTags(Block):
    """Models with a prefix must carry tags."""

    type: Literal["require_tags_for_prefix"]
    prefix: Word
    required_tags: tuple[Word, ...]


class RequireMeta(Block):
    """Models must have a meta field."""

    type: Literal["require_meta_field"]
    field: Word
    applies_to: Word = "*"


class RequireTests(Block):
    """Models must have tests of certain types on some of their columns."""

    type: Literal["require_tests_of_type"]
    test_types: tuple[Word, ...]
    min_columns: Count = 1
    applies_to: Word = "*"


class PluginRule(Block):
    """A rule that another package provides (entry-point group floe.rules)."""

    type: Literal["plugin"]
    name: Word
    config: dict[str, Any] = key("Settings of the rule.", {})

    def __hash__(self) -> int:
        return hash((self.type, self.name))


CustomRule = Annotated[RequireTags | RequireMeta | RequireTests | PluginRule, Discriminator("type")]


class PolicyOverride(Block):
    """A dated exception from a rule that the same tier set."""

    pattern: Word = Field(description="Models it reaches, as a glob.")
    code: FindingCode = Field(description="The code it reaches.")
    action: Annotated[OverrideAction, *choice(OverrideAction)]
    reason: Word
    expires: Date | None = key("Last day on which it works.")


class RegisteredProduct(Block):
    """A product that the domain has approved."""

    name: Name
    repository: Word
    registered_at: Word | None = None


class ProductRegistration(Block):
    """Who may register products in a domain."""

    mode: Climb[Annotated[RegistrationMode, *choice(RegistrationMode)]] = key("open or approval_required.")
    allowed_repositories: AllOf[Word] = key("Globs that a product's repository must match.")
    registered_products: Extend[RegisteredProduct] = key("The approval list.")


class SchedulePolicy(Block):
    """When and how often products may run."""

    min_interval: AtLeast[Duration] = key("Shortest time between two runs.")
    allowed: AllOf[Cron] = key("Cron expressions whose minutes a schedule must stay in.")


class GovernanceConfig(Block):
    """The guardrails."""

    quality_gates: QualityGates | None = key("Tests, coverage and documentation.")
    classification: ClassificationPolicy | None = key("Classification of data.")
    sql_linting: SqlLintingPolicy | None = key("Linting of SQL.")
    custom_rules: Extend[CustomRule] = key("Rules of your own.")
    policy_overrides: Extend[PolicyOverride] = key("Dated exceptions from rules that this tier set.")
    product_registration: ProductRegistration | None = key("Who may register products.")
    schedule: SchedulePolicy | None = key("When products may run.")
    schema_evolution: Climb[Annotated[SchemaEvolution, *choice(SchemaEvolution)]] = key("any, additive or strict.")


class AutoGeneration(Block):
    """Contracts that floe writes for ports without one."""

    enabled: Override[Flag] = key("Generate contracts.")
    from_ports: Override[Flag] = key("Generate from input and output ports.")
    from_dbt_manifest: Override[Flag] = key("Enrich from the dbt manifest.")


class Versioning(Block):
    """How strictly contract versions are judged."""

    widening: Climb[Annotated[Widening, *choice(Widening)]] = key("Bump a type widening needs.")
    initial_development: Climb[Annotated[InitialDevelopment, *choice(InitialDevelopment)]] = key(
        "Rules below 1.0.0."
    )


class CheckInterval(Block):
    """How often one check runs."""

    check_interval: AtMost[Duration] = key("Longest time between two checks.")


class Monitoring(Block):
    """The contract monitor."""

    enabled: Switch = key("Watch contracts at run time.")
    mode: Override[Annotated[MonitoringMode, *choice(MonitoringMode)]] = key("scheduled, continuous or on_demand.")
    freshness: CheckInterval | None = key("Data updated within its SLA.")
    schema_drift: CheckInterval | None = key("Tables match their contract.")
    quality: CheckInterval | None = key("Quality above its threshold.")
    availability: CheckInterval | None = key("Data can be read.")


class Alerting(Block):
    """Where violations are sent."""

    openlineage_events: Switch = key("Emit OpenLineage events.")
    prometheus_metrics: Switch = key("Count in Prometheus metrics.")


class DataContractsConfig(Block):
    """How data contracts are enforced."""

    enforcement: Climb[Annotated[ContractEnforcement, *choice(ContractEnforcement)]] = key(
        "off, warn, alert_only or block."
    )
    standard: Equal[Annotated[Standard, *choice(Standard)]] = key("The contract standard.")
    plugin: Override[Plugin] = key("What reads and checks contracts.")
    base: Extend[RelativePath] = key("Contracts that no product contract may weaken.")
    validators: Extend[Word] = key("Further validators.")
    auto_generation: AutoGeneration | None = key("Contracts that floe writes itself.")
    versioning: Versioning | None = key("Version rules.")
    monitoring: Monitoring | None = key("Checks at run time.")
    alerting: Alerting | None = key("Where violations are sent.")


class RegistrationRetry(Block):
    """How registration is tried again after a passing failure."""

    max_attempts: Override[Count] = key("Tries in all.")
    initial_backoff: Override[Duration] = key("Wait before the second try.")
    max_backoff: Override[Duration] = key("Longest wait.")
    jitter: Override[Fraction] = key("Random share of each wait, 0 to 1.")


class IdentityConfig(Block):
    """How product names are claimed in the catalog."""

    enforcement: Climb[Annotated[IdentityEnforcement, *choice(IdentityEnforcement)]] = key(
        "off, warn, register or enforce."
    )
    auto_register: Override[Flag] = key("Register a new product at its first compile.")
    registration: RegistrationRetry | None = key("Retries.")


class SlaMinimums(Block):
    """What every output port must at least promise."""

    freshness: AtMost[Duration] = key("Oldest that data may be.")
    availability: AtLeast[Percent] = key("Lowest share of time that data can be read.")
    quality: AtLeast[Percent] = key("Lowest quality score.")


class Observability(Block):
    """What pipelines report about themselves."""

    traces: Switch = key("Emit traces.")
    metrics: Switch = key("Emit metrics.")
    lineage: Switch = key("Emit lineage.")
    namespace: Override[Word] = key("Lineage namespace.")


class Artifacts(Block):
    """Where the compiled platform is published."""

    repository: Own[Word] = key("OCI repository, oci://host/path.")


class Manifest(Block):
    """One tier of the platform: enterprise, or a domain that strengthens it."""

    apiVersion: OwnAlways[Literal["floe.dev/v1"]]
    kind: OwnAlways[Literal["Manifest"]]
    metadata: ManifestMetadata
    scope: OwnAlways[Annotated[Scope, *choice(Scope)]] = Field(description="enterprise or domain.")
    parent: Own[Reference] = key("The enterprise manifest that a domain strengthens.")
    required_floe_version: AtLeast[FloeVersion] = key("Oldest floe that may read this file.")
    plugins: PluginConfig | None = key("Which plugin does each job.")
    approved_plugins: ApprovedPlugins | None = key("Which plugins tiers below may choose.")
    approved_products: Own[tuple[ProductId, ...]] = key("Products of this domain; domain scope only.")
    approved_sources: Subset[Word] = key("Ingestion sources that products may use.")
    catalog_namespace: Own[Name] = key("Namespace of this domain in the catalog; domain scope only.")
    shared_services: Override[dict[str, Any]] = key("Services that every tier uses.")
    data_architecture: DataArchitectureConfig | None = key("Layers and naming.")
    naming_conventions: AllOf[NamePattern] = key(
        "Names models must match: any of this list, and of every parent's."
    )
    classification_levels: Extend[Level] = key("Classification levels in use.")
    governance: GovernanceConfig | None = key("The guardrails.")
    data_contracts: DataContractsConfig | None = key("Data contracts.")
    identity: IdentityConfig | None = key("Product identity.")
    sla_minimums: SlaMinimums | None = key("What every output port must at least promise.")
    secrets_backend: Override[Plugin] = key("Where {secret: …} references are resolved.")
    observability: Observability | None = key("Traces, metrics and lineage.")
    artifacts: Artifacts | None = key("Where the compiled platform is published.")

    @model_validator(mode="before")
    @classmethod
    def _fold_aliases(cls, data: Any) -> Any:
        return fold_aliases(data)
