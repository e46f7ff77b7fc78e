"""What dbt projects and their models must keep."""

from __future__ import annotations

from floe_core.codes.row import Exit, rows

NAMING = rows(
    Exit.FINDINGS,
    (
        "E201",
        "Name breaks the convention",
        "The name tells everyone, people and tools, which layer a model belongs to and what to expect of it.",
        "Rename the model to match one of the patterns shown.",
    ),
    (
        "E202",
        "Naming pattern cannot be used",
        "The regular expression is not valid RE2, so no name can be judged by it.",
        "Correct the expression. RE2 has no look-around and no back-references.",
    ),
)

GATES = rows(
    Exit.FINDINGS,
    (
        "E210",
        "Required tests missing",
        "Every layer makes a promise to its readers, and a test for each part of it.",
        "Add the missing tests to the model's YAML.",
    ),
    (
        "E211",
        "No key declared",
        "The layer demands tests of the key, and nothing says which columns the key is.",
        "Set `meta: {floe: {primary_key: true}}` on the column, or a list of columns on the model.",
    ),
    (
        "E220",
        "Test coverage too low",
        "Columns without a test can break without anyone noticing.",
        "Add tests to the columns named, until the share is reached.",
    ),
    (
        "E221",
        "Classified columns without tests",
        "For the columns of some classes the platform demands more tests than for others.",
        "Add tests to the columns named.",
    ),
    (
        "E230",
        "Model not described",
        "A model without a description has to be read to be understood.",
        "Add a `description` to the model's YAML.",
    ),
    (
        "E231",
        "Column not described",
        "A column without a description is guessed at by whoever uses it.",
        "Add a `description` to the column.",
    ),
    (
        "E232",
        "Placeholder instead of a description",
        "The text fills the field and tells the reader nothing.",
        "Say what the model or column holds.",
    ),
    (
        "E240",
        "Unknown classification",
        "A class that floe does not know protects nothing.",
        "Use one of the classes shown, or a list of them.",
    ),
    (
        "E241",
        "meta.floe cannot be read",
        "What floe should know about a model stands there in a form that it does not understand.",
        "Correct the value as the message says.",
    ),
)

DBT_PROJECT = rows(
    Exit.FINDINGS,
    (
        "E300",
        "dbt cannot parse the project",
        "What dbt cannot read it cannot run, and none of its models can be checked.",
        "Correct the file at the place shown; the message is dbt's own.",
    ),
    (
        "E301",
        "Transform path does not exist",
        "transforms[].path leads to the dbt project; nothing is there.",
        "Correct the path; it is relative to floe.yaml.",
    ),
    (
        "E302",
        "Transform path outside the product",
        "A product is what its folder holds: what lies outside is neither hashed, nor checked, nor owned with it.",
        "Move the dbt project into the product's folder, and correct the path.",
    ),
    (
        "E304",
        "Table outside its namespace",
        (
            "A product's tables live in {domain}.{product}.{layer}. Any other schema escapes the product's "
            "ownership; one with a catalog name or quotes also makes dbt lose the history of tables, silently."
        ),
        "Remove the setting: floe derives the schema from the layer, which meta.floe.layer can name.",
    ),
    (
        "E305",
        "Not stored as Iceberg",
        "Contracts, history and publication rest on Iceberg; a table in another format has none of them.",
        "Remove file_format, or set it to iceberg.",
    ),
    (
        "E306",
        "Not a table name",
        "Tables are written in lower case, digits and underscores, so that every engine finds them under one name.",
        "Rename the model, or give it an alias in lower case.",
    ),
)

DBT_PACKAGES = rows(
    Exit.UNCHECKED,
    (
        "E303",
        "dbt packages cannot be installed",
        "The project uses packages that could not be fetched, so dbt cannot read it and nothing could be checked.",
        "Check packages.yml and the network, or run `dbt deps` in the project where there is one.",
    ),
)

