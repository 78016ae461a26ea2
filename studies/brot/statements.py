"""What Brot 2021 says of its strategies for spe_ed, as claims that our games can show or refute."""

from __future__ import annotations

from turnier.studies.brot.optima import CONSTANTS
from turnier.studies.campaigns.statements import Statement, at_least, at_most, higher

COUNTS = "counts in place of a second for each move"
OTHERS = ("Basic", "Rollouts", "Minimax", "Probability tables")

STATEMENTS = (
    Statement("B1", "8.1", "Combi is better than each of its strategies (here: wins more than half).", "brot:duels",
              tuple(at_least(f"Brot 2021 against {name}", 50.0) for name in OTHERS), COUNTS),
    Statement("B2", "8.1", "Minimax and the probability tables win about 12 % against Combi (here: at most 20 %).",
              "brot:duels", tuple(at_least(f"Brot 2021 against {name}", 80.0) for name in OTHERS[2:]), COUNTS),
    Statement("B3", "8.1", "Of the single strategies, rollouts are the best against Combi.", "brot:duels",
              tuple(higher(f"Brot 2021 against {name}", "Brot 2021 against Rollouts")
                    for name in ("Basic", "Minimax", "Probability tables")), COUNTS),
    Statement("B4", "8.1", "Of the single strategies, Basic is the worst against Combi.", "brot:duels",
              tuple(higher("Brot 2021 against Basic", f"Brot 2021 against {name}")
                    for name in ("Rollouts", "Minimax", "Probability tables")), COUNTS),
    *(Statement(f"B{number}", "7", f"Combi is best with a {name} of about {optimum} (here: with none of the others more"
                " than 52.5 % of the points against it).", "brot:optima",
                tuple(at_most(f"{name} {value:g}", 52.5) for value in others), COUNTS)
      for number, (_, name, optimum, others) in enumerate(CONSTANTS, start=7)),
    Statement("B5", "9.3", "Tables in which moves that others have made are likelier make more points.",
              "spe_ed:habits-in-tables",
              (at_least("tables, habits 1, against tables", 50.0), at_least("Combi, habits 1, against Combi", 50.0))),
    Statement("B6", "9.5", "A network may learn the game from the probability tables (here: makes more than half of the"
              " points against Basic and against the tables).", "spe_ed:network-on-tables",
              (at_least("with tables, against Basic", 50.0),
               at_least("with tables, against Probability tables", 50.0))),
)  # fmt: skip
