"""The colours of series and of verdicts in all views."""

from types import MappingProxyType

from turnier.statistics.sprt import Verdict

# Those of Okabe and Ito, which colour-blind readers can distinguish.
COLOURS = ("#0072B2", "#E69F00", "#009E73", "#D55E00", "#CC79A7", "#56B4E9", "#000000", "#999999")
VERDICT_COLOURS = MappingProxyType(
    {
        Verdict.STRONGER: COLOURS[2],
        Verdict.WEAKER: COLOURS[3],
        Verdict.EQUAL: COLOURS[0],
        Verdict.UNDECIDED: COLOURS[7],
    }
)
