"""Queries of quality rules: proven to be one read-only SELECT before anything may run them."""

from __future__ import annotations

import re

from sqlglot import exp

from floe_core.sql.parsing import UnreadableError, parse

MAX_LENGTH = 20_000
DIALECT = "spark"
# ODCS writes ${table}, ${column}; datacontract-cli also {table}, {model}, {field}. Quotes around one are its own.
_PLACEHOLDER = re.compile(r"""(["`]?)\$?\{(table|column|model|schema|property|field|object)\}\1""")
_FORBIDDEN = (
    exp.DML,
    exp.DDL,
    exp.Command,
    exp.Into,
    exp.Set,
    exp.Use,
    exp.Pragma,
    exp.Drop,
    exp.Alter,
    exp.Merge,
    exp.TruncateTable,
    exp.Lock,
    exp.QueryTransform,  # SELECT TRANSFORM(…) USING 'program' starts the program
)
_READ_ONLY = (exp.Select, exp.SetOperation, exp.Subquery)
# Functions that reach outside the query: files, other servers, the JVM, configuration, names made at run time.
# fmt: off
_OUTSIDE = frozenset({
    "reflect", "java_method", "read_files", "read_csv", "read_csv_auto", "read_json", "read_json_auto",
    "read_parquet", "parquet_scan", "csv_scan", "read_text", "read_blob", "glob", "pg_read_file", "lo_import",
    "dblink", "query_table", "http_get", "ai_query", "try_reflect", "input_file_name", "secret", "try_secret",
    "identifier",
})
# Spark takes text.`/etc/passwd` for a file: a format, or a class, and a path.
_FORMATS = frozenset({
    "text", "csv", "json", "xml", "parquet", "orc", "avro", "binaryfile", "image", "libsvm", "delta", "hudi",
    "iceberg", "jdbc", "kafka", "socket", "rate",
})
# fmt: on


def refusal(query: str) -> str:
    """Why floe will not run the query; empty when it is one SELECT."""
    if len(query) > MAX_LENGTH:
        return f"is longer than {MAX_LENGTH:,} characters"
    if "{{" in query or "{%" in query:
        return "is a template"
    plain = _PLACEHOLDER.sub("floe_placeholder", query)
    try:
        statement = parse(plain).tree
    except UnreadableError as exc:
        return f"cannot be read: {str(exc)[:100]}"
    if not isinstance(statement, _READ_ONLY):
        return f"is a {_kind(statement)}, not a SELECT"
    for node in statement.walk():
        if isinstance(node, _FORBIDDEN) and not isinstance(node, _READ_ONLY):
            return f"holds a {_kind(node)}"
        if isinstance(node, exp.Func) and _name(node) in _OUTSIDE:
            return f"calls {_name(node)}, which reaches outside the table"
        if isinstance(node, exp.Table) and _is_file(node):
            return f"reads the file {node.name[:60]}"
    return ""


def _kind(node: exp.Expr) -> str:
    """What Spark calls it; a command that sqlglot does not take apart goes by its first word."""
    if isinstance(node, exp.Command):
        return str(node.this).upper()
    return "TRANSFORM … USING" if isinstance(node, exp.QueryTransform) else node.key.upper()


def _is_file(table: exp.Table) -> bool:
    if not table.db or table.catalog:
        return False
    return table.db.casefold() in _FORMATS or "." in table.db or "/" in table.name


def _name(function: exp.Func) -> str:
    return str(function.name if isinstance(function, exp.Anonymous) else function.sql_name()).casefold()


def render(query: str, table: tuple[str, ...], column: str = "") -> str:
    """A query with its placeholders filled in. Names become quoted identifiers, whatever they hold."""
    words = {"table": table, "model": table, "schema": table, "object": table}
    columns = (column,) if column else ()
    words |= {"column": columns, "property": columns, "field": columns}
    return _PLACEHOLDER.sub(lambda found: ".".join(map(_quoted, words[found[2]])), query)


def _quoted(name: str) -> str:
    return exp.to_identifier(name, quoted=True).sql(dialect=DIALECT)
