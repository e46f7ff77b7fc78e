"""Data contracts."""

from __future__ import annotations

from floe_core.codes.row import Exit, rows

CONTRACTS = rows(
    Exit.FINDINGS,
    (
        "E500",
        "Contract not found",
        "The platform demands data contracts, and the product has neither a datacontract.yaml nor output ports.",
        "Add `output_ports` to floe.yaml, or a datacontract.yaml beside it.",
    ),
    (
        "E501",
        "Invalid ODCS syntax",
        "The file is no valid ODCS contract: its YAML is broken, a field is missing, or a value has another form.",
        "Correct the value at the place shown, as the Open Data Contract Standard describes it.",
    ),
    (
        "E502",
        "Unsupported ODCS version",
        "apiVersion tells how a contract must be read, and floe does not know this version of the standard.",
        "Use v3.0.0, v3.0.1, v3.0.2, v3.1.0 or v3.2.0.",
    ),
    (
        "E503",
        "Names no column",
        "A promise about a column that the contract does not have promises nothing.",
        "Name a column of the contract, or add it.",
    ),
    (
        "E504",
        "SLA cannot be understood",
        "A service level that floe cannot read is never measured, so it would only look like a promise.",
        "Use a name that ODCS knows, and a value with an unmistakable unit: PT6H, 24h, 99.9%.",
    ),
    (
        "E505",
        "Said twice",
        "Two tables or two columns of one contract have the same name; which of them counts would be chance.",
        "Keep one of the two, or rename it.",
    ),
    (
        "E506",
        "Unknown classification",
        "A classification outside floe's list has no place in the order, so nothing could be said to be stricter.",
        "Use public, internal, identifier, confidential, pii, phi, sensitive or restricted.",
    ),
    (
        "E507",
        "Not a read-only query",
        "A quality rule is run with the rights of the pipeline. Only one SELECT can be run without fear.",
        "Write the rule as one SELECT that returns one value.",
    ),
    (
        "E508",
        "Unknown key of the shorthand",
        "The key belongs neither to floe's shorthand nor to ODCS: kept as a custom property, it does nothing.",
        "Correct the spelling, or move the value under customProperties.",
    ),
    (
        "E509",
        "Contract refused by the reader",
        "The file is YAML that floe refuses: too large, nested too deep, a key twice, or aliases that explode.",
        "Write plain YAML within the limits shown.",
    ),
    (
        "E510",
        "SLA weaker than the parent's",
        "A contract may promise more than its enterprise and domain demand, never less.",
        "Strengthen the SLA, or remove it to inherit the parent's.",
    ),
    (
        "E511",
        "Classification weaker than the parent's",
        "What the enterprise calls personal data stays personal data in every product.",
        "Use the parent's classification or a stronger one, or remove it to inherit.",
    ),
    (
        "E512",
        "Contracts in a circle",
        "Contracts that extend each other have no top, so nothing says what they must keep.",
        "Remove one of the `floe.extends`.",
    ),
    (
        "E513",
        "Weaker than a base contract",
        "A base contract is a promise that every contract below it keeps: its columns, types and rules.",
        "Keep what the base contract demands, or remove the line to inherit it.",
    ),
    (
        "E514",
        "Parent contract not found",
        "A contract or manifest names a contract to inherit from, and it cannot be found.",
        "Correct the path; it is relative to the file that holds it.",
    ),
    (
        "E520",
        "Breaking change without a MAJOR version",
        "Consumers of the old version would break without a warning: its MAJOR number is what they rely on.",
        "Run `floe contract bump --write`, or take the change back.",
    ),
    (
        "E521",
        "Invalid contract version",
        "Contract versions are X.Y.Z, so that anyone can see what a change means.",
        'Write three numbers: version: "1.0.0".',
    ),
    (
        "E522",
        "Change without a new version",
        "The contract says something else than before; MINOR tells consumers of additions, PATCH of better words.",
        "Run `floe contract bump --write`.",
    ),
    (
        "E523",
        "Version already taken",
        "A registered version never changes, and this one is registered with other content.",
        "Run `floe contract bump --write`, or take the change back.",
    ),
    (
        "E524",
        "Version goes backwards",
        "Within one MAJOR line versions only grow; an older number would hide the newer promise.",
        "Use a version above the registered one.",
    ),
    (
        "E525",
        "Lifecycle does not fit",
        "Consumers plan by the status and the dates of a contract, so these must be real and agree.",
        "Announce the end at least 30 days before sunset_date, and name both dates.",
    ),
    (
        "E526",
        "Contract is coming to its end",
        "A deprecated contract warns its consumers, one in sunset takes no new ones, and a retired one is gone.",
        "Move to the replacement named in the contract.",
    ),
    (
        "E527",
        "Consumers may meet nulls",
        "A column that was never null may be null now. No reader breaks by the schema, but some will by the data.",
        "Tell the consumers, or keep the column required.",
    ),
    (
        "E530",
        "Type differs from the table",
        "The contract promises another type than the table has.",
        "Change the contract or the table so that they match.",
    ),
    (
        "E531",
        "Column missing in the table",
        "The contract promises a column that the table does not have.",
        "Add the column to the table, or remove it from the contract.",
    ),
    (
        "E532",
        "Column not in the contract",
        "The table has a column that the contract does not mention, so nobody may rely on it.",
        "Add it to the contract when consumers should use it.",
    ),
)
