"""`turnier new`: writes a small working game, agent, evaluator or sampler to begin with, and its test."""

from __future__ import annotations

import importlib.util
import os
import sys
from importlib import resources
from pathlib import Path
from typing import Annotated

import typer

from ...core.errors import UserError, unknown
from ...core.terminal.visible import say

TEMPLATES = {  # kind -> option -> file in templates/; the empty option is the default
    "game": {"": "game", "--python": "python_game"},
    "agent": {"": "agent", "--kernel": "kernel_agent"},
    "evaluator": {"": "evaluator"},
    "sampler": {"": "sampler"},
}
MAX_NAME = 100  # characters: a file's name has room for 255 bytes
NEXT = {
    "game": (
        "turnier check {own}",
        'turnier play {own} "mcts(iterations=100)" random --show',
        'turnier tournament {own} random "mc(iterations=20)" "mcts(iterations=100)" --games 20',
    ),
    "agent": (
        "turnier check {own}",
        "turnier play tictactoe {own} random --show",
        'turnier tournament tictactoe {own} random "mcts(iterations=100)" --games 20',
    ),
    "evaluator": (
        "turnier check {own}",
        'turnier play tictactoe "mcts(iterations=100,evaluator={own})" random --show',
        'turnier tournament tictactoe "mcts(iterations=100,evaluator={own})" "mcts(iterations=100)" --games 20',
    ),
    "sampler": (
        "turnier check {own}",
        'turnier tune nim "mcts(iterations=20)" --parameters exploration=0..4 --against "mcts(iterations=20)"'
        " --sampler {own} --budget 400games",
    ),
}


def new(
    kind: Annotated[str, typer.Argument(help="game, agent, evaluator or sampler")],
    name: Annotated[str, typer.Argument(help="name of the file, without .py; the class is named after it")],
    python: Annotated[bool, typer.Option("--python", help="write the game in plain Python instead of kernels")] = False,
    kernel: Annotated[
        bool, typer.Option("--kernel", help="write the agent as a compiled kernel instead of in Python")
    ] = False,
) -> None:
    """Create a small working game, agent, evaluator or sampler of your own, with a test.

    Writes NAME.py and test_NAME.py into the current folder, overwrites nothing, and prints the commands to try next.

    \b
    Examples:
      turnier new agent first_bot
      turnier new game heap --python
    """
    if kind not in TEMPLATES:
        raise unknown("kind", kind, TEMPLATES)
    written_as = "--python" * python + "--kernel" * kernel
    if written_as not in TEMPLATES[kind]:
        allowed = " or ".join(filter(None, TEMPLATES[kind])) or "neither --python nor --kernel"
        raise UserError(f"{kind} takes {allowed}, got {written_as.replace('n--', 'n and --')}; leave it out.")
    module, test = _files(name)
    cls = "".join(part.capitalize() for part in name.split("_"))
    template = TEMPLATES[kind][written_as]
    module.write_text(_filled(template, name, cls))
    test.write_text(_filled("laws", name, cls))
    say(f"Written: {module}, with the class {cls}, and its test {test}. Edit it as you like, and type:\n")
    for command in NEXT[kind]:
        say(f"  {command.format(own=f'{module}:{cls}')}")
    say(f"  {Path(sys.executable).name} -m pytest {test}")


def _files(name: str) -> tuple[Path, Path]:
    """Returns the two files; raises UserError if they cannot be written or would hide others."""
    if not name.isidentifier() or name != name.lower() or name.startswith("_") or len(name) > MAX_NAME:
        raise UserError(f"a name takes small letters, digits and underscores only, such as first_bot, got {name!r}.")
    module, test = Path(f"{name}.py"), Path(f"test_{name}.py")
    for file in (module, test):
        if os.path.exists(file):
            raise UserError(f"{file} exists already; choose another name, or remove it.")
    if importlib.util.find_spec(name) is not None:
        raise UserError(f"{name} is a module that Python has already; choose another name.")
    return module, test


def _filled(template: str, name: str, cls: str) -> str:
    """Returns a template's text for a module and its class."""
    text = (resources.files("turnier.commands.own.templates") / f"{template}.py").read_text()
    text = text.replace("turnier.commands.own.templates.agent", name)
    return text.replace("MODULE", name).replace("Template", cls)
