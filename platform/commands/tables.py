"""Tables of agents for a terminal."""

from __future__ import annotations

from typing import Any

import pandas as pd
from rich import box
from rich.console import Console
from rich.table import Table

ALWAYS = 4  # milestones that are shown even if nobody reached them
COST = {"moves/s": "decisions_per_second", "nodes/move": "nodes_per_decision"}  # heading -> column of a summary
MAX_COLUMNS = 6  # of a grid of certainty


def print_summary(console: Console, table: pd.DataFrame) -> None:
    """Prints what `frames.summary` returns, one table per game; says what to type if it is empty."""
    if table.empty:
        console.print('No game is stored here yet; type: turnier tournament 2048 random "mc(iterations=50)"')
    for game, part in table.groupby("game"):
        played = bool(part["wins"].notna().any())
        ordered = part.sort_values("win_rate" if played else "mean", ascending=False)
        rows: list[dict[str, Any]] = [{str(k): v for k, v in row.items()} for row in ordered.to_dict("records")]
        failed = bool(part["failures"].any())  # otherwise the column would be empty
        console.print((_win_table if played else _score_table)(str(game), rows, failed))
        reached = [c for c in part.columns if ">=" in c and not c.endswith(("_low", "_high")) and part[c].notna().any()]
        shown = [c for i, c in enumerate(reached) if i < ALWAYS or part[c].max() > 0]
        if shown:
            console.print(_share_table(str(game), shown, rows))


def print_seats(console: Console, table: pd.DataFrame) -> None:
    """Prints what `frames.seat_summary` returns: each agent's win rate in each seat, one table per game."""
    for game, part in table.groupby("game"):
        seats = sorted(part["seat"].unique())
        shown = agent_table(f"{game}: win rate by seat, 95 % intervals", *(f"seat {seat}" for seat in seats))
        for label, rows in part.groupby("label"):
            rates = {row["seat"]: _share(row, "win_rate") for row in rows.to_dict("records")}
            shown.add_row(str(label), *(rates.get(seat, "-") for seat in seats))
        console.print(shown)


def print_certainty(console: Console, groups: pd.DataFrame, agents: pd.DataFrame, phase_name: str) -> None:
    """Prints what `frames.group_certainty` and `agent_certainty` return: a grid per agent, and the means."""
    for (game, shown), part in groups.groupby(["game", "label"]):
        title = f"{game}, {shown}: normalised certainty in %, with 95 % intervals"
        console.print(_certainty_grid(title, part, phase_name))
    for game, part in agents.groupby("game"):
        means = agent_table(
            f"{game}: means over the groups in %, ± 95 %; chance: normalised certainty of a random agent",
            *("searches", "certainty", "normalised", "chance", "agreement"),  # as many as 80 columns hold
        )
        for row in part.sort_values("agreement", ascending=False).to_dict("records"):
            shares = [_per_cent(row, name) for name in ("certainty", "normalised", "chance_level", "agreement")]
            means.add_row(row["label"], f"{row['searches']:,}", *shares)
        console.print(means)


def _certainty_grid(title: str, groups: pd.DataFrame, phase_name: str) -> Table:
    """Returns phases by numbers of legal actions; if these are too many for columns, one group per line."""
    columns = sorted(groups["legal"].unique())
    grid = Table(title=title)
    if len(columns) > MAX_COLUMNS:
        for heading in (phase_name, "legal actions", "states", "normalised certainty"):
            grid.add_column(heading, justify="right", no_wrap=True)
        for row in groups.sort_values(["phase", "legal"]).to_dict("records"):
            grid.add_row(str(row["phase"]), str(row["legal"]), str(row["states"]), _per_cent_between(row, "normalised"))
        return grid
    for heading in (phase_name, *(f"{legal} legal actions" for legal in columns)):
        grid.add_column(heading, justify="right", no_wrap=True)
    for phase, part in groups.groupby("phase"):
        cells = {row["legal"]: _per_cent_between(row, "normalised") for row in part.to_dict("records")}
        grid.add_row(str(phase), *(cells.get(legal, "") for legal in columns))
    return grid


def agent_table(title: str, *headings: str, caption: str | None = None, numbered: bool = False) -> Table:
    """Returns an empty table of agents, narrow enough for eight columns of numbers in 80 characters."""
    shown = Table(title=title, caption=caption, box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    if numbered:
        shown.add_column("", justify="right")
    shown.add_column("agent", overflow="fold", min_width=16)
    for heading in headings:
        shown.add_column(heading, justify="right", no_wrap=True)
    return shown


def _score_table(game: str, rows: list[dict[str, Any]], failed: bool) -> Table:
    shown = agent_table(f"{game}: scores, means ± 95 %", "games", "mean", "median", "best", *COST, *["failed"] * failed)
    for row in rows:
        mean = f"{number(row['mean'])} ± {number(row['half_width'])}"
        rest = [number(row[name]) for name in ("median", "best", *COST.values())]
        shown.add_row(row["label"], f"{row['games']:,}", mean, *rest, *[str(row["failures"])] * failed)
    return shown


def _win_table(game: str, rows: list[dict[str, Any]], failed: bool) -> Table:
    shown = agent_table(
        f"{game}: wins, 95 % intervals", "games", "win rate", "won", "drawn", "lost", *COST, *["failed"] * failed
    )
    for row in rows:
        counts = [f"{row[name]:,.0f}" for name in ("wins", "draws", "losses")]
        counts += [number(row[name]) for name in COST.values()]
        rate = _share(row, "win_rate")
        shown.add_row(row["label"], f"{row['games']:,}", rate, *counts, *[str(row["failures"])] * failed)
    return shown


def _share_table(game: str, reached: list[str], rows: list[dict[str, Any]]) -> Table:
    fact = reached[0].split(">=")[0].replace("_", " ")
    shown = agent_table(f"{game}: share of games whose {fact} reaches", *(name.split(">=")[1] for name in reached))
    for row in rows:
        shown.add_row(row["label"], *(_share(row, name) for name in reached))
    return shown


def number(value: float) -> str:
    """Returns a score as text: no fractions from 100 upwards, three digits below."""
    if pd.isna(value):
        return "-"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def _per_cent(row: dict[Any, Any], name: str) -> str:
    """Returns a share in per cent, with the half-width of its interval if it has one."""
    half = 100 * (row.get(f"{name}_high", float("nan")) - row[name])
    return f"{100 * row[name]:.1f}" + ("" if pd.isna(half) else f" ± {half:.1f}")


def _per_cent_between(row: dict[Any, Any], name: str) -> str:
    """Returns a share in per cent, with the ends of its interval."""
    return "{:.0f} ({:.0f}-{:.0f})".format(*(100 * row[f"{name}{end}"] for end in ("", "_low", "_high")))


def _share(row: dict[Any, Any], name: str) -> str:
    """Returns a share with its interval, in per cent."""
    if pd.isna(row[name]):
        return "-"
    return f"{100 * row[name]:.0f} % ({100 * row[f'{name}_low']:.0f}-{100 * row[f'{name}_high']:.0f})"
