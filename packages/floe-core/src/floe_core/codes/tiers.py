"""What tiers and products may say."""

from __future__ import annotations

from floe_core.codes.row import Exit, rows

WEAKENING = rows(
    Exit.FINDINGS,
    (
        "E160",
        "Weaker than the parent",
        (
            "A tier may make a guardrail stricter, never looser. Otherwise the enterprise's promise would end "
            "where it matters."
        ),
        "Use a value at least as strict as the parent's, or remove the line to inherit it.",
    ),
    (
        "E161",
        "Not approved by the parent",
        "A tier may choose from what its parent approves, not add to it.",
        "Remove what the parent does not list, or ask the owner of the parent to approve it.",
    ),
    (
        "E162",
        "Differs from the parent",
        "This setting must be the same in every tier: mixing two would leave neither enforced.",
        "Use the parent's value, or remove the line.",
    ),
    (
        "E163",
        "No name can match",
        "Every tier's naming patterns must match. These contradict each other, so every model would fail.",
        "Change the child's patterns so that some name matches them and the parent's.",
    ),
    (
        "E170",
        "Compute is the platform's choice",
        "Where pipelines run is set once by the platform team; a product cannot override it.",
        "Remove the key from floe.yaml.",
    ),
)

APPROVAL = rows(
    Exit.FINDINGS,
    (
        "E171",
        "Product not approved",
        "The domain lists the products that may exist in it, and this one is not on the list.",
        "Ask the owner of the domain to add it to approved_products, or correct the product's name.",
    ),
    (
        "E172",
        "Ingestion source not approved",
        "The platform lists the systems that data may be loaded from; another one has not been reviewed.",
        "Use an approved source, or ask the owner of the platform to add it to approved_sources.",
    ),
    (
        "E173",
        "Schedule outside the allowed window",
        "The platform allows runs at certain times only, and the schedule also fires at another time.",
        "Move the schedule into the window, or ask the owner of the window to widen it.",
    ),
    (
        "E174",
        "Schedule too frequent",
        "Two runs follow each other faster than the platform allows.",
        "Make the schedule fire less often.",
    ),
    (
        "E175",
        "Unknown time zone",
        "Without a time zone that exists nobody can say when the schedule fires.",
        "Use a name of the IANA time zone database, like UTC or Europe/Berlin.",
    ),
    (
        "E176",
        "Schedule that never fires",
        "The cron expression has a field out of range, or names a day that does not exist, so it never comes due.",
        "Correct the expression: minute, hour, day of month, month, day of week.",
    ),
    (
        "E177",
        "Override expired",
        "An exception ends on its last day; what it covered is reported again.",
        "Remove the override, or agree on a new date.",
    ),
    (
        "E178",
        "Override without effect",
        "No finding of that code is about a model that the pattern matches; the exception may be out of date.",
        "Remove the override, or correct its pattern and code.",
    ),
    (
        "E179",
        "Override out of reach",
        (
            "A tier can make exceptions from the rules it set itself. Those of another tier, weakenings, contract "
            "inheritance and identity have none."
        ),
        "Ask the owner of the tier that set the rule, or remove the override.",
    ),
)
