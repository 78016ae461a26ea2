"""The results of searches for balance: the variants, and the verdict of held-out games."""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import pandas as pd

from ...core.number_text import around, number
from ...games.game import Game
from ...results.frames.matches import matches_frame, seat_summary
from ...runs.results import RunResults
from ...statistics.intervals import Interval
from .plan import Balance

BALANCED, UNBALANCED, UNDECIDED = "balanced", "not balanced", "undecided"
PROPOSED, START = "proposed", "start"
UNKNOWN = Interval(math.nan, math.nan, math.nan)


@dataclass(frozen=True, repr=False)
class BalanceResults(RunResults):
    """A search for balance; everything is computed from the stored games."""

    @cached_property
    def balance(self) -> Balance:
        """The latest plan; raises UserError if something that it names no longer exists."""
        return Balance.of_run(self.store, self.store.run(self.id))

    def left(self, round: int) -> list[Game]:
        """Returns the variants of a round: of the one before, the half nearest to an equal share of the points.

        Empty while games of an earlier round are missing.
        """
        variants = self.balance.variants
        for _, games in self.balance.rounds[:round]:
            shares = {variant: self._first(self._ids(variant, games)) for variant in variants}
            if any(math.isnan(share.value) for share in shares.values()):
                return []
            apart = {variant: abs(share.value - self.balance.equal) for variant, share in shares.items()}
            variants = sorted(variants, key=apart.__getitem__)[: -(-len(variants) // 2)]
        return variants

    @property
    def proposed(self) -> Game | None:
        """The variant that the search proposes, None before its end."""
        return next(iter(self.left(len(self.balance.rounds))), None)

    def _ids(self, variant: Game, games: int) -> list[str]:
        return [spec.id for spec in self.balance.searched(variant, games)]

    def _first(self, ids: Collection[str]) -> Interval:
        """Returns the first seat's share of the points in some games; unknown if not all have been played."""
        frame = matches_frame(self.store, run=self.id, only=set(ids))
        if frame["match"].nunique() < len(set(ids)):
            return UNKNOWN
        rows = seat_summary(frame)
        [row] = rows[rows["seat"] == 0].to_dict("records")
        return Interval(*(float(row[f"points_share{end}"]) for end in ("", "_low", "_high")))

    def variants(self) -> pd.DataFrame:
        """Returns a row per variant, those that stayed longest first.

        Columns: variant, rounds (of the search, that it took part in), games, first (the first seat's share of the
        points, 0 to 1) with its 95 % interval as first_low and first_high.
        """
        rounds = [self.left(round) for round in range(len(self.balance.rounds) + 1)]
        rows: list[dict[str, Any]] = []
        for variant in self.balance.variants:
            stayed = max(1, sum(variant in left for left in rounds[:-1]))
            games = self.balance.rounds[stayed - 1][1]
            first = self._first(self._ids(variant, games))
            proposed = variant in rounds[-1]
            rows.append(
                {"variant": str(variant), "rounds": stayed, "games": games, "proposed": proposed} | _ends(first)
            )
        frame = pd.DataFrame(rows)
        apart = (frame["first"] - self.balance.equal).abs()
        order = frame.assign(apart=apart).sort_values(["proposed", "rounds", "apart"], ascending=[False, False, True])
        return order.drop(columns=["apart", "proposed"]).reset_index(drop=True)

    def held_out(self) -> pd.DataFrame:
        """Returns a row for the proposed variant and one for the start, once their held-out games are played.

        Columns: which (proposed, start), variant, games, first, first_low, first_high as in `variants`, verdict
        (balanced, not balanced or undecided).
        """
        rows: list[dict[str, Any]] = []
        finalists = {PROPOSED: self.proposed, START: self.balance.game}
        for which, variant in finalists.items():
            if variant is None or (which == START and variant == finalists[PROPOSED]):
                continue
            ids = [spec.id for spec in self.balance.held_out(variant)]
            if not math.isnan((first := self._first(ids)).value):
                row = {"which": which, "variant": str(variant), "games": len(ids)} | _ends(first)
                rows.append(row | {"verdict": verdict_of(first, self.balance.equal, self.balance.margin)})
        return pd.DataFrame(rows, columns=["which", "variant", "games", "first", "first_low", "first_high", "verdict"])

    @property
    def sentence(self) -> str:
        """The verdict on the proposed variant in a sentence; empty before the held-out games are played."""
        found = self.held_out()
        rows = found[found["which"] == PROPOSED].to_dict("records")
        if not rows:
            return ""
        [row] = rows
        equal, margin = 100 * self.balance.equal, 100 * self.balance.margin
        ends = [100 * row[f"first{end}"] for end in ("", "_low", "_high")]
        first = around(ends[0], ends[1], ends[2], " %")
        share = f"{first} of the points to the first seat, {row['games']:,} held-out games"
        near = f"within {number(margin)} % of {equal:.3g} %"
        if row["verdict"] == BALANCED:
            return f"Balanced: {row['variant']}, {share}: {near}"
        if row["verdict"] == UNBALANCED:
            return f"Not balanced: {row['variant']}, {share}"
        wanted = games_for_balance(Interval(*ends), equal, margin, row["games"])
        more = f"; about {wanted:,} would tell if it is {near} (--verify)" if wanted else ""
        return f"Undecided: {row['variant']}, {share}{more}"

    def table(self) -> pd.DataFrame:
        return self.variants().set_index("variant")


def verdict_of(first: Interval, equal: float, margin: float) -> str:
    """Returns the verdict of a 95 % interval of the first seat's share.

    Balanced if all of it is within the margin: two one-sided tests (Schuirmann 1987), each wrong in at most 2.5 %. Not
    balanced if it does not hold an equal share and is not all within the margin.
    """
    if first.low > equal - margin and first.high < equal + margin:
        return BALANCED
    return UNDECIDED if first.low <= equal <= first.high else UNBALANCED


def games_for_balance(first: Interval, equal: float, margin: float, games: int) -> int:
    """Returns about how many games would show that a share as measured is within the margin; 0 if it is not."""
    room = margin - abs(first.value - equal)
    half = (first.high - first.low) / 2
    return math.ceil(games * (half / room) ** 2 / 100) * 100 if room > half / 30 else 0


def _ends(first: Interval) -> dict[str, float]:
    return {"first": first.value, "first_low": first.low, "first_high": first.high}
