"""The networks of conftest.py: `networks` has a file of weights for each."""

CELLS = "network=cells,cells=0.1.2/4.5.6.9/0.1.4.5"
# A network and how it was learned: with method 1 its values are of the whole return.
NETWORKS = {
    "plain": (CELLS, "td"),
    "stages": (f"{CELLS},stages=3.5.10", "td"),
    "whole_return": (CELLS, "td(method=1)"),
}
