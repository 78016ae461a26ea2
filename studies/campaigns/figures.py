"""Every figure of the documents at its published size: the experiments of all folders' scripts, as one list."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace

from turnier.core.errors import unknown
from turnier.runs.experiments.experiment import Experiment
from turnier.runs.experiments.trained import LearnedRow, TrainingStudy
from turnier.studies import beaten
from turnier.studies.brot import adaptive, habits, optima, strategies, table_network
from turnier.studies.brot import statements as brot
from turnier.studies.campaigns.statements import Statement
from turnier.studies.kutsch import agents, certainty, heuristics, learning, majority, open_questions, parameters
from turnier.studies.kutsch import statements as kutsch
from turnier.studies.kutsch import wishes as kutsch_wishes
from turnier.studies.staehli import matrices
from turnier.studies.staehli import statements as staehli
from turnier.studies.weitz import (
    board_sizes,
    first_move,
    learners,
    learners_elsewhere,
    opponents,
    playouts,
    table1,
    three_players,
    transfer,
)
from turnier.studies.weitz import statements as weitz

Figure = Experiment | TrainingStudy
PAPER = "paper"
PRESETS = (PAPER, "quick", "tiny")
# Searches and their documents: their own scripts run them, a campaign shares their games.
STUDIES = {"study:cmaes_heuristics-thesis": "kutsch"}
BUILDERS: tuple[Callable[[str], Iterable[Figure]], ...] = (
    *(agents.build, parameters.build, certainty.build, majority.build, heuristics.build, learning.build),
    *(open_questions.build, kutsch_wishes.build),
    *(table1.build, opponents.build, learners.build, learners_elsewhere.build),
    *(transfer.build, first_move.build, board_sizes.build, three_players.build, playouts.build),
    matrices.build,
    *(strategies.build, optima.build, adaptive.build, habits.build, table_network.build),
    beaten.build,
)


STATEMENTS = (*kutsch.STATEMENTS, *weitz.STATEMENTS, *staehli.STATEMENTS, *brot.STATEMENTS)


def shared_studies(preset: str = PAPER, only: Sequence[str] = ()) -> list[str]:
    """Returns the run ids of STUDIES that belong to the experiments of `figures` with the same arguments."""
    return [run for run, document in STUDIES.items() if preset == PAPER and (not only or document in only)]


def figures(preset: str = PAPER, only: Sequence[str] = ()) -> list[Figure]:
    """Returns the experiments of all scripts with a preset, each document's together.

    `paper` includes Weitz's learners of the preset `long`. `brot/tuning.py` has none: its results are those of
    searches.

    Args:
        preset: of PRESETS.
        only: documents, such as weitz, or experiments, such as weitz:table1; all if there are none.
    """
    if preset not in PRESETS:
        raise unknown("preset", preset, PRESETS)
    built = [figure for build in BUILDERS for figure in build(preset)]
    built += learners.build("long") if preset == PAPER else []
    documents = list(dict.fromkeys(figure.document for figure in built))
    names = {figure.run_id: figure.run_id.removesuffix(f"-{preset}") for figure in built}
    for name in only:
        if name not in (*documents, *names, *names.values()):
            raise unknown("document or experiment", name, [*documents, *names.values()])
    built = [_with_statements(figure) for figure in built] if preset == PAPER else built
    chosen = [f for f in built if not only or {f.document, f.run_id, names[f.run_id]} & set(only)]
    return sorted(chosen, key=lambda figure: documents.index(figure.document))


def statements_of(run_id: str) -> list[Statement]:
    """Returns the statements about an experiment."""
    return [statement for statement in STATEMENTS if statement.experiment == run_id.removesuffix(f"-{PAPER}")]


def _with_statements(figure: Figure) -> Figure:
    """Returns an experiment whose rows may have more games than planned if a statement is about them."""
    labels = {label for statement in statements_of(figure.run_id) for label in statement.rows}
    if isinstance(figure, Experiment):
        return replace(figure, rows=tuple(replace(row, extended=row.label in labels) for row in figure.rows))
    rows = [
        replace(row, row=replace(row.row, extended=row.row.label in labels))
        if isinstance(row, LearnedRow)
        else replace(row, extended=row.label in labels)
        for row in figure.rows
    ]
    return replace(figure, rows=rows)
