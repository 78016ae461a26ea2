"""Options and arguments that several commands have, each declared once.

A module that uses them gives the default: `store: StoreOption = DEFAULT_URL`.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..core.errors import require_extra
from ..core.outputs import require_file, require_folder
from ..results.store import DEFAULT_URL as DEFAULT_URL
from ..results.store import STORE_VARIABLE
from .completion import proposing


def writable_file(option: typer.CallbackParam, path: str | Path | None) -> Path | None:
    """Callback of options that name a file to write: refuses an unwritable one before the command does anything.

    Some versions of typer pass the text that was typed.
    """
    if path is None:
        return None
    require_file(found := Path(path), option.opts[0])
    return found


def writable_folder(option: typer.CallbackParam, path: str | Path) -> Path:
    """Callback of options that name a folder to write into, like `writable_file`."""
    require_folder(found := Path(path), option.opts[0])
    return found


def picture_folder(option: typer.CallbackParam, path: str | Path) -> Path:
    """Callback of `--picture`: refuses an unwritable folder, or an installation that cannot draw, before any game."""
    require_extra("a script that ends with a picture", "dashboard", "altair", "vl_convert")
    return writable_folder(option, path)


def trusting(value: bool) -> bool:
    """Callback of `--trust`: allows agents of others inside this process before any is made, and says so."""
    if value:
        from ..core.outside.trust import trust

        trust()
        print("Agents of others play inside this process (--trust).", file=sys.stderr)
    return value


def is_typed(context: typer.Context, name: str) -> bool:
    """Whether an option was given on the command line."""
    source = context.get_parameter_source(name)
    return source is not None and source.name == "COMMANDLINE"


GameArgument = Annotated[
    str, typer.Argument(help='a game, such as yavalath or "2048(size=3)"', autocompletion=proposing("game"))
]
AgentsArgument = Annotated[
    list[str], typer.Argument(help='agents, such as random "mc(iterations=200)"', autocompletion=proposing("agent"))
]

RunArgument = Annotated[
    str, typer.Argument(help="a run: its name, its id or the beginning of it, or last", autocompletion=proposing("run"))
]

StoreOption = Annotated[
    str, typer.Option("--store", help="results: a file such as turnier.db, or a PostgreSQL URL", envvar=STORE_VARIABLE)
]
LocalExecutorOption = Annotated[str, typer.Option("--executor", help="how games are played: threads or serial")]
WorkersOption = Annotated[int | None, typer.Option("--workers", help="number of workers; default: all cores")]
AddressOption = Annotated[
    str | None, typer.Option("--address", help="address of the Ray cluster to join, such as auto; default: RAY_ADDRESS")
]

TrustOption = Annotated[
    bool,
    typer.Option(
        "--trust",
        help="play agents of others inside this process: faster, but they could reach the referee",
        callback=trusting,
    ),
]
SeedOption = Annotated[int, typer.Option("--seed", help="same seed, same games, whatever the number of workers")]
JsonOption = Annotated[bool, typer.Option("--json", help="print JSON")]
WidthOption = Annotated[
    float | None,
    typer.Option(
        "--width",
        help="half-width to aim for: percentage points for shares, otherwise % of the published figure; default: 10",
        min=0.5,  # for which a row needs about 40,000 games
    ),
]
YesOption = Annotated[bool, typer.Option("--yes", help="do not ask for confirmation")]

# Of the scripts in studies/.
OnlyOption = Annotated[
    list[str] | None, typer.Option("--only", help="run only this experiment, such as figure11; repeat for more")
]
StudyNameOption = Annotated[str | None, typer.Option("--name", help="name of the study; default: SCRIPT-PRESET")]
NetworksOption = Annotated[
    Path,
    typer.Option(
        "--folder", help="folder of trained networks; existing ones are not trained again", callback=writable_folder
    ),
]
PictureOption = Annotated[Path, typer.Option("--picture", help="folder for the picture", callback=picture_folder)]
