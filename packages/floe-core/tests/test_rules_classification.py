"""Classes travel with values: along renames, joins and expressions, into ports, and never silently out of sight."""

from __future__ import annotations

from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rule_context import context, model

from floe_core.classes import Classes, Classified, Travel, travel, uncovered
from floe_core.findings import Finding, Place, Severity
from floe_core.order import Cover
from floe_core.project import Column, Config
from floe_core.rules import enforce
from floe_core.rules.classification import Port, check_losses, check_names, check_ports, check_unfollowed
from floe_core.schemas.levels import ClassificationLevel, FieldClass
from floe_core.sql.cache import FactsCache
from floe_core.sql.lineage import PYTHON, Readable, derive, relations

PUBLIC, INTERNAL, IDENTIFIER, CONFIDENTIAL, PII, PHI, SENSITIVE, RESTRICTED = FieldClass
SOURCE = {"id": (), "email": (PII,), "note": (PHI, PII), "plan": (INTERNAL,)}

Said = Mapping[str, Classes]


def place(node: str, column: str | None) -> Place:
    return Place(f"{node}.yml", 1, 1 if column is None else 2)


def project(
    *models: tuple[str, str, Said],
    source: Said = SOURCE,
    default: Classes = (),
    foreign: tuple[str, ...] = ("raw",),
) -> Travel:
    """A source `raw`, then models by name, SQL and what their columns say; each may read all before it."""
    readable = [Readable("raw", "raw", "db.raw", tuple(source), is_table=True)]
    for name, sql, _ in models:
        reads = tuple(node.id for node in readable)
        language = "python" if sql == "python" else "sql"
        readable.append(Readable(name, name, f"db.{name}", reads=reads, sql=sql, language=language))
    facts = derive(readable, FactsCache())
    said = {"raw": source, **{name: columns for name, _, columns in models}}
    return travel(
        Classified(
            node.id, node.name, relations(node.name, node.relation), said[node.id],
            default if node.is_table else (), node.reads, facts.get(node.id), judged=node.id not in foreign,
        )
        for node in readable
    )  # fmt: skip


def losses(result: Travel) -> list[Finding]:
    return list(check_losses(result, place))


def test_omission_inherits() -> None:
    result = project(
        ("silver", "select id, upper(email) as mail, note from db.raw", {}),
        ("gold", "select s.mail as contact, s.id from db.silver s", {"contact": ()}),
    )
    assert losses(result) == []
    assert result.classes("gold", "contact") == (PII,)
    assert result.classes("silver", "note") == (PHI, PII)
    assert result.classes("gold", "id") == ()


def test_a_weaker_class_is_found_with_the_way_it_came() -> None:
    result = project(
        ("silver", "select email as mail from db.raw", {}),
        ("gold", "select sha2(mail, 256) as contact from db.silver", {"contact": (PUBLIC,)}),
    )
    (item,) = losses(result)
    assert item.message == (
        "gold.contact is classified public, and holds pii data: raw.email → silver.mail → gold.contact"
    )
    assert (item.code, item.severity, item.place) == ("FLOE-E340", Severity.ERROR, Place("gold.yml", 1, 2))
    assert (item.expected, item.actual) == ("[pii] or stronger", "[public]")
    assert [(other.place, other.message) for other in item.related] == [
        (Place("raw.yml", 1, 2), "raw.email is pii")
    ]


def test_what_was_lost_once_is_still_known_below() -> None:
    result = project(
        ("silver", "select email from db.raw", {"email": (PUBLIC,)}),
        ("gold", "select email from db.silver", {}),
    )
    assert len(losses(result)) == 1
    assert result.classes("gold", "email") == (PII,)


@pytest.mark.parametrize(
    ("column", "said", "missing"),
    [
        ("email", (PII,), ()),
        ("email", (RESTRICTED,), ()),
        ("email", (PHI,), (PII,)),
        ("email", (PHI, PII), ()),
        ("email", (CONFIDENTIAL,), (PII,)),
        ("note", (PII,), (PHI,)),
        ("note", (PHI, PII), ()),
        ("note", (RESTRICTED,), ()),
        ("plan", (IDENTIFIER,), ()),
        ("plan", (PUBLIC,), (INTERNAL,)),
        ("id", (PUBLIC,), ()),
    ],
)
def test_dropping_one_of_several_is_a_loss(column: str, said: Classes, missing: Classes) -> None:
    result = project(("gold", "select ? as x from db.raw".replace("?", column), {"x": said}))
    assert [loss.missing for loss in result.losses] == ([missing] if missing else [])


