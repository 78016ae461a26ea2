"""Machines of a run on the command line: their table, the sample that is played again, the deletion of games."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy import select
from typer.testing import CliRunner, Result

from turnier.commands.app import app
from turnier.core.compilation.machine import machine_name
from turnier.core.errors import UserError
from turnier.results.integrity.replays import remove_matches
from turnier.results.store.schema import matches
from turnier.results.store.store import Store

OTHER = "workstation-with-a-long-name/10.77.0.12"
PLAY = ("tournament", "tictactoe", "random", "mc(iterations=20)", "--games", "200", "--executor", "serial")


def called(*words: str, answer: str = "", columns: int = 60) -> Result:
    env = {"COLUMNS": str(columns)}
    return CliRunner().invoke(app, list(words), input=answer, catch_exceptions=False, env=env)


@pytest.fixture
def url(tmp_path: Path) -> str:
    """A store in which a third of the games are another machine's, which lets the wrong seat win."""
    url = f"sqlite:///{tmp_path}/a.db"
    assert called(*PLAY, "--store", url).exit_code == 0
    with Store.open(url) as store:
        run = store.find_run("last")
        some = [record for batch in store.records_of_run(run.id) for record in batch][::3]
        with store.database.writing() as connection:
            mine = select(matches.c.number, matches.c.id).where(matches.c.id.in_([record.spec.id for record in some]))
            remove_matches(
                store.blocks, connection, run.id, {number: name for number, name in connection.execute(mine)}
            )
        store.append(run.id, [replace(record, scores=record.scores[::-1], worker=OTHER) for record in some])
    return url


def test_machines_fit_in_60_columns_and_the_one_that_differs_is_found_and_purged(url: str) -> None:
    shown = called("runs", "workers", "last", "--store", url)
    assert max(len(line) for line in shown.output.splitlines() if ": games of" not in line) <= 60
    assert machine_name() in shown.output and f"{OTHER}: games of " in shown.output
    assert f"{machine_name()}: games of " not in shown.output
    found = {
        row["worker"]: row for row in json.loads(called("runs", "workers", "last", "--json", "--store", url).output)
    }
    assert {name: row["games"] for name, row in found.items()} == {machine_name(): 133, OTHER: 67}
    assert len(found[OTHER]["residuals"]) == 2 and found[OTHER]["differs"] and not found[machine_name()]["differs"]

    verified = called("check", "last", "--sample", "100%", "--store", url, columns=200)
    assert verified.exit_code == 1 and " of 200 games that were played again went differently." in verified.output

    asked = called("runs", "purge", "last", "--worker", OTHER, "--store", url, answer="n\n")
    assert asked.exit_code == 1 and f"67 games of {OTHER} go from tournament:" in asked.output
    assert called("runs", "purge", "last", "--worker", OTHER, "--yes", "--store", url).exit_code == 0
    assert called(*PLAY, "--store", url).exit_code == 0
    assert called("check", "last", "--sample", "100%", "--store", url).output.endswith(
        ": all 200 games that were played again are the same.\n"
    )


def test_mistakes_are_said(url: str) -> None:
    for words, message in {
        ("check", "last", "--sample", "0", "--store", url): "must be a share above 0 and at most 100%, got 0",
        ("runs", "purge", "last", "--worker", "w9", "--yes", "--store", url): "must have played games of tournament:",
    }.items():
        with pytest.raises(UserError, match=message):
            called(*words)


def test_games_of_a_study_stay(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/a.db"
    study = ("tune", "2048(size=3)", "mc(iterations=2,rollout_depth=2)", "--params", "rollout_depth=1..8")
    assert called(*study, "--budget", "10games", "--executor", "serial", "--store", url).exit_code == 0
    with pytest.raises(UserError, match=r"games of a study must stay, got study:.*has searched with them"):
        called("runs", "purge", "last", "--worker", machine_name(), "--yes", "--store", url)
