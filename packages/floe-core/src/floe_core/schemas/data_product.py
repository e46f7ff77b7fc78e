"""floe.yaml: what a data team builds inside the guardrails."""

from __future__ import annotations

from enum import Enum
from typing import Annotated, Any, Literal

from pydantic import BeforeValidator, Field, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from floe_core.schemas.levels import ClassificationLevel, FieldClass
from floe_core.schemas.parts import Reference
from floe_core.schemas.values import (
    Block,
    Cron,
    Duration,
    Flag,
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

Class = Annotated[FieldClass, *choice(FieldClass)]


class WriteDisposition(Enum):
    """How loaded rows meet the rows that are there."""

    APPEND = "append"
    REPLACE = "replace"
    MERGE = "merge"


class Access(Enum):
    """What happens to a reader without a grant."""

    DENY = "deny"
    ALLOW = "allow"


class DataProductMetadata(Block):
    """Who this product is."""

    name: Name = Field(description="Name of the product; its namespace is {domain}.{name} with - as _.")
    version: Version = Field(description="Version of the product, X.Y or X.Y.Z.")
    owner: Word | None = key("Who answers for it.")
    domain: Name | None = key("Name of its domain.")
    repository: Word | None = key("Where its source lives; proves who owns the namespace.")
    description: Text | None = key("What it is for.")
    labels: dict[str, Text] | None = key("Free labels.")


class TransformConfig(Block):
    """A dbt project, or a folder of one."""

    type: Literal["dbt"] = Field(description="Kind of transform.")
    path: RelativePath = key("Where its models are.", "models/")
    vars: dict[str, Any] | None = key("dbt variables.")


class ScheduleConfig(Block):
    """When the product runs."""

    cron: Cron = Field(description="Five cron fields.")
    timezone: Word = key("IANA time zone.", "UTC")
    enabled: Flag = key("Whether the schedule is on.", True)


class IngestionConfig(Block):
    """A source that is loaded before the transforms."""

    type: Word = Field(description="Ingestion plugin.")
    source: Word = Field(description="Source system, from the platform's approved list.")
    script: RelativePath | None = key("Script that loads it.")
    destination: Word | None = key("Table it lands in.")
    write_disposition: Annotated[WriteDisposition, *choice(WriteDisposition)] | None = key(
        "append, replace or merge."
    )


class PortSource(Block):
    """Where an input comes from: another product's contract, or an ingestion."""

    product: ProductId | None = key("The producing product.")
    contract: Name | None = key("Its contract.")
    version: Text | None = key("Range of contract versions, like ^1.")
    ingestion: Word | None = key("An ingestion of this product.")

    @model_validator(mode="after")
    def _one_origin(self) -> PortSource:
        if (self.product is None) == (self.ingestion is None):
            raise PydanticCustomError("E126", "a source is either a product or an ingestion", {})
        return self


class InputPort(Block):
    """Data that the product reads."""

    name: Name
    source: PortSource
    freshness: Duration | None = key("Oldest that the data may be.")


def _classes(value: Any) -> Any:
    return (value,) if isinstance(value, str) else value


Classes = Annotated[
    tuple[Class, ...],
    BeforeValidator(_classes),
    WithJsonSchema(
        {
            "anyOf": [
                schema := choice(FieldClass)[1].json_schema,
                {"type": "array", "items": schema},
            ]
        }
    ),
]


class PortColumn(Block):
    """A column that an output port promises."""

    name: Word
    type: Word
    required: Flag = key("Never null.", False)
    primary_key: Flag = key("Part of the key.", False)
    unique: Flag = key("No value twice.", False)
    classification: Classes | None = key("One class or several.")
    description: Text | None = key("What it holds.")


class PortSla(Block):
    """What an output port promises about its data."""

    freshness: Duration | None = key("Oldest that the data may be.")
    availability: Percent | None = key("Share of time that the data can be read.")
    quality: Percent | None = key("Lowest quality score.")


class PortAccess(Block):
    """Who may read an output port."""

    default: Annotated[Access, *choice(Access)] | None = key("deny or allow.")
    grants: tuple[Word, ...] = key("Groups that may read.", ())


class OutputPort(Block):
    """A table that the product offers."""

    name: Name
    table: Word | None = key("The dbt model; the port's name by default.")
    published_as: Word | None = key("Table name in the catalog; the model's name by default.")
    contract: Name | None = key("Its contract; the port's name by default.")
    columns: tuple[PortColumn, ...] | None = Field(default=None, alias="schema", description="Columns it promises.")
    sla: PortSla | None = key("What it promises about its data.")
    classification: Annotated[ClassificationLevel, *choice(ClassificationLevel)] | None = key(
        "How sensitive it is."
    )
    access: PortAccess | None = key("Who may read it.")


class ProductQuality(Block):
    """A stricter gate of the product's own."""

    minimum_coverage: Percent | None = key("Lowest test coverage of every model; may only raise the platform's.")


class DataProduct(Block):
    """A data product: its transforms, ports and schedule."""

    apiVersion: Literal["floe.dev/v1"]
    kind: Literal["DataProduct"]
    metadata: DataProductMetadata
    platform: Reference | None = key("The platform it inherits from (centralized).")
    domain: Reference | None = key("The domain it inherits from (mesh).")
    transforms: tuple[TransformConfig, ...] = key("Run in this order.", ())
    schedule: ScheduleConfig | None = key("When it runs.")
    ingestion: tuple[IngestionConfig, ...] = key("Sources loaded first.", ())
    input_ports: tuple[InputPort, ...] = key("What it reads.", ())
    output_ports: tuple[OutputPort, ...] = key("What it offers.", ())
    quality: ProductQuality | None = key("Stricter gates of its own.")
