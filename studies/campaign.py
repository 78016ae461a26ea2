"""Plays every figure of the documents at its published size for some hours, the most informative games first.

Every row with a published figure gets a first slice; then come those that are closest, in CPU time, to a verdict that
they lack, and last those without a published figure. The games are those of the documents' scripts, in the same runs.

\b
Examples:
    python studies/campaign.py --hours 8
    python studies/campaign.py --hours 8 --only weitz --only kutsch:agents
    python studies/campaign.py --export docs/results/data/campaign      the stored games, without the moves
    python studies/campaign.py --import docs/results/data/campaign      to continue others' games
    python studies/report.py all --missing                            missing games, and the hours for them

After Ctrl-C or the loss of the machine, repeat the command to resume.
"""

import math
from pathlib import Path
from typing import Annotated

import typer

from turnier.agents.learning.loop import end_all
from turnier.arena.workers.make import make_executor
from turnier.arena.workers.where import Where
from turnier.commands.command_line import STORED, at_most, saving
from turnier.commands.options import DEFAULT_URL, NetworksOption, StoreOption, WidthOption, writable_folder
from turnier.commands.place import placed
from turnier.core.errors import UserError
from turnier.core.terminal.console import Console
from turnier.results.store.store import Store
from turnier.runs.experiments.published import NARROW_POINTS
from turnier.studies.campaigns.campaign import Campaign
from turnier.studies.campaigns.figures import PAPER, PRESETS, Figure, figures, shared_studies
from turnier.studies.campaigns.game_arrays import ENDING
from turnier.studies.campaigns.games_file import created, export_games, import_games
from turnier.studies.campaigns.learned import with_agents
from turnier.studies.campaigns.missing_tables import print_missing
from turnier.studies.campaigns.outlook import HOUR, outlooks
from turnier.studies.campaigns.study_file import export_study, import_study
from turnier.studies.scripts.script import run_script

ENDED = f"{STORED}, and `python studies/report.py all --missing` lists what is missing"


def _written(option: typer.CallbackParam, path: Path | None) -> Path | None:
    return None if path is None else writable_folder(option, path)


@placed
def main(
    hours: Annotated[
        float, typer.Option(help="stop after this many hours; default: when nothing is missing", min=0)
    ] = math.inf,
    only: Annotated[
        list[str] | None,
        typer.Option("--only", help="a document or an experiment, such as weitz:table1; repeat for more"),
    ] = None,
    width: WidthOption = None,
    preset: Annotated[str, typer.Option(help=", ".join(PRESETS))] = PAPER,
    export: Annotated[
        Path | None, typer.Option("--export", help="write the stored games into this folder", callback=_written)
    ] = None,
    imported: Annotated[
        Path | None, typer.Option("--import", help="store the games that --export wrote into this folder")
    ] = None,
    folder: NetworksOption = Path("trained"),
    store: StoreOption = DEFAULT_URL,
    where: Where = Where("ray"),
) -> None:
    console, chosen, aim = Console(), figures(preset, only or []), width or NARROW_POINTS
    studies = shared_studies(preset, only or [])
    with Store.open(store, read_only=export is not None) as results:
        if export is not None:
            _export(console, results, chosen, studies, export)
        elif imported is not None:
            _import(console, results, chosen, studies, imported, folder)
        else:
            with results.lock("campaign"), at_most(hours * HOUR), saving(end_all, lambda: ENDED):
                campaign = Campaign(results, chosen, folder, aim)
                with make_executor(where) as pool:
                    campaign.run(pool, hours * HOUR)
            print_missing(console, outlooks(chosen, results, aim))


def _export(console: Console, store: Store, chosen: list[Figure], studies: list[str], folder: Path) -> None:
    known = {figure.run_id: figure for figure in chosen}
    runs = [run for run in store.runs() if run.id in known or run.id in studies]
    if not runs:
        raise UserError(f"an export needs stored experiments, got none of these in {store.shown_url}; play them first.")
    folder.mkdir(parents=True, exist_ok=True)
    for run in runs:
        if run.id in studies:
            path = export_study(store, run, folder)
        else:
            path = export_games(store, run, folder, with_agents(known[run.id], store))
        console.print(f"{path}: {path.stat().st_size:,} bytes", highlight=False, soft_wrap=True)


def _import(
    console: Console, store: Store, chosen: list[Figure], studies: list[str], folder: Path, networks: Path
) -> None:
    ids = {figure.run_id.replace(":", "-"): figure for figure in chosen}
    paths = [path for path in folder.glob(f"*{ENDING}") if path.stem in ids]
    searches = [path for run in studies if (path := folder / f"{run.replace(':', '-')}{ENDING}").is_file()]
    if not paths and not searches:
        raise UserError(f"an import needs a folder that --export wrote, got no such file in {folder}; name another.")
    for path in sorted(paths, key=created):  # reports show experiments in the order of their beginnings
        new = import_games(store, path, networks)
        console.print(f"{path}: {new:,} new games and searches", highlight=False, soft_wrap=True)
    for path in searches:
        console.print(f"{path}: {import_study(store, path):,} new games", highlight=False, soft_wrap=True)


if __name__ == "__main__":
    run_script(main, __doc__)
