"""Names of agents and games for people: short, and distinct wherever several agents are shown together."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from turnier.agents.agent import Agent
from turnier.agents.registry import EVALUATORS, label_of, short_text
from turnier.core.errors import UserError
from turnier.dashboards.short_names import readable
from turnier.dashboards.tables import WHOLE
from turnier.games.registry import game_of
from turnier.results.store.store import Run


def shortened(label: str) -> str:
    """Returns an agent's label without folders and digests of files."""
    return _without_digests(re.sub(r"file=[^,()]*/", "file=", label))


def _without_digests(label: str) -> str:
    return re.sub(r",?digest=\w+", "", label)


def distinct(labels: Iterable[str]) -> dict[str, str]:
    """Returns label -> name, in the given order: one that distinguishes it from the other agents.

    Files of one name keep their folders, and files of one path their digests. In place of a long name there is a short
    one, see `readable`.
    """
    names = dict.fromkeys(labels, "")
    for form in range(3):
        short = {label: _written(label)[form] for label in names}
        times = Counter(short.values())
        names = {label: name or (short[label] if times[short[label]] == 1 else "") for label, name in names.items()}
    return dict(zip(names, readable(list(names.values())), strict=True)) if names else {}


def names_of(agents: Iterable[Agent]) -> list[str]:
    """Returns the names of agents, see `distinct`."""
    return names_of_texts([agent.full_text() for agent in agents])


def names_of_texts(agents: Sequence[str]) -> list[str]:
    """Returns the names of agents, given their full texts."""
    labels = [label_of(agent) for agent in agents]
    names = distinct(labels)
    return [names[label] for label in labels]


def with_names(*frames: pd.DataFrame) -> list[pd.DataFrame]:
    """Returns frames of the same agents with their names, see `distinct`, in place of their labels, in notes, too."""
    labelled = [frame["label"] for frame in frames if "label" in frame]
    names = distinct(str(label) for column in labelled for label in column.unique())
    shown = []
    for frame in frames:
        frame = named(frame, names) if "label" in frame else frame
        shown.append(
            frame.assign(note=[with_names_in(note, names) for note in frame["note"]]) if "note" in frame else frame
        )
    return shown


def with_names_in(text: str, names: Mapping[str, str]) -> str:
    """Returns a sentence with names in place of those labels that are replaced by others: they are no words."""
    for label in sorted(names, key=len, reverse=True):
        text = text.replace(label, names[label]) if label != names[label] else text
    return text


def named(frame: pd.DataFrame, names: Mapping[str, str]) -> pd.DataFrame:
    """Returns a frame with names in place of labels, and what they stand for in the column WHOLE."""
    return explained(frame.assign(label=frame["label"].astype(str).map(names)))


def explained(frame: pd.DataFrame) -> pd.DataFrame:
    """Returns a frame of agents and their names with what the names stand for in the column WHOLE."""
    if "agent" not in frame:
        return frame
    pairs = zip(frame["label"], frame["agent"].astype(str).map(short_text), strict=True)
    whole = [name if name in (one := _written(text)) else one[0] for name, text in pairs]
    return frame.assign(**{WHOLE: whole})


def _written(label: str) -> tuple[str, ...]:
    """Returns the forms of a label: without folders and digests, without digests, and all of it."""
    return shortened(label), _without_digests(label), label


def planned_labels(run: Run) -> list[str]:
    """Returns the labels of a run's planned agents: those that play, or the one searched or trained."""
    plan = run.definition
    if "evaluator" in plan:
        with contextlib.suppress(UserError):
            return [str(EVALUATORS.make(plan["evaluator"]))]
    texts = plan.get("agents") or [plan.get("agent") or plan.get("network")]
    return [label_of(str(text)) for text in texts if text]


def planned(run: Run) -> tuple[str, ...]:
    """Returns the names of a run's planned agents."""
    return tuple(distinct(planned_labels(run)).values())


def short_game(game: str) -> str:
    """Returns the short text form of a game; an unknown game keeps its stored text."""
    with contextlib.suppress(UserError):
        return str(game_of(game))
    return game


def games_of(run: Run) -> list[str]:
    """Returns the names of a run's games, without their variants."""
    plan = run.definition
    texts = [plan["game"]] if "game" in plan else [row["game"] for row in plan.get("rows", ())] or [run.name]
    return list(dict.fromkeys(str(text).partition("(")[0] for text in texts))
