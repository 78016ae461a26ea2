"""One moment of a match as a board, a table and a chart."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from turnier.agents.agent import Agent, Decision
from turnier.agents.registry import label_of
from turnier.arena.analysis.reanalysis import Moment, Reanalysis
from turnier.arena.match import MatchRecord
from turnier.core.number_text import duration, number
from turnier.dashboards.figures import charts
from turnier.dashboards.figures.charts import Figure
from turnier.games.drawing import Overlay
from turnier.games.game import Game


def board_svg(game: Game, moment: Moment, decision: Decision | None = None, overlay: Overlay | None = None) -> str:
    """Returns the position as SVG with the agent's overlay, or with shares of visits if actions are cells."""
    if overlay is None:
        overlay = Overlay(visit_shares(game, decision) if decision else None)
    return game.overlaid_svg(moment.position.state, overlay, moment.changed)


def visit_shares(game: Game, decision: Decision) -> npt.NDArray[np.float64] | None:
    """Returns each cell's share of visits; None if actions are not cells or the agent does not search."""
    visits = decision.visits[: game.num_cells]
    return visits / decision.visits.sum() if game.places_stones and decision.visits.sum() > 0 else None


def action_frame(agent: Agent, moment: Moment, decision: Decision) -> pd.DataFrame:
    """Returns one row per legal action, the most visited first: action, chosen, visits, percent, value (its unit)."""
    game = moment.position.game
    scale = agent.value_unit(game).scale
    rows = [
        {
            "action": game.action_name(action),
            "chosen": "chosen" if action == moment.action else "",
            "visits": float(decision.visits[action]),
            "percent": 100 * float(decision.visits[action]) / max(1.0, float(decision.visits.sum())),
            "value": float(decision.values[action]) * scale if decision.visits[action] > 0 else float("nan"),
        }
        for action in moment.position.legal_actions()
    ]
    return pd.DataFrame(rows).sort_values(["percent", "value"], ascending=False, ignore_index=True)


def visit_bars(frame: pd.DataFrame) -> Figure | None:
    """Shares of visits by action; None if the agent does not search."""
    if not frame["visits"].sum():
        return None
    data = frame.head(12)
    shown = data.assign(name=data["action"] + data["chosen"].map(lambda c: "  ◀ chosen" if c else ""))
    chart = charts.bars(shown, "name", "percent", "visits, %")
    return Figure("Search visits", chart, frame)


def match_name(record: MatchRecord) -> str:
    """Returns the agents with their scores, and the seed."""
    pairs = zip(record.spec.agents, record.scores, strict=True)
    seats = " against ".join(f"{label_of(agent)} ({number(score)})" for agent, score in pairs)
    return f"{seats}, seed {record.spec.seed}"


def mean_time(reanalysis: Reanalysis, seat: int) -> str:
    """Returns the mean time of a seat's decisions."""
    record = reanalysis.record
    spent, decisions = record.seat_seconds[seat], record.decisions[seat]
    if spent != spent or not decisions:
        return "unknown"
    return duration(spent / decisions)
