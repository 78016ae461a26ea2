"""Every command that `turnier tune` prints runs as it is printed."""

from __future__ import annotations

import json
import re
import shlex
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from optuna.study import StudyDirection
from typer.testing import CliRunner

from turnier.agents.registry import AGENTS
from turnier.arena.play import play_matches
from turnier.arena.workers.local import SerialExecutor
from turnier.arena.workers.where import Where
from turnier.commands.app import app
from turnier.games.registry import GAMES
from turnier.results.store.store import Store
from turnier.search import LUCKY_EDITION
from turnier.search.definition import StudyDefinition
from turnier.search.objective import Objective, is_one_game
from turnier.search.planning import Strength
from turnier.search.storage.commands import Again, tune_command
from turnier.search.storage.hints import hints
from turnier.search.storage.studies import StoredStudy, run_id_of, stored_verdict
from turnier.search.storage.trials import generations_frame, trials_frame
from turnier.search.study import Study
from turnier.search.study_run import StudyRun
from turnier.search.verdict import BETTER


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
        tmp_path, "tictactoe", "mc(iterations=4)", "--params", "iterations=3..6", "--against", "random",
        "--budget", "48games", "--name", "small",
    )  # fmt: skip
    assert found["outcome"] == "undecided" and found["play_on"].startswith("To play on: turnier tune tictactoe ")
    before = games(tmp_path, "small")
    stored = json.loads(
        CliRunner().invoke(app, ["show", "study:small", "--store", f"sqlite:///{tmp_path}/a.db", "--json"]).stdout
    )
    assert stored["verdict"]["play_on"] == found["play_on"]
    again = run(found["play_on"])
    assert again["study"] == "small" and again["games"] == found["games"] and before < games(tmp_path, "small")
    held_out = {row["label"]: row["units"] for row in found["finalists"]}
    more = {row["label"]: row["units"] for row in again["finalists"]}
    assert all(more[label] >= units for label, units in held_out.items()) and sum(more.values()) > sum(
        held_out.values()
    )


FLAT = '''
from dataclasses import dataclass
from turnier import TERMINAL, PythonGame

@dataclass(frozen=True)
class Flat(PythonGame):
    """Every game scores one point."""
    name = "flat"
    num_seats = 1
    num_actions = max_legal = 2
    max_length = 2
    def begin(self):
        return (0,)
    def to_move(self, state):
        return TERMINAL if state[0] else 0
    def legal(self, state):
        return [0, 1]
    def step(self, state, ply):
        return (1,), (1.0,)
    def show(self, state):
        return str(state)
'''


def test_a_search_that_learns_nothing_says_what_to_do(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "flat.py").write_text(FLAT)
    assert CliRunner().invoke(app, ["new", "agent", "bot"]).exit_code == 0
    words = "flat.py:Flat", "bot.py:Bot", "--params", "surprise", "--budget", "18games"
    place = "--name", "flat", "--store", f"sqlite:///{tmp_path}/a.db", "--executor", "serial"
    shown = CliRunner().invoke(app, ["tune", *words, *place], catch_exceptions=False)
    said = "In the last 3 generations all candidates had the same value, so that there was nothing to learn"
    (line,) = [line for line in shown.stderr.splitlines() if said in line]
    assert "--budget" not in line  # the command is printed once, at the end
    again = CliRunner().invoke(app, ["tune", *words, *place, "--json"], catch_exceptions=False)
    found = json.loads(again.stdout)
    assert said not in again.stderr  # it is stored
    (hint,) = [hint for hint in found["hints"] if "nothing to learn" in hint]
    assert hint.startswith("In 3 of 3 generations all candidates had the same value")
    more = run(hint)
    assert (more["study"], more["noise"], more["games"]) == ("flat-2", "fixed(games=4)", 72)
    assert "flat-2-2" in next(hint for hint in more["hints"] if "nothing to learn" in hint)
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        sigma = generations_frame(store, "flat")["sigma"]
        assert len(sigma) == 3 and sigma.nunique() == 1


