"""Hints from the stored figures of a search: it learns nothing, diverges, repeats itself, or meets a border.

A hint with a clear remedy includes a whole command.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd

from ...agents.agent import Agent
from ...agents.registry import AGENTS
from ...core.errors import UserError
from ...core.number_text import number
from ..space import Space
from ..verdict import NOT_BETTER, HeldOutFigures, StudyVerdict
from .commands import Again

STEPPING = ("cmaes", "cmaes_lr")  # samplers whose step size follows what they find
GROWN, WIDE = 1.5, 0.5  # a step size is suspicious if it grew by this factor, to this share of the ranges
REPEATED = 0.2  # share of candidates worth a hint
IN_A_ROW = 3  # generations without any difference that are worth a hint
IN_ALL = 0.5  # share of such generations worth a hint
SETTLED = 10  # generations after which the position of a search means something
OPPOSED = -2.0  # agreement of duels and other games, in standard deviations, below which they disagree


def hints(
    trials: pd.DataFrame,
    noted: pd.DataFrame,
    definition: Mapping[str, Any],
    proposed: Mapping[str, Any],
    verdict: StudyVerdict | None = None,
    again: Again | None = None,
) -> list[str]:
    """Returns sentences on what to change in a search; none if all is well.

    Args:
        trials: see `trials_frame`.
        noted: see `generations_frame`.
        definition: of the study, as it is stored.
        proposed: the parameters that the search recommends.
        verdict: of the study, if it has ended.
        again: the same study, for commands in the sentences; None = no commands.
    """
    space = None
    with contextlib.suppress(UserError, KeyError):
        space = Space.of(AGENTS.make(definition["agent"]), definition["parameters"])
    sampler = str(definition.get("sampler", "")).partition("(")[0]
    known = noted.attrs.get("noted", {})
    found = [_refused(known.get("refused", {}), len(trials)), _slow(known.get("slow", {}), len(trials), definition)]
    found += [_unlearned(trials, again)]
    if sampler in STEPPING and not (space and all(dimension.options for dimension in space.dimensions)):
        found.append(_diverging(noted["sigma"].dropna(), again))
    if sampler != "duels" and (not space or any(dimension.type is float for dimension in space.dimensions)):
        found.append(_repeating(trials))  # candidates of duels lie on two sides of a point, and so repeat
    if space:
        # Of a point of duels that is half of their reach from an end, one of both candidates is always there.
        near = float(noted["sigma"].iloc[-1]) / 2 if sampler == "duels" and len(noted) else 0.0
        found.append(_border(space, definition, len(noted), proposed, near, verdict, again))
    if sampler == "duels":
        found.append(_disagreeing(noted["agreement"].dropna()))
    return [sentence for sentence in found if sentence]


def _refused(known: Mapping[str, Any], candidates: int) -> str:
    if not known:
        return ""
    return (
        f"{known['candidates']:,} of {candidates:,} candidates had parameters that the agent refuses, such as:"
        f" {known['why'].rstrip('.')}; the nearest ones towards the start that it accepts played instead."
    )


def _slow(known: Mapping[str, Any], candidates: int, definition: Mapping[str, Any]) -> str:
    if not known:
        return ""
    return (
        f"{known['candidates']:,} of {candidates:,} candidates took more than {definition['slowest']:g} ms per move, up"
        f" to {number(known['milliseconds'], digits=3)}, and counted as lost."
    )


def without_difference(when: str, one_agent: bool, again: Again | None = None) -> str:
    """Returns the sentence on generations from which a search could not learn anything.

    Args:
        when: names them, such as "In 19 of 20 generations".
        one_agent: whether all of their candidates were one agent; otherwise they differed, but had the same value.
        again: see `hints`.
    """
    if one_agent:
        what, command = "were one agent", again.command(sampler="grid") if again else ""
        cure = "name more parameters or wider ranges, or try all combinations"
    else:
        what, command = "had the same value", again.with_more_games() if again else ""
        cure = "choose another opponent or other parameters, or let each candidate play more games"
    ending = f": {command}" if command else "."
    return f"{when} all candidates {what}, so that there was nothing to learn: {cure}{ending}"


def _unlearned(trials: pd.DataFrame, again: Again | None) -> str:
    alike = dict[int, bool]()  # generations without any difference: whether their candidates are one agent
    groups = trials[["group", "value", *trials.attrs["parameters"]]].dropna(subset=["group", "value"]).groupby("group")
    for generation, own in groups:
        one = len(own[trials.attrs["parameters"]].astype(str).drop_duplicates()) == 1
        if len(own) > 1 and (one or own["value"].nunique() == 1) and trials["other"].isna().all():
            alike[int(generation)] = one
    last = max(alike, default=-1)
    in_a_row = last == len(groups) - 1 and all(last - n in alike for n in range(IN_A_ROW))
    if not in_a_row and len(alike) <= max(IN_A_ROW, IN_ALL * len(groups)):
        return ""
    when = f"In {len(alike):,} of {len(groups):,} generations"
    return without_difference(when, all(alike.values()), again)


def _diverging(sigma: pd.Series, again: Again | None) -> str:
    if len(sigma) < 3 or sigma.iloc[-1] < max(WIDE, GROWN * sigma.iloc[0]):
        return ""
    first, last = (number(sigma.iloc[place], digits=2) for place in (0, -1))
    return (
        f"The step size has risen from {first} to {last} of the ranges: the search diverges, since it does not tell"
        " good candidates from lucky ones; let each candidate play more games"
        + (f": {again.with_more_games()}" if again else ".")
    )


def _repeating(trials: pd.DataFrame) -> str:
    """Says that candidates repeat, which is unavoidable with only switches and whole numbers."""
    names = trials.attrs["parameters"]
    repeated = int(trials[names].astype(str).duplicated().sum()) if names else 0
    if repeated < max(1, REPEATED * len(trials)):
        return ""
    return (
        f"A plateau: {repeated:,} of {len(trials):,} candidates have the parameters of an earlier one; more parameters"
        " or wider ranges would give the search more to find."
    )


def _border(
    space: Space,
    definition: Mapping[str, Any],
    generations: int,
    proposed: Mapping[str, Any],
    near: float,
    verdict: StudyVerdict | None,
    again: Again | None,
) -> str:
    """Says that the recommendation lies at a border, or that a search of some length has moved there."""
    changes: dict[str, Any] = {}
    if verdict is not None and verdict.improved:
        proposed, changes["agent"] = space.of_agent(AGENTS.make(verdict.agent)), verdict.agent
    elif generations < SETTLED or (verdict is not None and verdict.outcome == NOT_BETTER):
        return ""
    else:  # It may just have stayed where it began.
        agent = AGENTS.make(definition["agent"])
        start = space.of_agent(agent)
        proposed = _met(space, agent, proposed, near) if near else proposed
        begun = {path: _end(space, path, value) for path, value in start.items()}
        proposed = {path: value for path, value in proposed.items() if begun.get(path) != _end(space, path, value)}
    places, changes["parameters"] = space.widened(proposed)
    if not places:
        return ""
    ending = f": {again.command(**changes)}" if again else "."
    return f"At the border of what was searched: {places}; search further{ending}"


def _disagreeing(agreement: pd.Series) -> str:
    """Says that duels lead elsewhere than games against the opponents."""
    if not len(agreement) or agreement.iloc[-1] >= OPPOSED:
        return ""
    chance = number(-agreement.iloc[-1], digits=2)
    return (
        "Duels between candidates and games against the opponents favour different changes: what beats its like need"
        f" not beat these opponents ({chance} standard deviations of chance); let most pairs play the opponents from"
        ' the beginning, with --sampler "duels(share=0.75)".'
    )


def _met(space: Space, agent: Agent, proposed: Mapping[str, Any], near: float) -> dict[str, Any]:
    """Returns proposed parameters, those that are so `near` an end of their range put there."""
    vector = space.encode(space.apply(agent, proposed))
    return space.decode([0.0 if x < near else 1.0 if x > 1 - near else x for x in vector])


def _end(space: Space, path: str, value: Any) -> str:
    """Returns the range of a parameter widened beyond the end at which a value lies; empty if it lies at none."""
    return [dimension for dimension in space.dimensions if dimension.path == path][-1].wider(value)


def same_scores(figures: Sequence[HeldOutFigures], values: Mapping[str, Sequence[float]]) -> str:
    """Returns a sentence if most finalists score the same, game for game; otherwise nothing."""
    challengers = [row for row in figures if not row.reference]
    found = {row.agent: row.label for row in reversed(challengers if len(challengers) > 1 else figures)}
    labels = [row.label for row in figures if row.label in found.values()]  # one for each agent
    games = min((len(values[label]) for label in labels), default=0)
    by_scores: dict[tuple[float, ...], list[str]] = {}
    for label in labels:
        by_scores.setdefault(tuple(values[label][:games]), []).append(label)
    alike = max(by_scores.values(), key=len, default=[])
    if not games or len(alike) < max(2, len(labels) / 2):
        return ""
    return (
        f"A plateau: {', '.join(alike[:-1])} and {alike[-1]} differ, but score the same in each of {games:,} held-out"
        " games; search narrower ranges, other parameters, or against stronger opponents."
    )
