"""Every code has a case: `cases/CODE/bad` finds exactly what its `expected` says, and `good` is the same, repaired.

A line of `expected` is `path:line:column CODE`.
"""

from __future__ import annotations

from pathlib import Path

import pytest
import standins

from floe_core.codes import CODES
from floe_core.compile import Outcome, compile_project
from floe_core.source import MAX_BYTES

CASES = Path(__file__).parent / "cases"
PRODUCT = 'apiVersion: floe.dev/v1\nkind: DataProduct\nmetadata: {name: orders, version: "1.0"}\n'

# Files too large to keep: the bad one, the good one, and what is found in the bad one.
GENERATED = {
    "FLOE-E102": (PRODUCT.ljust(MAX_BYTES + 1, "\n"), PRODUCT.ljust(MAX_BYTES, "\n"), ["floe.yaml:1:1 FLOE-E102"]),
}

# Codes that no compile of files can print, and where their tests are.
ELSEWHERE = {
    "FLOE-E000": "packages/floe-cli/tests/test_main.py",
    "FLOE-E001": "packages/floe-cli/tests/test_main.py",
    "FLOE-E700": "packages/floe-spark/tests/test_java.py",
    "FLOE-E701": "packages/floe-spark/tests/test_jars.py",
    "FLOE-E702": "packages/floe-spark/tests/test_jars.py",
    "FLOE-E703": "packages/floe-spark/tests/test_jars.py",
    "FLOE-E704": "packages/floe-spark/tests/test_jars.py",
    "FLOE-E705": "packages/floe-spark/tests/test_jvm.py",
    "FLOE-E706": "packages/floe-spark/tests/test_jars.py",
    "FLOE-E707": "packages/floe-spark/tests/test_engine.py",
    "FLOE-E300": "testing/test_compile_cases.py",
    "FLOE-E301": "testing/test_compile_cases.py",
    "FLOE-E302": "packages/floe-dbt/tests/test_locate.py",
    "FLOE-E303": "testing/test_compile_cases.py",
    "FLOE-E304": "testing/test_compile_cases.py",
    "FLOE-E305": "testing/test_compile_cases.py",
    "FLOE-E306": "testing/test_compile_cases.py",
    "FLOE-E710": "packages/floe-spark/tests/test_macros.py",
    "FLOE-E711": "packages/floe-spark/tests/test_macros.py",
    "FLOE-E712": "packages/floe-spark/tests/test_macros.py",
    "FLOE-E713": "packages/floe-dbt/tests/test_run.py",
    "FLOE-E740": "packages/floe-core/tests/test_verdicts.py",
    "FLOE-E741": "packages/floe-core/tests/test_verdicts.py",
    "FLOE-E742": "packages/floe-core/tests/test_verdicts.py",
    "FLOE-E743": "packages/floe-core/tests/test_verdicts.py",
    "FLOE-E720": "packages/floe-spark/tests/test_run.py",
    "FLOE-E750": "packages/floe-spark/tests/test_evolution.py",
    "FLOE-E751": "packages/floe-spark/tests/test_run.py",
    "FLOE-E721": "packages/floe-spark/tests/test_run.py",
    "FLOE-E730": "plugins/floe-catalog-sql/tests/test_publication.py",
    "FLOE-E731": "packages/floe-spark/tests/test_staged_changes.py",
    "FLOE-E733": "packages/floe-spark/tests/test_staged_changes.py",
    "FLOE-E732": "packages/floe-iceberg/tests/test_publisher.py",
    "FLOE-E734": "packages/floe-iceberg/tests/test_publisher.py",
    "FLOE-E735": "packages/floe-iceberg/tests/test_publisher.py",
    "FLOE-E800": "packages/floe-cli/tests/test_doctor.py",
    "FLOE-E801": "packages/floe-core/tests/test_plugins.py",
    "FLOE-E802": "packages/floe-core/tests/test_plugins.py",
    "FLOE-E803": "packages/floe-core/tests/test_plugins.py",
    "FLOE-E804": "packages/floe-core/tests/test_plugins.py",
    "FLOE-E805": "packages/floe-core/tests/test_plugins.py",
    "FLOE-E809": "packages/floe-core/tests/test_rule_plugins.py",
    "FLOE-E806": "packages/floe-core/tests/test_catalog.py",
    "FLOE-E807": "plugins/floe-catalog-sql/tests/test_sql_catalog.py",
    "FLOE-E808": "packages/floe-core/tests/test_references.py",
    "FLOE-E145": "testing/test_compile_cases.py",
    "FLOE-E900": "packages/floe-core/tests/test_compile.py",
    "FLOE-E901": "packages/floe-core/tests/test_artifacts.py",
    "FLOE-E902": "packages/floe-core/tests/test_artifacts.py",
    "FLOE-E903": "packages/floe-core/tests/test_artifacts.py",
    "FLOE-E904": "packages/floe-core/tests/test_compiled.py",
    "FLOE-E540": "packages/floe-core/tests/test_claims.py",
    "FLOE-E601": "testing/test_compile_cases.py",
    "FLOE-E602": "testing/test_compile_cases.py",
    "FLOE-E603": "testing/test_compile_cases.py",
    "FLOE-E604": "testing/test_compile_cases.py",
    "FLOE-E605": "testing/test_compile_cases.py",
    "FLOE-E606": "testing/test_compile_cases.py",
    "FLOE-E607": "testing/test_compile_cases.py",
    "FLOE-E608": "testing/test_compile_cases.py",
    "FLOE-E609": "packages/floe-core/tests/test_claims.py",
    "FLOE-E610": "packages/floe-core/tests/test_claims.py",
    "FLOE-E611": "packages/floe-iceberg/tests/test_registration.py",
    "FLOE-E612": "testing/test_compile_cases.py",
    "FLOE-E613": "packages/floe-iceberg/tests/test_commands.py",
    "FLOE-E614": "testing/test_compile_cases.py",
    "FLOE-E620": "testing/test_compile_cases.py",
    "FLOE-E621": "packages/floe-iceberg/tests/test_registry.py",
    "FLOE-E622": "packages/floe-iceberg/tests/test_registry.py",
    "FLOE-E623": "packages/floe-iceberg/tests/test_registry.py",
    "FLOE-E630": "packages/floe-iceberg/tests/test_identity.py",
    "FLOE-E631": "packages/floe-iceberg/tests/test_identity.py",
    "FLOE-E632": "testing/test_registered_contracts.py",
}

