"""The front of a search for strength and a second objective: the candidates that no other beats at both."""

from __future__ import annotations

import numpy as np
import pandas as pd

from turnier.search.front.second_objective import SecondObjective


def front_of(trials: pd.DataFrame) -> pd.DataFrame:
    """Returns the agents that no other beats at both objectives, the best at the second objective first.

    An agent tried several times counts with the means of its trials, in the row of the first one.
    """
    second: SecondObjective = trials.attrs["second"]
    tried = trials.dropna(subset=["value", "other"])
    same = tried[trials.attrs["parameters"]].astype(str).agg("|".join, axis=1) if len(tried) else pd.Series(dtype=str)
    means = tried[["value", "other"]].groupby(same).transform("mean")
    often = same.duplicated(keep=False)
    data = tried.assign(**{name: means[name] for name in means})[~same.duplicated()]
    data.loc[often[data.index], ["low", "high"]] = np.nan  # these are of one trial
    data = data.sort_values(["other", "value"], ascending=[second.sign < 0, False])
    best = data["value"].cummax()
    return data[(data["value"] == best) & ~best.duplicated()]