SEMANTIC = rows(
    Exit.FINDINGS,
    (
        "E310",
        "Models in a circle",
        "Each of these models waits for another one of them, so none can ever be built.",
        "Break the circle: let one of the models read something else.",
    ),
    (
        "E311",
        "Layer reads from a later layer",
        "Data flows from raw to refined. A model that reads from a later layer makes a promise it cannot keep.",
        "Read from the same layer or an earlier one, or move the model to a later layer.",
    ),
    (
        "E312",
        "Reference leads nowhere",
        "The manifest refers to a model or source that is not in the project; dbt skips what depends on it.",
        "Correct the name, or remove what refers to it.",
    ),
    (
        "E313",
        "Output port without a model",
        "The port offers a table that no model, snapshot or seed of the project builds.",
        "Set `table` to the name of a model, or build the model.",
    ),
    (
        "E314",
        "Input port without an ingestion",
        "The port reads from an ingestion that this product does not have.",
        "Add the source under `ingestion`, or correct the name.",
    ),
)

SQL = rows(
    Exit.FINDINGS,
    (
        "E320",
        "SQL does not parse",
        "SQL that floe cannot read as Spark SQL fails when it runs, or hides from every check of columns.",
        "Correct the SQL at the place shown.",
    ),
    (
        "E321",
        "select * in the last layer",
        (
            "What consumers see is decided here. With `*`, a column that somebody adds upstream, perhaps a "
            "personal one, is published without anyone choosing to."
        ),
        "List the columns.",
    ),
    (
        "E322",
        "Join without a condition",
        "Every row meets every row of the other side: a result that grows with the product of both.",
        "Join with ON or USING, or link both sides in WHERE. A side that is a single row needs no condition.",
    ),
    (
        "E323",
        "order by without limit",
        "A table has no order: sorting all of it costs a shuffle, and readers do not get the rows sorted.",
        "Remove the order by, or add a limit. Readers sort what they read.",
    ),
    (
        "E324",
        "Hard-coded table name",
        "dbt does not know that the model reads this table: order, lineage, environments and staging miss it.",
        "Use {{ ref('model') }} for a model, {{ source('name', 'table') }} for anything else.",
    ),
    (
        "E325",
        "SQL not checked",
        "dbt could not compile the model without a connection, so there is no SQL to lint.",
        "Keep queries that run at compile time out of the model, or give them a value when there is no connection.",
    ),
)

CLASSIFICATION = rows(
    Exit.FINDINGS,
    (
        "E340",
        "Classification lost on the way",
        (
            "Data stays what it is when it is copied, renamed, computed with, hashed or aggregated. A column is at "
            "least as classified as the columns its values come from."
        ),
        "Classify the column as shown, or remove its classification to inherit.",
    ),
    (
        "E341",
        "Classified data not followed",
        (
            "The model reads classified columns, and floe cannot tell from its SQL where they go. What cannot be "
            "followed is not taken as harmless."
        ),
        "Write the SQL so that it can be followed, and classify the model's columns that hold such data.",
    ),
    (
        "E342",
        "Port less protected than its columns",
        (
            "pii, phi, sensitive and confidential columns need a port of at least CONFIDENTIAL, restricted ones a "
            "RESTRICTED port: the port's level decides who may read it."
        ),
        "Raise the port's classification, or drop the column from the model.",
    ),
    (
        "E343",
        "Port below the minimum classification",
        "The platform sets the lowest classification that a port may have.",
        "Use at least the minimum, or remove the line to take it.",
    ),
    (
        "E344",
        "Looks personal, is not classified",
        "The name is one that personal data usually has. Unclassified it travels on without anyone noticing.",
        "Set `meta: {floe: {classification: pii}}` on the column, or `public` if it is harmless.",
    ),
)

CUSTOM = rows(
    Exit.FINDINGS,
    (
        "E401",
        "Required tags missing",
        "A rule of the platform asks for these tags on models with this prefix.",
        "Add the tags to the model's configuration.",
    ),
    (
        "E402",
        "Required meta field missing",
        "A rule of the platform asks for this field in the meta of these models.",
        "Add the field to the model's meta.",
    ),
    (
        "E403",
        "Tests of a required type missing",
        "A rule of the platform asks for tests of these types on a number of columns.",
        "Add the tests to the model's columns.",
    ),
)
