"""dbt's own errors, each at dbt's file and line."""

from __future__ import annotations

import pytest
from products import Product

PROJECT = "name: p\nversion: '1.0'\n"

BAD = {
    "jinja syntax": ("models/gold_x.sql", "select 1 as id\n\n{% if %}\n", "models/gold_x.sql:3"),
    "unclosed block": ("models/gold_x.sql", "select 1 as id\n{% if true %}\n", "models/gold_x.sql:2"),
    "unknown ref": ("models/gold_x.sql", "select 1\nfrom {{ ref('missing') }}", "models/gold_x.sql:2"),
    "unknown source": ("models/gold_x.sql", "select 1\n\nfrom {{ source('a', 'b') }}", "models/gold_x.sql:3"),
    "unknown macro": ("models/gold_x.sql", "select\n{{ no_such_macro() }}", "models/gold_x.sql:2"),
    "raised": ("models/gold_x.sql", "{{ exceptions.raise_compiler_error('no') }}", "models/gold_x.sql:1"),
    "yaml syntax": ("models/x.yml", "models:\n  - name: a\n   bad: [\n", "models/x.yml:3"),
    "yaml shape": ("models/x.yml", "models: {a: b}\n", "models/x.yml:1"),
    "unknown test": (
        "models/x.yml",
        "models:\n  - name: silver_ok\n    columns: [{name: id, data_tests: [no_such_test]}]\n",
        "models/x.yml:3",
    ),
    "macro syntax": ("macros/x.sql", "{% macro a() %}\n\n{% endfor %}{% endmacro %}", "macros/x.sql:3"),
    "macro arguments": (
        "macros/x.sql",
        "{% macro a() %}{% endmacro %}\n{% macro b( %}{% endmacro %}",
        "macros/x.sql:2",
    ),
    "test arguments": ("tests/generic/x.sql", "\n{% test a(model %}x{% endtest %}", "tests/generic/x.sql:1"),
    "two of a name": ("models/sub/silver_ok.sql", "select 1 as id", "models/sub/silver_ok.sql:1"),
    "project yaml": ("dbt_project.yml", "name: p\nmodels: [\n", "dbt_project.yml:3"),
    "project shape": ("dbt_project.yml", "- a\n", "dbt_project.yml:1"),
    "project name": ("dbt_project.yml", "name: my-project\nversion: '1.0'\n", "dbt_project.yml:1"),
    "required version": ("dbt_project.yml", f"{PROJECT}require-dbt-version: '>=9'\n", "dbt_project.yml:1"),
    "environment variable": (
        "models/gold_x.sql",
        "select 1 as id,\n  {{ env_var( 'FLOE_TEST_UNSET') }} as x",
        "models/gold_x.sql:2",
    ),
    "environment variable of the project": (
        "dbt_project.yml",
        f"{PROJECT}models:\n  +enabled: \"{{{{ env_var('FLOE_TEST_UNSET') }}}}\"\n",
        "dbt_project.yml:4",
    ),
    "docs": ("models/x.md", "{% docs a %}\nnever closed", "models/x.md:1"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_dbt_cannot_parse_is_one_finding_at_its_place(product: Product, case: str) -> None:
    path, text, expected = BAD[case]
    product.put("models/silver_ok.sql", "select 1 as id")
    product.put("dbt_project.yml", PROJECT)
    product.put(path, text)
    assert product.refused() == [f"{expected} FLOE-E300"]


def test_the_message_is_dbts_own_on_one_line(product: Product) -> None:
    product.put("models/gold_x.sql", "select 1\nfrom {{ ref('missing') }}")
    [finding] = product.refusal()
    assert finding.message == (
        "Model 'model.customer_360.gold_x' (models/gold_x.sql) depends on a node named 'missing' "
        "which was not found"
    )


@pytest.mark.parametrize(
    "path", ["models/gold_x.sql", "models/x.yml", "models/x.md", "seeds/x.csv", "macros/x.sql"]
)
def test_a_file_that_is_no_text_is_named_with_the_line_of_the_byte(product: Product, path: str) -> None:
    product.put("models/silver_ok.sql", "select 1 as id")
    product.put(path, "")
    (product.folder / path).write_bytes(b"-- gut\n\n-- gr\xfc\xdf\n")
    assert product.refused() == [f"{path}:3 FLOE-E300"]
