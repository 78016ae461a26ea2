"""What is declared once stays declared once: kinds of runs, matches, commands, modules that need a reason."""

from __future__ import annotations

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from tests.architecture.test_structure import MODULES, REPO, SOURCES, imported, shown
from turnier.commands.app import COMMANDS
from turnier.runs.declared.kinds import KINDS

OTHERS = {"server", "play", "experiment"}  # kinds without a plan
KNOWING = {  # files that ask for a kind by its name, each for its own
    "dashboards/kinds/tournament.py",
    "dashboards/summaries/matches.py",  # rates all tournaments of a game
    "platform/results/archive/writing.py",  # what Optuna keeps is not archived
    "platform/results/upgrade/rows.py",  # stores of earlier versions
    "platform/runs/stored/certainty.py",
    "platform/search/definition.py",
    "platform/search/storage/study_repair.py",
}
MOST_COMMANDS = 21
MOST_ALONE = 73  # modules with one importer, in their own folder; 108 before runs were declared


def kinds_in(path: Path) -> Iterator[str]:
    """Yields the kinds that a file compares with, selects by, or has a case for."""
    for node in ast.walk(ast.parse(path.read_text())):
        parts: list[ast.expr | None] = []
        if isinstance(node, ast.Compare) and re.search(r"\bkind\b", ast.unparse(node)):
            parts = [node.left, *node.comparators]
        elif isinstance(node, ast.keyword) and node.arg == "kind":
            parts = [node.value]
        found = {part.value for each in parts if each for part in ast.walk(each) if isinstance(part, ast.Constant)}
        if isinstance(node, ast.Dict | ast.Tuple | ast.List):
            each = node.keys if isinstance(node, ast.Dict) else node.elts
            several = {part.value for part in each if isinstance(part, ast.Constant)} & (KINDS.keys() | OTHERS)
            found |= several if len(several) > 2 else set()
        yield from found & (KINDS.keys() | OTHERS)


def test_nobody_but_the_declared_knows_the_kinds_of_runs() -> None:
    assert {shown(path) for path in SOURCES if set(kinds_in(path))} == KNOWING


def test_players_that_follow_a_match_are_known_to_one_loop() -> None:
    arena = [path for path in SOURCES if path.is_relative_to(REPO / "platform/arena")]
    assert [shown(path) for path in arena if "FollowingPlayer)" in path.read_text()] == ["platform/arena/table.py"]


def test_there_are_few_commands() -> None:
    assert len(COMMANDS) <= MOST_COMMANDS


def test_few_modules_are_imported_by_one_of_their_folder_alone() -> None:
    importers: dict[str, set[str]] = defaultdict(set)
    for module, path in MODULES.items():
        for name in imported(path, module):
            if name in MODULES and name != module:
                importers[name].add(module)
    alone = [
        name for name, by in importers.items() if {one.rpartition(".")[0] for one in by} == {name.rpartition(".")[0]}
    ]
    assert sum(len(importers[name]) == 1 for name in alone) <= MOST_ALONE
