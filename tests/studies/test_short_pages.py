"""The short page of an experiment: a table between two marked lines, in a text that is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from turnier.arena.workers.local import SerialExecutor
from turnier.core.errors import UserError
from turnier.results.store.store import Store
from turnier.runs.experiments.experiment import Experiment
from turnier.runs.experiments.row import Row
from turnier.studies.campaigns.document import END_OF_TABLE, TABLE, write_page
from turnier.studies.campaigns.statements import Statement, higher

ROWS = (
    Row("searching", "2048(size=3)", ("mc(iterations=5,rollout_depth=9)",), 40, "score"),
    Row("at random", "2048(size=3)", ("random",), 40, "score"),
    Row("reached", "2048(size=3)", ("random",), 40, "reaches_1024"),
    Row("not yet", "2048(size=3)", ("mcts(iterations=9)",), 40, "score"),
)
FIRST = Experiment("guide", "wish-paper", "A wish", "What is played.", ROWS)
SEARCH = Statement("G1", "1.1", "To search is better.", "guide:wish", (higher("searching", "at random"),))


def test_the_table_follows_the_games_and_the_text_stays(tmp_path: Path) -> None:
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store, SerialExecutor() as pool:
        Experiment("guide", "wish-paper", "A wish", "What is played.", ROWS[:3]).run(store, where=pool, progress=False)
        page, picture = write_page(store, FIRST, [SEARCH], tmp_path)
        assert (page.name, picture.name) == ("wish.md", "wish.png") and picture.stat().st_size > 5_000
        text = page.read_text()
        assert text.startswith("# A wish\n\nWhat is played.\n\n![A wish](wish.png)\n")
        rows = [line.split(" | ") for line in text.splitlines() if line.startswith("| ")]
        by_label = {row[0].removeprefix("| "): row for row in rows}
        ours, random = (float(by_label[label][1].split()[0].replace(",", "")) for label in ("searching", "at random"))
        assert by_label["searching"][2] == by_label["reached"][2] == ""
        less = float(by_label["at random"][2].split()[0].replace(",", ""))
        assert less == pytest.approx(random - ours, abs=2) and less < 0
        assert by_label["not yet"][1:3] == ["not played yet", ""]
        assert "**G1: holds.** To search is better. (1.1) searching minus at random: " in text
        page.write_text(text.replace("What is played.", "By hand.").replace("G1: holds", "old"))
        write_page(store, FIRST, [SEARCH], tmp_path)
        assert page.read_text() == text.replace("What is played.", "By hand.")
        page.write_text("No table.")
        with pytest.raises(UserError, match="must have the lines"):
            write_page(store, FIRST, [], tmp_path)
        assert TABLE in text and END_OF_TABLE in text
