"""Texts beside runs: they may change, and stores of the version before have none until a writer opens them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from turnier.core.errors import UserError
from turnier.results.store.annotations import NOTE, SETTINGS
from turnier.results.store.store import Store


@pytest.fixture
def own(tmp_path: Path) -> Iterator[Store]:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        store.begin_run("comparison:1", "comparison", "tictactoe", {})
        yield store


def test_a_text_replaces_the_earlier_one_and_an_empty_one_removes_it(own: Store) -> None:
    own.annotations.set("comparison:1", NOTE, "first try")
    own.annotations.set("comparison:1", SETTINGS, "{}")
    own.annotations.set("comparison:1", NOTE, "it's \N{SNOWMAN}")
    assert own.annotations.of_name(NOTE) == {"comparison:1": "it's \N{SNOWMAN}"}
    own.annotations.set("comparison:1", NOTE, "")
    assert own.annotations.get("comparison:1", NOTE) == ""
    assert own.annotations.get("comparison:1", SETTINGS) == "{}"


def test_only_runs_have_annotations(own: Store) -> None:
    with pytest.raises(UserError, match="run"):
        own.annotations.set("nothing:2", NOTE, "lost")
