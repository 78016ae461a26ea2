"""The colours of series and of verdicts in all views."""

from types import MappingProxyType

from turnier.statistics.sprt import Verdict

# Those of Okabe and Ito, which colour-blind readers can distinguish, some darker: 3 : 1 on white, WCAG 2.2, 1.4.11.
COLOURS = ("#0068A8", "#C38500", "#009E73", "#BE4400", "#CC79A7", "#3A97D3", "#000000", "#808080")
VERDICT_COLOURS = MappingProxyType(
    {
        Verdict.STRONGER: COLOURS[2],
        Verdict.WEAKER: COLOURS[3],
        Verdict.EQUAL: COLOURS[0],
        Verdict.UNDECIDED: COLOURS[7],
    }
)