def test_filters_joins_and_counts_hand_nothing_on() -> None:
    sql = """
        select r.id, count(distinct r.email) as people, row_number() over (partition by r.email order by r.id) as rn
        from db.raw r join db.raw s on r.email = s.email where r.note is not null group by r.id
    """
    result = project(("gold", sql, {"people": (PUBLIC,), "rn": (PUBLIC,), "id": (PUBLIC,)}))
    assert losses(result) == []


def test_a_class_of_the_whole_table_is_that_of_every_column() -> None:
    result = project(("gold", "select id as x, more as y from db.raw", {}), source={"id": ()}, default=(SENSITIVE,))
    assert result.classes("gold", "x") == result.classes("gold", "y") == (SENSITIVE,)


def test_a_model_that_cannot_be_followed_says_so_when_it_reads_classified_columns() -> None:
    pivot = "select * from (select email, plan from db.raw) pivot (max(email) for plan in ('a', 'b'))"
    result = project(("silver", pivot, {}), ("gold", "python", {}))
    assert [(item.code, item.severity, item.message) for item in check_unfollowed(result, place)] == [
        (
            "FLOE-E341",
            Severity.WARNING,
            "silver cannot be followed, and reads classified columns of raw: PIVOT",
        ),
        (
            "FLOE-E341",
            Severity.WARNING,
            f"gold cannot be followed, and reads classified columns of raw, silver: {PYTHON.not_followed}",
        ),
    ]


def test_a_model_that_cannot_be_followed_and_reads_nothing_classified_is_silent() -> None:
    result = project(("gold", "python", {}), source={"id": (), "name": (PUBLIC,)})
    assert list(check_unfollowed(result, place)) == []


def test_a_class_declared_in_a_model_that_cannot_be_followed_travels_on() -> None:
    result = project(
        ("silver", "python", {"mail": (PII,)}), ("gold", "select mail as m from db.silver", {"m": (PUBLIC,)})
    )
    assert [(loss.node, loss.missing) for loss in result.losses] == [("gold", (PII,))]


def port(level: ClassificationLevel | None = None, **columns: Classes) -> Port:
    said = {name: (classes, Place("floe.yaml", 9)) for name, classes in columns.items()}
    return Port(
        "customers", ("gold",), Place("floe.yaml", 5), level, Place("floe.yaml", 7) if level else None, said
    )


GOLD: tuple[str, str, Said] = ("gold", "select id, email, plan from db.raw", {})
LEVELS = ClassificationLevel


def ports(one: Port, minimum: ClassificationLevel | None = None) -> list[Finding]:
    return list(check_ports(project(GOLD), [one], place, minimum))


def test_a_port_column_holds_what_the_model_hands_it() -> None:
    (item,) = ports(port(LEVELS.CONFIDENTIAL, email=(INTERNAL,), plan=()))
    assert (
        item.message == "email of port customers is classified internal, and holds pii data: raw.email → gold.email"
    )
    assert (item.code, item.place) == ("FLOE-E340", Place("floe.yaml", 9))
    assert ports(port(LEVELS.CONFIDENTIAL, email=(PII,), plan=())) == []


@pytest.mark.parametrize(
    ("one", "minimum", "expected"),
    [
        (port(LEVELS.CONFIDENTIAL), None, []),
        (port(LEVELS.RESTRICTED), LEVELS.INTERNAL, []),
        (port(LEVELS.INTERNAL), None, ["FLOE-E342 floe.yaml:7:1"]),
        (port(LEVELS.PUBLIC), LEVELS.INTERNAL, ["FLOE-E343 floe.yaml:7:1", "FLOE-E342 floe.yaml:7:1"]),
        (port(LEVELS.CONFIDENTIAL), LEVELS.RESTRICTED, ["FLOE-E343 floe.yaml:7:1"]),
        (port(), None, ["FLOE-E342 floe.yaml:5:1"]),
        (port(), LEVELS.INTERNAL, ["FLOE-E342 floe.yaml:5:1"]),
        (port(), LEVELS.CONFIDENTIAL, []),
        (port(LEVELS.CONFIDENTIAL, id=(RESTRICTED,)), None, ["FLOE-E342 floe.yaml:7:1"]),
    ],
)
def test_a_port_is_as_protected_as_its_columns_and_the_minimum(
    one: Port, minimum: ClassificationLevel | None, expected: list[str]
) -> None:
    assert [f"{item.code} {item.place}" for item in ports(one, minimum)] == expected


