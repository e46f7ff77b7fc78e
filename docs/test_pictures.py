"""The terminal pictures show what the commands print today."""

# ruff: noqa: S101 - assert is how pytest speaks

from __future__ import annotations

import re
from pathlib import Path
from xml.etree import ElementTree

import pytest
from docs.draw import SCENES, Scene, draw
from docs.repo import ROOT, keep_current

PICTURES = sorted(path.relative_to(ROOT).as_posix() for path in ROOT.glob("docs/pictures/*.svg"))


@pytest.mark.parametrize("scene", SCENES, ids=lambda scene: scene.name)
def test_picture_is_current(scene: Scene, tmp_path: Path) -> None:
    picture = draw(scene, tmp_path)
    assert str(tmp_path) not in picture
    keep_current(f"docs/pictures/{scene.name}.svg", picture)


@pytest.mark.parametrize("picture", PICTURES)
def test_picture_stands_alone(picture: str) -> None:
    text = (ROOT / picture).read_text(encoding="utf-8")
    ElementTree.fromstring(text)  # noqa: S314 - our own file
    namespaces = re.sub(r"xmlns(:\w+)?=\"[^\"]*\"|<!--.*?-->", "", text, flags=re.DOTALL)
    assert "http" not in namespaces
    assert "<script" not in text
