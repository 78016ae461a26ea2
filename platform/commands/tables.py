"""Tables of agents for a terminal."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd
import rich.console
from rich import box
from rich.console import ConsoleOptions, RenderResult
from rich.markup import escape
from rich.measure import Measurement
from rich.table import Table
from rich.text import Text

from turnier.core.errors import UserError
from turnier.core.number_text import duration, number, plus_minus
from turnier.core.terminal.console import Console
from turnier.results.frames.matches import shown_milestones

if TYPE_CHECKING:
    from turnier.agents.agent import Agent
    from turnier.games.game import Game
    from turnier.results.failures import Failures
    from turnier.results.store.store import Store
    from turnier.runs.stored.judging import JudgingResults

COST = ("nodes", "CPU", "wall")
COST_CAPTION = "nodes, CPU time, wall clock: means per move"
AGENT_WIDTH = 20  # to which a column of agents shrinks where a table is too wide
MAX_COLUMNS = 6  # of a grid of certainty
MISSING = "-"
ONE_GAME = "no interval: all positions come from one game"
MISHAPS = {"failed": "failures", "void": "void"}  # heading -> column of `summary`


def units_text(game: Game, agents: Iterable[Agent]) -> str:
    """Says what the values of agents are: once, or of whom where they differ."""
    named: dict[str, dict[str, None]] = {}
    for agent in agents:
        named.setdefault(agent.value_unit(game).text, {})[str(agent)] = None
    if len(named) == 1:
        return next(iter(named))
    return "; ".join(f"{text} ({', '.join(those)})" for text, those in named.items())


def print_summary(console: Console, table: pd.DataFrame) -> None:
    """Prints what `frames.summary` returns, one table per game; says what to type if it is empty."""
    if table.empty:
        console.print('No game is stored here yet; type: turnier tournament 2048 random "mc(iterations=50)"')
    for game, part in table.groupby("game"):
        played = bool(part["points"].notna().any())
        ordered = part.sort_values("points_share" if played else "mean", ascending=False, kind="stable")
        rows: list[dict[str, Any]] = [{str(k): v for k, v in row.items()} for row in ordered.to_dict("records")]
        console.print((_points_table if played else _score_table)(str(game), rows))
        if reached := shown_milestones(part):
            console.print(_share_table(str(game), reached, rows))


def print_failures(console: Console, store: Store, failures: Failures) -> None:
    """Prints which agents failed, how often and why, and which games are void; nothing where all went well."""
    from turnier.results.failures import store_option

    print_warnings(console, failures.sentences(store_option(store)))


def print_warnings(console: Console, sentences: Iterable[str]) -> None:
    """Prints what to know before believing results."""
    for sentence in sentences:
        console.print(sentence, soft_wrap=True, markup=False, highlight=False, style="red")


def require_rated(frame: pd.DataFrame) -> None:
    """Raises UserError, after the tables, if an agent failed in all of its games."""
    from turnier.results.frames.matches import games_in

    failed = frame.groupby("label", observed=True)["failed"].all()
    for label in failed.index[failed]:
        games = games_in(frame[frame["label"] == label])
        raise UserError(f"{label} must play to be rated, but it failed in all of its {games:,} games; fix it.")


def print_seats(console: Console, table: pd.DataFrame) -> None:
    """Prints what `frames.seat_summary` returns: each agent's points in each seat, one table per game."""
    for game, part in table.groupby("game"):
        seats = sorted(part["seat"].unique())
        shown = agent_table(f"{game}: points by seat, 95 % intervals", *(f"seat {seat}" for seat in seats))
        for label, rows in part.groupby("label"):
            shares = {row["seat"]: _share(row, "points_share") for row in rows.to_dict("records")}
            shown.add_row(AgentText(str(label)), *(shares.get(seat, "-") for seat in seats))
        console.print(shown)


def print_means(console: Console, table: pd.DataFrame) -> None:
    """Prints what `archive.means.means_of` returns, one table per game."""
    for game, part in table.groupby("game"):
        shown = agent_table(f"{game}: means and points, 95 % intervals", "games", "score", "points", "won-drawn\n-lost")
        for row in part.to_dict("records"):
            score = f"{number(row['mean'], row['half_width'])} ± {number(row['half_width'])}"
            points = _share(row, "points_share")
            ends = MISSING if points == MISSING else f"{row['wins']}-{row['draws']}\n-{row['losses']}"
            shown.add_row(AgentText(row["label"]), f"{row['games']:,}", score, points, ends)
        console.print(shown)