# Codes of rules: their cases are dbt projects, and test_rule_cases.py runs them.
RULE_CASES = sorted(path.name for path in (CASES.parent / "rule_cases").iterdir() if path.is_dir())
CONTRACT_CODES = [f"FLOE-E{number}" for number in (*range(500, 515), *range(520, 528), *range(530, 533))]
ELSEWHERE |= dict.fromkeys(CONTRACT_CODES, "packages/floe-contracts/tests/test_cases.py")

FOLDERS = sorted(path for path in CASES.iterdir() if path.is_dir())


def check(folder: Path) -> Outcome:
    """What a compile says about the folder, without writing in it."""
    return compile_project(folder, standins.env(check=True))


def found(folder: Path) -> list[str]:
    """What a compile of the folder finds, as `expected` writes it."""
    home = folder.resolve()
    return sorted(
        f"{Path(item.path).resolve().relative_to(home).as_posix()}:{item.line}:{item.column} {item.code}"
        for item in check(folder).findings
    )


def test_every_code_has_its_case() -> None:
    with_case = [*(folder.name for folder in FOLDERS), *RULE_CASES, *GENERATED, *ELSEWHERE]
    assert sorted(with_case) == sorted(CODES)


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_bad_files_find_exactly_what_is_expected(folder: Path) -> None:
    expected = (folder / "bad" / "expected").read_text().splitlines()
    assert found(folder / "bad") == expected
    assert {line.split(" ")[1] for line in expected} == {folder.name}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_the_good_files_compile(folder: Path) -> None:
    outcome = check(folder / "good")
    assert outcome.findings == ()
    assert outcome.chain
    assert outcome.chain.product.document.metadata.name == "customer-360"


@pytest.mark.parametrize("code", GENERATED)
def test_files_too_large_to_keep_find_what_is_expected(tmp_path: Path, code: str) -> None:
    bad, good, expected = GENERATED[code]
    (tmp_path / "floe.yaml").write_text(bad)
    assert found(tmp_path) == expected
    (tmp_path / "floe.yaml").write_text(good)
    assert found(tmp_path) == []
    assert {line.split(" ")[1] for line in expected} == {code}


@pytest.mark.parametrize("folder", FOLDERS, ids=lambda folder: folder.name)
def test_every_finding_teaches(folder: Path) -> None:
    """It says what, why and how to repair it, and shows no inside of floe."""
    for item in check(folder / "bad").findings:
        assert item.message
        assert item.why.endswith((".", "!"))
        assert item.fix
        for text in (item.message, item.fix, item.expected or "", item.actual or ""):
            assert "Node(" not in text
            assert "<class" not in text
            assert "None" not in text
