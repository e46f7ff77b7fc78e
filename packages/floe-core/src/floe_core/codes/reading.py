"""Reading files and following references."""

from __future__ import annotations

from floe_core.codes.row import Exit, rows

BUG = rows(
    Exit.BUG,
    (
        "E000",
        "Internal error",
        "floe met a situation it does not understand. This is a bug in floe, not in your files.",
        "Report it with the command line and the log file named in the message.",
    ),
)

USAGE = rows(
    Exit.INPUT,
    (
        "E001",
        "Wrong usage",
        "The command line names an option, a command or an argument that floe does not have.",
        "Run the command with --help.",
    ),
)

LOAD = rows(
    Exit.INPUT,
    (
        "E100",
        "File cannot be read",
        "A file that the command needs does not exist, is a folder, or may not be read.",
        "Check the path and its permissions. `floe compile` wants a folder with a floe.yaml, or the file itself.",
    ),
    (
        "E101",
        "Not valid YAML",
        "The file cannot be read as YAML, so nothing in it can be checked.",
        "Correct the syntax at the place shown; indentation and unquoted `:` or `@` are the usual causes.",
    ),
    (
        "E102",
        "File too large",
        (
            "Configuration is written by people. floe stops reading at a fixed size and number of values, so that "
            "a damaged or hostile file cannot exhaust the machine."
        ),
        "Split the file, or remove generated content from it.",
    ),
    (
        "E103",
        "Duplicate key",
        "YAML readers silently keep the last of two equal keys; a guardrail could vanish that way.",
        "Keep one of the two.",
    ),
    (
        "E104",
        "Aliases or merges expand too far",
        (
            "A few lines of YAML aliases (`*name`) or merges (`<<`) can expand to gigabytes, and an alias inside "
            "its own anchor never ends."
        ),
        "Write the values out, or use fewer aliases.",
    ),
    (
        "E105",
        "Nested too deep",
        "No key of floe is nested anywhere near this deep.",
        "Check the brackets and the indentation at the place shown.",
    ),
    (
        "E106",
        "Not a finite number",
        "NaN compares false with everything and infinity beats every threshold, so neither can be a guardrail.",
        "Write a finite number, or quote the value if it is text.",
    ),
    (
        "E107",
        "Number too long",
        "A number with this many digits is not a setting, and cannot be kept exactly.",
        "Write a shorter number, or quote the value if it is text.",
    ),
    (
        "E108",
        "More than one document",
        "A second `---` document would be ignored, and with it everything it says.",
        "Keep one document per file.",
    ),
    (
        "E109",
        "Unsupported YAML tag",
        (
            "floe reads plain data: text, numbers, true/false, null, lists and mappings. Tags that build anything "
            "else are refused."
        ),
        "Remove the tag.",
    ),
    (
        "E110",
        "Not clean UTF-8",
        "The file holds bytes that are not UTF-8, or control characters that no editor shows.",
        "Save the file as UTF-8 and delete the character at the place shown.",
    ),
    (
        "E111",
        "Key is not text",
        "A key that YAML reads as a number, a boolean or null would change its spelling.",
        "Put quotes around the key.",
    ),
    (
        "E112",
        "Not a mapping",
        "The file is empty, or its top level is a list or a single value instead of `key: value` lines.",
        "Start with `apiVersion: floe.dev/v1` and a `kind`.",
    ),
    (
        "E120",
        "Needs a newer floe",
        "The file says which floe it was written for; an older one would misread it.",
        "Upgrade floe, or lower required_floe_version if the file uses nothing newer.",
    ),
    (
        "E121",
        "Unknown key",
        "A key that floe does not know would be ignored, and a misspelt guardrail would guard nothing.",
        "Use the key suggested; `floe schema manifest` and `floe schema product` list all of them.",
    ),
    (
        "E122",
        "Missing key",
        "A key that every file of this kind must have is not there.",
        "Add it.",
    ),
    (
        "E123",
        "Wrong type",
        "The value has another type than the key needs: a list instead of text, say.",
        "Write the value as described.",
    ),
    (
        "E124",
        "Not one of the legal values",
        "The key takes one of a fixed list of values.",
        "Use one of the values listed.",
    ),
    (
        "E125",
        "Version is not text",
        "YAML reads 1.10 as the number 1.1, so an unquoted version changes silently. Write X.Y or X.Y.Z.",
        'Quote it: version: "1.10"',
    ),
    (
        "E126",
        "Malformed value",
        "The value has the right type but not the right form: a duration, percentage, name, path or pattern.",
        "Write the value in the form shown.",
    ),
    (
        "E127",
        "Said twice, differently",
        "The same setting stands at its own place and at an alias of it, and they differ; floe will not guess.",
        "Keep the one at its own place.",
    ),
    (
        "E128",
        "Not this kind of file",
        "apiVersion and kind tell floe how to read the file; these are not what is expected here.",
        "Use apiVersion: floe.dev/v1, and kind: Manifest for platforms or kind: DataProduct for products.",
    ),
    (
        "E140",
        "Secret written out",
        "What stands in a configuration file ends up in git, in artifacts and in logs.",
        "Write a reference: {env: NAME}, {file: path} or {secret: name#key}.",
    ),
)