def test_the_columns_that_a_port_is_too_low_for_are_named() -> None:
    (item,) = ports(port(LEVELS.INTERNAL))
    assert item.message == "port customers is INTERNAL and offers email"
    assert (item.expected, item.actual) == ("at least CONFIDENTIAL", "INTERNAL")
    (item,) = ports(port())
    assert item.message == "port customers has no classification of its own, so PUBLIC, and offers email"


def test_a_personal_name_is_reported_where_it_first_appears() -> None:
    result = project(
        ("silver", "select id, phone, email as mail_address, 'x' as ssn from db.raw", {}),
        ("gold", "select phone as phone_number, ssn from db.silver", {}),
        source={"id": (), "phone": (), "email": (PII,), "first_name": (PUBLIC,)},
    )
    found = [item for node in ("silver", "gold") for item in check_names(result, node, place)]
    assert [(item.code, item.severity, item.message) for item in found] == [
        ("FLOE-E344", Severity.WARNING, "silver.phone looks like personal data and is not classified"),
        ("FLOE-E344", Severity.WARNING, "silver.ssn looks like personal data and is not classified"),
    ]


def test_a_class_that_a_port_gives_travels_on_and_is_judged_at_the_port_alone() -> None:
    raw = Classified("raw", "raw", ("db.raw",), {"email": (PII,)}, judged=False)
    read = Readable("gold", "gold", "db.gold", reads=("raw",), sql="select email, id from db.raw")
    facts = derive([Readable("raw", "raw", "db.raw", ("email", "id"), is_table=True), read], FactsCache())["gold"]
    given = {"email": (PUBLIC,), "id": (INTERNAL,)}
    result = travel([raw, Classified("gold", "gold", ("db.gold",), reads=("raw",), facts=facts, given=given)])
    assert result.losses == []
    assert (result.classes("gold", "email"), result.classes("gold", "id")) == ((PII,), (INTERNAL,))


def test_a_class_of_a_whole_model_is_read_and_must_be_known() -> None:
    columns = {name: Column(name) for name in ("id", "plan")}
    for said, code in (("pii", "FLOE-E342"), ("secret", "FLOE-E240")):
        node = model("a", columns=columns, config=Config(meta={"floe": {"classification": said}}))
        found = enforce(context({}, nodes=(node,), product={"output_ports": [{"name": "a"}]})).findings
        assert [item.code for item in found] == [code]


def test_what_a_package_hides_is_said_by_the_first_model_that_reads_it() -> None:
    result = project(
        ("theirs", "python", {}),
        ("ours", "select mail from db.theirs", {}),
        ("below", "select mail from db.ours", {}),
        foreign=("raw", "theirs"),
    )
    assert [item.message for item in check_unfollowed(result.of("ours"), place)] == [
        "ours reads theirs of a package, where classified columns cannot be followed"
    ]


def test_a_port_is_judged_without_a_model_and_once_for_all_versions() -> None:
    alone = Port(
        "customers", (), Place("floe.yaml", 5), LEVELS.PUBLIC, columns={"id": ((PII,), Place("floe.yaml", 9))}
    )
    found = check_ports(Travel(), [alone], place, LEVELS.INTERNAL)
    assert [item.code for item in found] == ["FLOE-E343", "FLOE-E342"]
    versions = Port("customers", ("v1", "v2"), Place("floe.yaml", 5), LEVELS.PUBLIC)
    both = travel(Classified(name, "gold", (name,), {"email": (PII,)}) for name in versions.nodes)
    assert [item.code for item in check_ports(both, [versions], place, LEVELS.INTERNAL)] == [
        "FLOE-E343",
        "FLOE-E342",
    ]


CLASS_SETS = st.lists(st.sampled_from(FieldClass), max_size=4, unique=True).map(tuple)


@given(CLASS_SETS, CLASS_SETS, CLASS_SETS)
def test_the_order_on_sets_is_the_one_of_inheritance(one: Classes, two: Classes, three: Classes) -> None:
    order = Cover()
    assert (uncovered(one, two) == ()) == order.holds(one, two)
    assert order.holds(one, one)
    assert not (order.holds(one, two) and order.holds(two, three)) or order.holds(one, three)
    assert order.holds(order.join(one, two), one)
    assert order.holds(order.join(one, two), two)


@given(CLASS_SETS, CLASS_SETS)
def test_what_is_in_force_below_holds_against_what_is_above(above: Classes, below: Classes) -> None:
    result = project(
        ("gold", "select concat(a, b) as x from db.raw", {"x": below}), source={"a": above, "b": (PII,)}
    )
    assert Cover().holds(result.classes("gold", "x"), (*above, *below, PII))