def print_certainty(console: Console, groups: pd.DataFrame, agents: pd.DataFrame, phase_name: str) -> None:
    """Prints what `frames.group_certainty` and `agent_certainty` return: a grid per agent, and the means."""
    for (game, shown), part in groups.groupby(["game", "label"]):
        title = f"{game}, {shown}: normalised certainty in %, with 95 % intervals"
        console.print(_certainty_grid(title, part, phase_name))
    for game, part in agents.groupby("game"):
        means = agent_table(
            f"{game}: means over the groups in %, 95 % intervals; chance: normalised certainty of a random agent",
            *("searches", "certainty", "normalised", "chance", "agreement"),  # as many as 80 columns hold
            caption=_without_interval(part),
        )
        for row in part.sort_values("agreement", ascending=False).to_dict("records"):
            shares = [_bounded(row, name) for name in ("certainty", "normalised", "chance_level", "agreement")]
            means.add_row(AgentText(row["label"]), f"{row['searches']:,}", *shares)
        console.print(means)


def print_judged(console: Console, game: str, results: JudgingResults) -> None:
    """Prints a judge's results: a row per agent, and below what random play would have."""
    agents = results.agents()
    contested = int(agents["contested"].iloc[0])
    positions = f"{len(results.judgements):,} positions, judge: {results.judge}"
    chance = [number(100 * share) for share in (results.chance, results.contested_chance)]
    shown = agent_table(
        f"{game}: optimal moves, 95 % intervals; {positions}",
        "optimal, %",
        f"where it matters,\n% of {contested:,}",
        "loss of value",
        caption=f"random play: {chance[0]} % optimal, {chance[1]} % where it matters" if contested else None,
    )
    for row in agents.to_dict("records"):
        shares = [
            _with_interval(*(row[f"{name}{end}"] for end in ("", "_low", "_high"))) for name in ("optimal", "kept")
        ]
        loss = plus_minus(row["loss"], row["loss_half_width"])
        shown.add_row(AgentText(row["label"]), shares[0], shares[1] or MISSING, loss)
    console.print(shown)


def _certainty_grid(title: str, groups: pd.DataFrame, phase_name: str) -> Table:
    """Returns phases by numbers of legal actions; if these are too many for columns, one group per line."""
    columns = sorted(groups["legal"].unique())
    grid = Table(title=escape(title), caption=_without_interval(groups))
    if len(columns) > MAX_COLUMNS:
        for heading in (phase_name, "legal actions", "states", "normalised certainty"):
            grid.add_column(heading, justify="right", no_wrap=True)
        for row in groups.sort_values(["phase", "legal"]).to_dict("records"):
            grid.add_row(str(row["phase"]), str(row["legal"]), str(row["states"]), _bounded(row, "normalised"))
        return grid
    for heading in (phase_name, *(f"{legal} legal actions" for legal in columns)):
        grid.add_column(heading, justify="right", no_wrap=True)
    for phase, part in groups.groupby("phase"):
        cells = {row["legal"]: _bounded(row, "normalised") for row in part.to_dict("records")}
        grid.add_row(str(phase), *(cells.get(legal, "") for legal in columns))
    return grid


def _without_interval(table: pd.DataFrame) -> str | None:
    """Says why means of certainty lack an interval, if some do."""
    return ONE_GAME if table["normalised_low"].isna().any() else None


class AgentText:
    """An agent's text form in a cell of a table: lines break after commas and brackets, not within a word."""

    def __init__(self, text: str) -> None:
        self.pieces = re.findall(r"[^,(]*[,(]+|[^,(]+$", text)

    def __rich_measure__(self, console: rich.console.Console, options: ConsoleOptions) -> Measurement:
        longest = max(map(len, self.pieces), default=0)
        return Measurement(min(longest + 1, AGENT_WIDTH), min(sum(map(len, self.pieces)), options.max_width))

    def __rich_console__(self, console: rich.console.Console, options: ConsoleOptions) -> RenderResult:
        lines = [""]
        for piece in self.pieces:
            for part in [piece] if len(piece) < options.max_width else re.findall(r"[^=]+=*", piece):
                if lines[-1] and len(lines[-1]) + len(part) > options.max_width:
                    lines.append(" ")  # what continues an agent begins one column later
                lines[-1] += part
        yield Text("\n".join(lines), overflow="fold")


