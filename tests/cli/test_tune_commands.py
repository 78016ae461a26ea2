"""Every command that `turnier tune` prints runs as it is printed."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import Any

from typer.testing import CliRunner

from turnier.commands.app import app
from turnier.results.store.store import Store
from turnier.search.storage.commands import tune_command
from turnier.search.storage.studies import run_id_of
from turnier.search.study import Study


def typed(*words: str) -> str:
    found = CliRunner().invoke(app, [*words, "--executor", "serial"], catch_exceptions=False)
    assert found.exit_code == 0, found.output
    return found.stdout


def tune(folder: Path, *words: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(typed("tune", *words, "--store", f"sqlite:///{folder}/a.db", "--json"))
    return found


def run(command: str) -> dict[str, Any]:
    """Types what was printed from `turnier` on."""
    found: dict[str, Any] = json.loads(typed(*shlex.split(command[command.index("turnier tune") :])[1:], "--json"))
    return found


def games(folder: Path, study: str) -> set[str]:
    with Store.open(f"sqlite:///{folder}/a.db", read_only=True) as store:
        return {record.spec.id for batch in store.records_of_run(run_id_of(study)) for record in batch}


def test_an_undecided_study_plays_on(tmp_path: Path) -> None:
    found = tune(
        tmp_path, "tictactoe", "mc(iterations=1)", "--params", "iterations=1..60", "--against", "random",
        "--budget", "96games", "--name", "small",
    )  # fmt: skip
    assert found["outcome"] == "undecided" and found["play_on"].startswith("To play on: turnier tune tictactoe ")
    before = games(tmp_path, "small")
    stored = json.loads(
        CliRunner()
        .invoke(app, ["results", "--run", "study:small", "--store", f"sqlite:///{tmp_path}/a.db", "--json"])
        .stdout
    )
    assert stored["verdict"]["play_on"] == found["play_on"]
    again = run(found["play_on"])
    assert again["study"] == "small" and again["games"] == 96 and before < games(tmp_path, "small")
    held_out = {row["label"]: row["units"] for row in found["finalists"]}
    more = {row["label"]: row["units"] for row in again["finalists"]}
    assert all(more[label] >= units for label, units in held_out.items()) and sum(more.values()) > sum(
        held_out.values()
    )


def test_the_command_of_a_study_finds_it_again(tmp_path: Path) -> None:
    """Whatever its options, which `tune_command` writes from what is stored."""
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        for options in (
            {"sampler": "tpe(population=4)", "noise": "racing(games=2)", "seed": 7},
            {"sampler": "cmaes_lr(population=4)", "against": ["mc(iterations=2)", "random"]},
            {"sampler": "cmaes(population=4)", "name": "two words"},
        ):
            agent, ranges = "mc(iterations=1,rollout_depth=5)", "rollout_depth,iterations=1..9:log"
            study = Study("tictactoe", agent, ranges, **({"against": "random"} | options))  # type: ignore[arg-type]
            ended = study.run(store, budget=24, verify=0.1, executor="serial", progress=False)
            definition, known = ended.run.definition, games(tmp_path, ended.run.definition.name)
            again = run(tune_command(store, definition, ended.verdict.budget, 0.1))
            assert again["study"] == definition.name and again["verdict"] == ended.verdict.sentence
            assert games(tmp_path, definition.name) == known