NTH = '''
from dataclasses import dataclass
import numpy as np
from turnier.agents.agent import Agent, Decision
from turnier.core.parameters import parameter

@dataclass(frozen=True)
class Nth(Agent):
    """Draws nothing: always one of the first legal actions, or with `luck` any."""
    place: int = parameter(0, "which one", low=0, high=8)
    luck: bool = parameter(False, "draw it")
    def start(self, game, seat=0, seed=0):
        return Plays(self, np.random.default_rng(seed))

class Plays:
    def __init__(self, agent, rng):
        self.agent, self.rng = agent, rng
    def act(self, position):
        legal = position.legal_actions()
        place = self.rng.integers(9) if self.agent.luck else self.agent.place
        empty = np.zeros(position.game.num_actions)
        return Decision(int(legal[place % len(legal)]), empty, empty, 0, 0.0)
'''


def test_one_game_again_and_again_is_no_verdict(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """24 times the same two games look like a sure gain."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nth.py").write_text(NTH)
    words = (
        "tictactoe",
        "nth.py:Nth(place=2)",
        "--params",
        "place=2..3",
        "--against",
        "nth.py:Nth(place=1)",
        "--budget",
        "12games",
    )
    found = tune(tmp_path, *words, "--sampler", "random(population=6)", "--name", "nth")
    units, half = ({row[key] for row in found["finalists"]} for key in ("units", "half_width"))
    assert found["outcome"] == "undecided" and units == {1} and half == {None}
    assert re.search(r"of 48 held-out games, .* and start each have played only 2 that differ", found["sentence"])
    assert not any("plateau" in hint for hint in found["hints"])
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        verdict = stored_verdict(store, "nth")
        assert verdict is not None and verdict.difference is not None and verdict.difference > 0
    command = found["play_on"][found["play_on"].index("turnier compare") :]
    assert json.loads(typed(*shlex.split(command)[1:], "--games", "8", "--json"))["games"] == 8


@pytest.mark.parametrize(
    ("agents", "units", "one"),
    [
        (("nth.py:Nth", "nth.py:Nth(place=2)"), 16, True),
        (("nth.py:Nth", "nth.py:Nth(place=2)"), 15, False),  # too few to believe it
        (("nth.py:Nth", "nth.py:Nth(luck=true)"), 16, False),
        (("greedy", "greedy"), 16, False),  # of ours, which are asked before the search
    ],
)
def test_units_that_are_one_game(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, agents: tuple[str, str], units: int, one: bool
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "nth.py").write_text(NTH)
    own, other = (AGENTS.make(agent).full_text() for agent in agents)
    objective = Objective(GAMES.make("tictactoe"), (other,), 1)
    asked = [objective.held_out_unit(own, number) for number in range(units)]
    records = {record.spec.id: record for record in play_matches([spec for unit in asked for spec in unit])}
    assert is_one_game(objective.game, asked, records) is one


def test_a_search_of_one_agent_says_so(tmp_path: Path) -> None:
    words = "tictactoe", "mcts(iterations=20)", "--params", "solver", "--against", "random", "--budget", "48games"
    found = tune(tmp_path, *words, "--sampler", "spsa(pairs=2)", "--name", "switch")
    (hint,) = [hint for hint in found["hints"] if "were one agent" in hint]
    assert hint.startswith("In 6 of 6 generations") and run(hint)["sampler"] == "grid"


def test_a_border_is_said_only_where_it_means_something(tmp_path: Path) -> None:
    """Not after one generation from a start that lies there; the command starts from what was shown to be better."""
    start = "mc(iterations=2,rollout_depth=20)"
    tiny = tune(tmp_path, "2048(size=2)", start, "--params", "rollout_depth=0..20", "--budget", "6games", "--name", "a")
    assert not any("border" in hint for hint in tiny["hints"])
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        known, verdict = store.run(run_id_of("a")).definition, stored_verdict(store, "a")
        trials, noted = trials_frame(store, "a"), generations_frame(store, "a")
        assert verdict is not None
        better, again = replace(verdict, outcome=BETTER, agent=start), Again.of(store, known, 6)
        (hint,) = hints(trials, noted, known, {"rollout_depth": 9}, better, again)
    assert "rollout_depth 20 of 0..20; search further: turnier tune '2048(size=2)'" in hint
    found = run(hint)
    assert found["study"] == "a-2" and found["finalists"][0]["agent"] == "mc(iterations=2)"  # its default depth


def test_a_larger_budget_continues_a_named_study_or_says_how(tmp_path: Path) -> None:
    words = "2048(size=2)", "mc(iterations=1)", "rollout_depth=0..20"
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        directions = StudyDirection.MAXIMIZE, StudyDirection.MINIMIZE
        for name, objectives in (("Study", "strength"), ("Front", "strength,time")):
            begun = Study(*words, name=name, objectives=objectives).question
            known = begun.settled(60, store)
            StoredStudy(store, known.name, known.stored, directions[: 1 + (name == "Front")], progress=False)
            assert begun.generation_games(begun.settled(60)) < begun.generation_games(begun.settled(6000))
            assert begun.settled(6000, store).stored == known.stored
        other = Study(*words, name="other").question.settled(6000, store)
        assert isinstance(other, StudyDefinition) and other.sampler == "cmaes_lr(population=64)"
        assert Study(*words, name="Study", seed=2).question.settled(6000, store).seed == 2
    shown = typed(
        "tune", *words[:2], "--params", words[2], "--budget", "210games", "--store", f"sqlite:///{tmp_path}/a.db"
    )
    assert "Study Study asks the same with cmaes_lr(population=6); this is a new" in shown
    (line,) = [line for line in shown.splitlines() if "To continue that one: turnier tune" in line]
    assert run(line.replace("210games", "12games"))["study"] == "Study"


@pytest.mark.parametrize("name", ["", "Study"])
def test_a_larger_budget_continues_a_study_of_many_parameters_with_its_sampler(tmp_path: Path, name: str) -> None:
    question = Study("2048", "mctse(iterations=1,evaluator=heuristics2048)", "evaluator.*", name=name).question
    assert isinstance(question, Strength)
    assert [question.settled(games).sampler for games in (3000, 3001)] == [
        "cmaes(population=64)",
        "cmaes_lr(population=64)",
    ]
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        begun = question.settled(900, store)
        StoredStudy(store, begun.name, begun.stored, (StudyDirection.MAXIMIZE,), progress=False)
        assert begun.sampler == "cmaes(population=30)" and question.settled(9000, store).stored == begun.stored
        assert "--sampler 'cmaes(population=30)'" in tune_command(store, begun, 9000)


def test_the_command_of_a_study_finds_it_again(tmp_path: Path) -> None:
    """Whatever its options, which `tune_command` writes from what is stored."""
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        for options in (
            {"sampler": "tpe(population=4)", "noise": "racing(games=2)", "against": ["mc(iterations=2)", "random"]},
            {"sampler": "cmaes(population=4)", "name": "two words", "seed": 7},
        ):
            agent, ranges = "mc(iterations=1,rollout_depth=5)", "rollout_depth,iterations=1..9:log"
            rest = {"against": ["random"], "budget": 32, "verify": 0.1} | options
            ended = Study("tictactoe", agent, ranges, **rest).run(  # type: ignore[arg-type]
                store, where=Where("serial"), progress=False
            )
            definition, known = ended.definition, games(tmp_path, ended.name)
            assert ended.verdict is not None
            again = run(tune_command(store, definition, ended.verdict.budget, 0.1))
            assert again["study"] == definition.name and again["sentence"] == ended.verdict.sentence
            assert games(tmp_path, definition.name) == known


def test_a_search_that_learns_nothing_ends_early(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """One of an earlier edition goes on."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "flat.py").write_text(FLAT)
    assert CliRunner().invoke(app, ["new", "agent", "bot"]).exit_code == 0
    words = "flat.py:Flat", "bot.py:Bot", "--params", "surprise", "--budget", "90games"
    place = "--name", "flat", "--store", f"sqlite:///{tmp_path}/a.db", "--executor", "serial"
    shown = CliRunner().invoke(app, ["tune", *words, *place], catch_exceptions=False)
    said = "The search ends after 60 of 90 games: in 10 generations in a row there was nothing to learn."
    assert said in shown.stderr and "the search found no other agent than the start; keep it" in shown.stdout
    assert "Held-out games" not in shown.stdout  # a table without any
    with Store.open(f"sqlite:///{tmp_path}/a.db") as store:
        definition = StudyDefinition.of_stored(store.run("study:flat").definition)
        earlier = StudyRun(store, replace(definition, name="earlier", edition=LUCKY_EDITION), progress=False)
        earlier.run_budget(90, SerialExecutor())
        assert earlier.course.games == 90 and earlier.course.alike == 15
