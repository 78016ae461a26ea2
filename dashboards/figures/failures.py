"""What failed, wherever results are shown: the count in red beside the headline, and a table of who, how and why."""

from __future__ import annotations

from html import escape

import pandas as pd

from turnier.dashboards.agent_names import distinct
from turnier.results.failures import Failures, cause_text

FAILED_COLOUR = "light-dark(#b3261e, #ff8a80)"
FAILED_TITLE = "Failed"
_LOST_NOTE = "An agent that fails has lost the game."
_VOID_NOTE = (
    "Void games have no result and count for nobody: the game or the machine broke. Repeating the command plays them"
    " again."
)


def failed_html(text: str) -> str:
    """Returns `Failures.text` in red; empty where nothing failed."""
    # A block, so that a number and its word stay together.
    look = f"color: {FAILED_COLOUR}; display: inline-block; padding-top: 0.2rem"
    return f'<b class="failed" style="{look}">{escape(text)}</b>' if text else ""


def with_failed(headline: str, text: str) -> str:
    """Returns a headline in HTML with `Failures.text` beside it."""
    parts = [part for part in (headline, failed_html(text)) if part]
    return " ".join(parts)


def failed_note(failures: Failures) -> str:
    """Returns what the table means: who has lost, and what is void."""
    return " ".join([_LOST_NOTE] * bool(failures.failed) + [_VOID_NOTE] * bool(failures.void))


def failed_table(failures: Failures) -> pd.DataFrame:
    """Returns a row per agent, cause and reason for people, the most frequent first."""
    frame = failures.table
    return pd.DataFrame(
        {
            "failed": frame["games"],  # short columns first: a phone shows what, how often, and who
            "cause": frame["cause"].map(cause_text),
            "agent": frame["label"].astype(str).map(distinct(frame["label"].astype(str).unique())),
            "seat": frame["seats"],
            "reason": frame["reason"],
            "of its games, %": (100 * frame["share"]).round(1),
        }
    )