def agent_table(title: str, *headings: str, caption: str | None = None, numbered: bool = False) -> Table:
    """Returns an empty table of agents, narrow enough for eight columns of numbers in 80 characters."""
    shown = Table(title=escape(title), caption=caption and escape(caption), box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    if numbered:
        shown.add_column("", justify="right", no_wrap=True)
    shown.add_column("agent", overflow="fold", min_width=16)
    for heading in headings:
        shown.add_column(heading, justify="right", no_wrap=True)
    return shown


def _score_table(game: str, rows: list[dict[str, Any]]) -> Table:
    counted = _mishaps(rows)
    headings = ("games", "mean", "median", "best", *COST, *counted)
    shown = agent_table(f"{game}: scores, means ± 95 %", *headings, caption=COST_CAPTION)
    for row in rows:
        mean = plus_minus(row["mean"], row["half_width"]) or MISSING
        rest = [_number(row["median"]), _number(row["best"]), *_costs(row), *_counts(row, counted)]
        shown.add_row(AgentText(row["label"]), games_text(row), mean, *rest)
    return shown


def _points_table(game: str, rows: list[dict[str, Any]]) -> Table:
    counted = _mishaps(rows)
    headings = ("games", "points, %\n(95 %)", "won-drawn\n-lost", *COST, *counted)
    shown = agent_table(f"{game}: points, a draw is half a point", *headings, caption=COST_CAPTION)
    for row in rows:
        share = _with_interval(*(row[f"points_share{end}"] for end in ("", "_low", "_high"))) or MISSING
        rest = [*_costs(row), *_counts(row, counted)]
        shown.add_row(AgentText(row["label"]), games_text(row), share, results_text(row), *rest)
    return shown


def _mishaps(rows: list[dict[str, Any]]) -> list[str]:
    """Returns the headings of games that failed and of void ones, where there are any."""
    return [heading for heading, name in MISHAPS.items() if any(row[name] for row in rows)]


def _counts(row: dict[str, Any], headings: Sequence[str]) -> list[str]:
    return [f"{row[MISHAPS[heading]]:,}" for heading in headings]


def games_text(row: Mapping[Any, Any]) -> str:
    """Returns the number of games, and how many of them are different where some repeat others by construction."""
    different = f"\n{row['different']:,} different" if row["different"] < row["games"] else ""
    return f"{row['games']:,}{different}"


def results_text(row: Mapping[Any, Any]) -> str:
    """Returns games won, drawn and lost as text, such as 70-2-28."""
    return "-".join(f"{row[name]:.0f}" for name in ("wins", "draws", "losses"))


def _costs(row: dict[str, Any]) -> list[str]:
    """Returns the cells of COST; CPU time is known of agents that decide in compiled code on one thread."""
    rate = row["decisions_per_second"]  # 0 or unknown of agents that never decided
    times = (row["cpu_seconds_per_decision"], 1 / rate if rate else math.nan)
    return [_number(row["nodes_per_decision"]), *(duration(time, digits=2) or MISSING for time in times)]


def _share_table(game: str, reached: list[str], rows: list[dict[str, Any]]) -> Table:
    fact = reached[0].split(">=")[0].replace("_", " ")
    shown = agent_table(f"{game}: share of games whose {fact} reaches", *(name.split(">=")[1] for name in reached))
    for row in rows:
        shown.add_row(AgentText(row["label"]), *(_share(row, name) for name in reached))
    return shown


def _number(value: float) -> str:
    return number(value) or MISSING


def _bounded(row: dict[Any, Any], name: str) -> str:
    """Returns a mean certainty or agreement in per cent; its interval ends where the measure does."""
    least = -1.0 if name == "agreement" else 0.0  # agreement is below 0 where searches agree less often than by chance
    low, high = (row.get(f"{name}_{end}", float("nan")) for end in ("low", "high"))
    return _with_interval(row[name], max(low, least), min(high, 1.0))


def _share(row: dict[Any, Any], name: str) -> str:
    """Returns a share with its interval, in per cent."""
    return _with_interval(row[name], row[f"{name}_low"], row[f"{name}_high"], " %") or MISSING


def _with_interval(share: float, low: float, high: float, unit: str = "") -> str:
    """Returns a share in per cent, a digit shorter than elsewhere, for narrow columns: 54 % (41-66)."""
    width = 1000 * (high - low) / 2
    value, *ends = (number(100 * part, width) for part in (share, low, high))
    between = "-" if low >= 0 else " to "
    return f"{value}{unit} ({between.join(ends)})" if all(ends) else value + unit * bool(value)
