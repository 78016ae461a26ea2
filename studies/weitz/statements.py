"""What Weitz 2022 says of Yavalath, as claims that our games can show or refute."""

from __future__ import annotations

from turnier.studies.campaigns.statements import Statement, at_least, at_most, higher, increasing

LUDII, PLAIN = "plain UCT in place of Ludii", "values not squeezed by tanh"
NOT_BUILT = "proposed there, not built"

STATEMENTS = (
    Statement("W1", "table 1", "MCTS wins more with more iterations.", "weitz:table1",
              increasing("1 iterations", "1,000 iterations", "5,000 iterations", "10,000 iterations",
                         "25,000 iterations"), LUDII),
    Statement("W2", "table 1", "25,000 iterations win hardly more than 10,000 (here: at most 1.25 times as much).",
              "weitz:table1", (higher("10,000 iterations", "25,000 iterations", by=0.8),), LUDII),
    Statement("W3", "figures 10, 11", "Who moves first has a large advantage (here: wins at least 1.5 times as often).",
              "weitz:figures10-11",
              tuple(higher(f"{n} iterations, first", f"{n} iterations, second", by=1.5) for n in ("10,000", "25,000")),
              LUDII),
    Statement("W4", "4.3", "Between equals the first player has a large advantage (here: wins at least 60 %).",
              "weitz:first-move", (at_least("MCTS, 10,000 iterations, no swap", 60.0),
                                   at_least("MCTS, 25,000 iterations, no swap", 60.0))),
    Statement("W5", "3.3", "With the swap rule the first player has no large advantage (here: wins at most 60 %).",
              "weitz:first-move", (at_most("MCTS, 10,000 iterations, swap", 60.0),
                                   at_most("MCTS, 25,000 iterations, swap", 60.0))),
    Statement("W6", "figure 13", "More tuples learn more: 10, 25, 50 and 100 (TDN2 to TDN5).", "weitz:learning",
              increasing(*(f"TDN{n}, 150,000 games" for n in (2, 3, 4, 5)))),
    Statement("W7", "figure 24", "Temporal coherence wins 80 % after 25,000 games (TCL3; here: at least 70 %).",
              "weitz:learning", (at_least("TCL3, 25,000 games", 70.0),)),
    Statement("W8", "figure 22", "Temporal coherence learns faster: TCL2 after 10,000 games wins more than TDN5 after"
              " 15,000.", "weitz:learning", (higher("TCL2, 10,000 games", "TDN5, 15,000 games"),)),
    Statement("W9", "figure 20", "Without symmetries a network learns less (TDN8, TDN6).", "weitz:learners-five-long",
              (higher("TDN6", "TDN8"),), PLAIN),
    Statement("W10", "figure 21", "Eligibility traces slow learning, the more the higher lambda (TDN9 to TDN11).",
              "weitz:variants-long", increasing(*(f"TDN{n}, 150,000 games" for n in (11, 10, 9)))),
    Statement("W11", "figure 21", "With a lambda of 1 a network never wins more than 10 % (TDN11).",
              "weitz:variants-long", tuple(at_most(f"TDN11, {n} games", 10.0) for n in ("150,000", "300,000"))),
    Statement("W17", "figure 21", "With a lambda of 1 a network never wins more than 10 % (TDN11).",
              "weitz:learners-five-long", (at_most("TDN11", 10.0),), PLAIN),
    Statement("W12", "figures 14, 15", "The more games a schedule has, the more slowly it learns: after 300,000 games"
              " TDN7 wins less than TDN6.", "weitz:learning-long",
              (higher("TDN6, 300,000 games", "TDN7, 300,000 games"),)),
    Statement("W13", "figure 25", "TCL3 beats Ludii after 25,000 games (here: wins at least 60 %).", "weitz:stronger",
              (at_least("TCL3 against the stand-in for Ludii (figure 25)", 60.0),), LUDII),
    Statement("W14", "figure 18", "TDN7 beats Ludii after 1,000,000 games (here: wins at least 60 %).",
              "weitz:stronger-long", (at_least("TDN7 against the stand-in for Ludii (figure 18)", 60.0),), LUDII),
    Statement("W15", "5.1", "Learned features in its playouts make MCTS stronger (here: in equal time).",
              "weitz:playouts", (at_least("Yavalath, learned playouts", 50.0),), NOT_BUILT),
    Statement("W16", "5.1", "GRAVE with MAST is a stronger opponent than plain MCTS (here: in equal time).",
              "weitz:playouts", (at_least("Yavalath, GRAVE and MAST", 50.0),), NOT_BUILT),
)  # fmt: skip
