"""Measures what several games are like, draws it, and prints the table of profiles.md.

\b
Examples:
    python docs/results/profiles.py --store sqlite:///games.db     plays what the store lacks, some CPU minutes
    python docs/results/profiles.py                                only draws and prints data/profiles.csv
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import pandas as pd
import typer

from turnier import Profile, Store
from turnier.core.number_text import around
from turnier.dashboards.figures import charts
from turnier.dashboards.figures.figure import Figure, save
from turnier.runs.stored.profile import ProfileResults

HERE = Path(__file__).resolve().parent
DATA = HERE / "data" / "profiles.csv"
SIZES = (3, 4, 5, 6)
DEEP: dict[str, Any] = {"agent": "mcts(solver=true)", "per_move": "128rollouts"}
PLANS: dict[str, list[tuple[str, dict[str, Any]]]] = {  # part of the figure -> games, and options of their profiles
    "Known by theory": [
        ("tictactoe", {"steps": 8, "games": 200}),
        ("hex(size=3)", {"steps": 8, "games": 200}),
        ("nim(piles=1;2;3)", {"steps": 8}),
        ("nim(piles=1;2;4)", {"steps": 8}),
        ("connect_four", {"steps": 8, "games": 200}),
        ("connect_four", {**DEEP, "steps": 6}),
        ("go(size=5,komi=0.5)", {"steps": 5, "games": 60}),
        ("go(size=5,komi=24.5)", {"steps": 5, "games": 60}),
    ],
    "Yavalath, two seats": [(f"yavalath(size={size})", {}) for size in SIZES],
    "Yavalath with swap, and Hex": [
        *((f"yavalath(size={size},swap=true)", {}) for size in SIZES),
        ("hex(size=5)", {}),
        ("hex(size=5,swap=true)", {}),
    ],
    "Yavalath, three seats": [(f"yavalath(size={size},players=3)", {"steps": 5, "games": 60}) for size in SIZES],
    "Pig, with chance": [
        ('openspiel(game="pig(winscore=15)")', {"per_move": "4rollouts", "steps": 4}),
        ("2048", {"per_move": "4rollouts", "steps": 4, "games": 20}),
    ],
}
THEORY = {"connect_four": "first wins", "go": "first wins by 25"}  # where no judge has been asked
WON = {1: "first wins", 0: "drawn", -1: "second wins"}
ENDS = ("", "_low", "_high")


def rows_of(part: str, found: ProfileResults) -> pd.DataFrame:
    """Returns the rows of `strengths` with the gains of `doublings`; the last one has what is known of all."""
    plan, frame = found.profile, found.strengths().drop(columns="agent")
    doubled = found.doublings()[["step", *(f"{name}{end}" for name in ("gain", "chance") for end in ENDS)]]
    frame = frame.merge(doubled, on="step", how="left").assign(part=part, game=str(plan.game), seats=found.num_seats)
    last = frame.index[-1]
    for name, whole in {"all_gain": found.gain(), "all_chance": found.chance(), "trend": found.trend()}.items():
        for end, value in zip(ENDS, whole, strict=True):
            frame.loc[last, f"{name}{end}"] = value
    value = found.perfect.get("value")
    frame["known"] = WON[value] if found.perfect else THEORY.get(str(plan.game).partition("(")[0], "")
    return frame


def table(data: pd.DataFrame) -> str:
    """Returns the table of the page: what each game is like at the greatest strength."""
    lines = [
        "| game | thought | first seat, weakest | first seat, strongest | ahead | drawn | moves | choices |"
        " per doubling |",
        "| --- | ---: | ---: | ---: | --- | ---: | ---: | ---: | ---: |",
    ]
    for (_, game), frame in data.groupby(["label_of_row", "game"], sort=False):
        first, last = frame.iloc[0], frame.iloc[-1]
        if last["seats"] == 1:
            seats = [_text(first, "score"), _text(last, "score"), "", ""]
        else:
            seats = [_text(first, "seat_1", 100), _text(last, "seat_1", 100), last["ahead"], _text(last, "drawn", 100)]
        known = f" ({last['known']})" if isinstance(last["known"], str) and last["known"] else ""
        counted = (_text(last, name) for name in ("moves", "choices"))
        cells = [f"{game}{known}", f"{last['thought']:,}", *seats, *counted, _text(last, "all_gain", signed=True)]
        lines.append(f"| {' | '.join(map(str, cells))} |")
    return "\n".join(lines)


def _text(row: pd.Series, name: str, scale: float = 1, signed: bool = False) -> str:
    value, low, high = (scale * row[f"{name}{end}"] for end in ENDS)
    return around(value, low, high, signed=signed)


def figure(data: pd.DataFrame) -> list[Figure]:
    """Returns the first seat's points over the thought, a chart per part."""
    figures = []
    for part, frame in data[data["seats"] > 1].groupby("part", sort=False):
        drawn = frame.assign(
            value=100 * frame["seat_1"], low=100 * frame["seat_1_low"], high=100 * frame["seat_1_high"]
        )
        titles = ("iterations per move", "first seat, % of the points")
        chart = charts.lines(drawn, "thought", "value", "low", "high", "label_of_row", titles, log=True)
        figures.append(Figure(str(part), chart, drawn, "Each agent against itself; 95 % intervals."))
    return figures


def main(store: Annotated[str, typer.Option(help="where to play; without it, nothing is played")] = "") -> None:
    if store:
        parts = []
        with Store.open(store) as opened:
            for part, plans in PLANS.items():
                for game, options in plans:
                    found = Profile(game, **options).run(opened)
                    name = game.replace('openspiel(game="', "").replace(')")', ")")
                    deep = f" by {options['agent']}" if "agent" in options else ""
                    parts.append(rows_of(part, found).assign(label_of_row=f"{name}{deep}"))
        data = pd.concat(parts, ignore_index=True)
        data.to_csv(DATA, index=False, float_format="%.5g")
    data = pd.read_csv(DATA)
    save(HERE / "profiles.png", *figure(data))
    print(table(data))


if __name__ == "__main__":
    typer.run(main)
