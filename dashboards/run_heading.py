"""The heading of a run's pages: its agents, its progress, and its agents without games."""

from __future__ import annotations

from collections.abc import Sequence

from turnier.agents.registry import label_of
from turnier.dashboards.agent_names import distinct, short_game
from turnier.dashboards.sections import kind_of
from turnier.results.store.store import Run

MAX_NAMED = 3  # agents named in one text
MAX_TITLE = 60  # characters of a title's agents


def agents_of(run: Run) -> dict[str, str]:
    """Returns label -> name of a run's planned agents; empty if unknown."""
    return distinct(label_of(str(agent)) for agent in run.definition.get("agents", ()))


def kind_name(kind: str) -> str:
    """Returns a kind of runs as people read it."""
    return kind.replace("_", " ")


def titled(run: Run) -> str:
    """Returns a run's title: its kind's own, or its game or name and its agents, or their number if they are many."""
    if title := getattr(kind_of(run.kind), "title", None):
        return str(title(run))
    names = list(agents_of(run).values())
    if not names:
        game = short_game(str(run.definition.get("game", "")))
        return f"{run.name} at {game}" if game and game != short_game(run.name) else short_game(run.name)
    text = " and ".join([", ".join(names[:-1]), names[-1]] if names[1:] else names)
    many = len(names) > MAX_NAMED or len(text) > MAX_TITLE
    return f"{short_game(run.name)}, {f'{len(names)} agents' if many else text}"


def named_agents(labels: Sequence[str]) -> str:
    """Returns a few agents by name and the others by number."""
    others = len(labels) - MAX_NAMED
    if others <= 1:  # a number in place of a single name would be less informative
        return ", ".join(labels)
    return f"{', '.join(labels[:MAX_NAMED])} and {others} others"