DBT_MANIFEST = rows(
    Exit.INPUT,
    (
        "E130",
        "dbt manifest of another version",
        "floe reads dbt's manifest.json in versions 11 and 12; in another the same words may mean something else.",
        "Make the manifest again with dbt 1.7 or later, or let `floe compile` make it.",
    ),
    (
        "E131",
        "dbt manifest cannot be read",
        "Rules judge what dbt's manifest.json says; without the file nothing about the models is known.",
        "Check the path and its permissions, or let `floe compile` make the manifest.",
    ),
    (
        "E132",
        "Not a dbt manifest",
        "The file is cut short, is not JSON, or lacks what every dbt manifest has, so its models are unknown.",
        "Delete it and let `floe compile` make it again.",
    ),
)

STALE_MANIFEST = rows(
    Exit.INPUT,
    (
        "E145",
        "dbt manifest is stale",
        (
            "A manifest that was made from other files describes a project that is not there; its models would be "
            "checked instead of yours."
        ),
        "Run `dbt parse` or `dbt compile` again, or leave --dbt-manifest out: floe then makes its own.",
    ),
)

RESOLVE = rows(
    Exit.INPUT,
    (
        "E150",
        "Parent not found",
        "The file that a product or manifest inherits from is not there, so its guardrails are unknown.",
        "Correct the reference; paths are relative to the file that holds them.",
    ),
    (
        "E151",
        "Wrong scope",
        (
            "`platform` and `parent` lead to an enterprise manifest, `domain` to a domain manifest, and an "
            "enterprise manifest is the top: it has no parent."
        ),
        "Point the reference at a manifest of the right scope, or correct that manifest's scope.",
    ),
    (
        "E152",
        "Domain without a parent",
        "A domain manifest adds to an enterprise manifest; without a parent there is nothing to strengthen.",
        "Add `parent:` with a reference to the enterprise manifest, or set `scope: enterprise`.",
    ),
    (
        "E153",
        "Inheritance in a circle",
        "Two manifests that are each other's parent have no top tier.",
        "Remove the `parent` of the one that should be the top.",
    ),
    (
        "E154",
        "Parent is a product",
        "A floe.yaml inherits guardrails; it cannot hand them on.",
        "Point the reference at a manifest.yaml.",
    ),
    (
        "E155",
        "Both platform and domain",
        (
            "A product inherits either from a platform (centralized) or from a domain (mesh); a domain already "
            "brings its enterprise."
        ),
        "Keep `domain` and remove `platform`, or the other way round.",
    ),
    (
        "E156",
        "Product names another domain",
        (
            "metadata.domain is the name of the domain and part of the product's identity; it must be the name of "
            "the manifest that `domain` leads to."
        ),
        "Use that manifest's metadata.name, or remove metadata.domain.",
    ),
)

UNREACHABLE = rows(
    Exit.UNCHECKED,
    (
        "E159",
        "Reference cannot be reached",
        (
            "The reference leads to a registry, and nothing installed here can fetch from one, so the guardrails "
            "are unknown. Unknown is never treated as passed."
        ),
        "Refer to a manifest file by its relative path.",
    ),
)
