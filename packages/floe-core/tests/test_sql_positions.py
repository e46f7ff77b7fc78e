"""From compiled SQL back to the file: the exact place, or none; never another line's."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from floe_core.sql.positions import UNKNOWN, locate

RAW = """{{ config(materialized='table') }}
-- a comment
with orders as (
    select * from {{ ref('silver_orders') }}
),

{% for n in [1, 2] %}
q{{ n }} as (
    select id
    from orders
),
{% endfor %}

final as (
    select
        o.id,
        {{ cents('amount') }} as amount, o.x
    from orders o
    cross join {{ ref('dates') }} d
)

select * from final
order by id
"""
COMPILED = """
-- a comment
with orders as (
    select * from sales.silver.silver_orders
),


q1 as (
    select id
    from orders
),

q2 as (
    select id
    from orders
),


final as (
    select
        o.id,
        (amount / 100) as amount, o.x
    from orders o
    cross join sales.silver.dates d
)

select * from final
order by id
"""


def place(text: str, needle: str, occurrence: int = 0) -> tuple[int, int]:
    start = -1
    for _ in range(occurrence + 1):
        start = text.index(needle, start + 1)
    before = text[:start]
    return before.count("\n") + 1, start - (before.rfind("\n") + 1) + 1


@pytest.mark.parametrize(
    ("compiled", "raw"),
    [
        ("* from sales", "* from {{"),
        ("sales.silver.silver_orders", "{{ ref('silver_orders')"),
        ("o.id,", "o.id,"),
        ("amount, o.x", "amount, o.x"),
        ("o.x", "o.x"),
        ("cross join", "cross join"),
        ("d\n)", "d\n)"),
        ("* from final", "* from final"),
        ("order by id", "order by id"),
    ],
)
def test_a_place_is_found_again_in_the_jinja_file(compiled: str, raw: str) -> None:
    assert locate(RAW, COMPILED, *place(COMPILED, compiled)) == place(RAW, raw)


def test_a_line_that_a_loop_repeats_is_the_line_in_the_loop() -> None:
    for occurrence in (0, 1):
        found = locate(RAW, COMPILED, *place(COMPILED, "from orders\n)", occurrence))
        assert found == place(RAW, "from orders\n)")


@pytest.mark.parametrize("line", [0, 1, 99])
def test_lines_that_are_not_in_the_file_are_not_found(line: int) -> None:
    assert locate(RAW, COMPILED, line, 1) == UNKNOWN


def test_what_a_macro_wrote_is_not_found() -> None:
    assert locate("{{ everything() }}", "select a\nfrom b", 2, 6) == UNKNOWN


def test_one_of_several_equal_lines_is_chosen_by_its_neighbours_or_not_at_all() -> None:
    raw = "select a\nfrom t\nunion all\nselect b\nfrom t\n{{ more() }}"
    assert locate(raw, "select b\nfrom t\nselect c\nfrom t", 2, 1) == (5, 1)
    assert locate(raw, "select c\nfrom t\nwhere x\nfrom t\nfrom t", 2, 1) == UNKNOWN
    assert locate(raw, "select a\nfrom t\nunion all\nselect b\nfrom t\nselect c\nfrom t", 2, 1) == (2, 1)


SQL_LINES = st.sampled_from(["select a", "  from t", "  , b", "join u on t.k = u.k", "where x", "", "union all"])


@given(st.lists(SQL_LINES, min_size=1, max_size=12), st.data())
def test_a_file_without_jinja_is_its_own_map(lines: list[str], data: st.DataObject) -> None:
    text = "\n".join(lines)
    number = data.draw(st.integers(1, len(lines)))
    column = data.draw(st.integers(1, max(1, len(lines[number - 1]))))
    expected = (number, column) if lines[number - 1].strip() else UNKNOWN
    found = locate(text, text, number, column)
    assert found == expected or (found == (number, len(lines[number - 1]) - len(lines[number - 1].lstrip()) + 1))


@given(
    st.lists(st.tuples(SQL_LINES, st.sampled_from(["keep", "drop", "tag", "twice", "extra"])), max_size=12),
    st.data(),
)
def test_a_place_is_of_the_same_text_or_unknown(plan: list[tuple[str, str]], data: st.DataObject) -> None:
    raw, compiled = [], []
    for text, fate in plan:
        raw += {"tag": [text, "{% tag %}"], "extra": ["{{ macro() }}"]}.get(fate, [text])
        compiled += {"drop": [], "twice": [text, text], "extra": ["from macro"]}.get(fate, [text])
    number = data.draw(st.integers(1, max(1, len(compiled))))
    line, _ = locate("\n".join(raw), "\n".join(compiled), number, 1)
    if (line, 1) != UNKNOWN and compiled:
        assert raw[line - 1].strip() == compiled[number - 1].strip()


@given(st.text(max_size=80), st.text(max_size=80), st.integers(-3, 9), st.integers(-3, 99))
def test_any_two_texts_have_an_answer_inside_the_file(raw: str, compiled: str, line: int, column: int) -> None:
    found, _ = locate(raw, compiled, line, column)
    assert 1 <= found <= raw.count("\n") + 1
