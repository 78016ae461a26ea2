"""What Kutsch 2017 says of its figures and tables, as claims that our games can show or refute."""

from __future__ import annotations

from turnier.studies.campaigns.statements import Statement, alike, best, higher, increasing

DEPTHS = tuple(f"depth {n}" for n in (5, 10, 40, 100, 200))
EMPTY = tuple((f"MC, depth 20, {n} actions, 1 empty", f"MC, depth 20, {n} actions, 10 empty") for n in (2, 3, 4))
OF_RANKS = ("best action", "second action", "third action", "worst action")
WALK = "random walk, 20 tuples of 3"
ENDS = {(m, x): f"method {m}, lambda {x}, 100,000 games" for m in (1, 2) for x in (0, 1)}
# Moves before and after 1,024, 2,048 and 4,096 are built: at moves 475, 950 and 1,900 of the published game.
BUILT = (("moves 438 to 462", "moves 488 to 512"), ("moves 888 to 912", "moves 963 to 987"),
         ("moves 1838 to 1862", "moves 1913 to 1937"))  # fmt: skip
SAME_POSITIONS = ", at most 6 empty cells"

STATEMENTS = (
    Statement("K1", "figure 4", "More iterations always improve MC.", "kutsch:figure4",
              increasing(*(f"{n:,} iterations" for n in (100, 250, 500, 1000, 2000, 5000)))),
    Statement("K2", "figure 5", "MC is best with rollouts of about 20 moves.", "kutsch:figure5",
              (*best("depth 20", *DEPTHS), higher("depth 20", "depth 5"), higher("depth 20", "depth 200"))),
    Statement("K3", "figure 21", "A penalty for lost rollouts (method 2) is clearly better if they have 20 moves.",
              "kutsch:figure21", (higher("depth 20, method 2", "depth 20, method 1"),)),
    Statement("K4", "figure 21", "The penalty makes no difference if they have 200 moves (here: within 10 %).",
              "kutsch:figure21", alike("depth 200, method 1", "depth 200, method 2")),
    Statement("K5", "figure 6", "MC is more certain with rollouts of 20 moves than with those of 200.",
              "kutsch:certainty-mc", (higher("MC, depth 20", "MC, depth 200"),)),
    Statement("K6", "figure 6", "The certainty of MC falls with the number of empty cells.", "kutsch:figure6",
              tuple(higher(few, many) for few, many in EMPTY)),
    Statement("K7", "figure 8", "MCTS, whose nodes hold one outcome of chance, is best with a tree depth of 1.",
              "kutsch:figure8",
              (*best("tree depth 1", *(f"tree depth {n}" for n in (2, 3, 5, 10))),
               higher("tree depth 1", "tree depth 10"))),
    Statement("K8", "5.2", "The formula UCTN improves MCTSE by about 5 % over UCT (here: by 0 to 10 %).",
              "kutsch:agents",
              (higher("MCTSE, UCTN", "MCTSE, UCT"), higher("MCTSE, UCT", "MCTSE, UCTN", by=1 / 1.1))),
    Statement("K9", "5.2", "MCTSE has about 65 % more points than MCTS (here: at least 50 %).", "kutsch:agents",
              (higher("MCTSE, UCTN", "MCTS, tree depth 1", by=1.5),)),
    Statement("K10", "5.2", "MCTSE has more points than MC.", "kutsch:agents", (higher("MCTSE, UCTN", "MC"),)),
    Statement("K11", "figure 11", "MCTSE with UCTN does not depend on the tree depth from 5 on.", "kutsch:figure11",
              alike("MCTSE, UCTN, tree depth 5", "MCTSE, UCTN, tree depth 10")),
    Statement("K12", "figure 12", "MCTSE with UCTN is best with 500 nodes.", "kutsch:figure12",
              best("UCTN, 500 nodes", *(f"UCTN, {n:,} nodes" for n in (250, 1000, 2000, 4000)))),
    Statement("K13", "figure 12", "MCTSE with UCTN is worst with 1,000 nodes.", "kutsch:figure12",
              tuple(higher(f"UCTN, {n:,} nodes", "UCTN, 1,000 nodes") for n in (250, 500, 2000, 4000))),
    Statement("K14", "figure 12", "MCTSE with UCT has the same points with 500 to 4,000 nodes.", "kutsch:figure12",
              alike(*(f"UCT, {n:,} nodes" for n in (500, 1000, 2000, 4000)))),
    Statement("K15", "figure 13", "UCTN is best with a K of about 1.414.", "kutsch:figure13",
              best("UCTN, K = 1.414", *(f"UCTN, K = {k}" for k in ("0.2", "0.7", "4")))),
    Statement("K16", "figure 13", "UCT is best with a K of about 0.0566.", "kutsch:figure13",
              best("UCT, K = 0.0566", *(f"UCT, K = {k}" for k in ("0.0141", "0.2", "1.414")))),
    Statement("K17", "figure 15", "With short rollouts MC is far better than MCTSE.", "kutsch:figure15",
              (higher("MC, depth 5", "MCTSE, depth 5"), higher("MC, depth 20", "MCTSE, depth 20"))),
    Statement("K18", "figure 15", "MCTSE is best with rollouts of about 150 moves.", "kutsch:figure15",
              best("MCTSE, depth 150", *(f"MCTSE, depth {n}" for n in (5, 20, 50, 300)))),
    Statement("K19", "figure 15", "MCTS is best with rollouts of about 150 moves.", "kutsch:figure15",
              best("MCTS, depth 150", *(f"MCTS, depth {n}" for n in (5, 20, 50, 300)))),
    Statement("K20", "table 1", "UCTN visits better actions more often.", "kutsch:table1",
              increasing(*(f"UCTN, {rank}" for rank in reversed(OF_RANKS)))),
    Statement("K21", "table 1", "UCT visits all actions equally often.", "kutsch:table1",
              alike(*(f"UCT, {rank}" for rank in OF_RANKS))),
    Statement("K22", "figure 14", "A deeper tree makes MCTS less certain.", "kutsch:certainty-trees",
              (higher("MCTS, tree depth 1", "MCTS, tree depth 10"),)),
    Statement("K23", "figure 14", "MCTSE is more certain than MCTS.", "kutsch:certainty-trees",
              (higher("MCTSE, tree depth 10", "MCTS, tree depth 10"),)),
    Statement("K24", "table 2", "A vote of five or ten MCTSE has more points than one.", "kutsch:table2",
              (higher("5 agents", "1 agent"), higher("10 agents", "1 agent"))),
    Statement("K25", "table 2", "A vote of more MCTSE is more certain.", "kutsch:table2-certainty",
              increasing(*(f"{n}{SAME_POSITIONS}" for n in ("1 agent", "5 agents", "10 agents")))),
    Statement("K26", "table 3", "Five or ten times the iterations make MCTSE more certain.", "kutsch:table3-certainty",
              increasing(*(f"{n}{SAME_POSITIONS}" for n in ("3,500 iterations", "17,500 iterations",
                                                            "35,000 iterations")))),
    Statement("K27", "table 3", "Five or ten times the iterations hardly give MCTSE more points (here: within 10 %).",
              "kutsch:table3", alike("3,500 iterations", "17,500 iterations", "35,000 iterations")),
    Statement("K28", "7.1.3", "Balanced heuristics improve MCTSE by 5 to 10 % (here: by at least 5 %).",
              "kutsch:program", (higher("bonuses of the program", "rollouts", by=1.05),)),
    Statement("K29", "figure 25", "Learning is best with an epsilon of about 0.65.", "kutsch:epsilon",
              best("epsilon 0.65", *(f"epsilon {e}" for e in (0.0, 0.1, 0.25, 0.45, 0.85, 1.0)))),
    Statement("K30", "figure 26", "Learning is best with an alpha of about 0.001.", "kutsch:alpha",
              best("alpha 0.001", *(f"alpha {a}" for a in (0.0001, 0.0003, 0.003, 0.006)))),
    Statement("K31", "figure 27", "Learning is best with a gamma of 1.", "kutsch:gamma",
              best("gamma 1.0", *(f"gamma {g}" for g in (0.9, 0.99, 0.995, 0.999)))),
    Statement("K32", "figure 28", "Learning is best with a lambda of 1.", "kutsch:lambda",
              best("lambda 1.0", *(f"lambda {x}" for x in (0.0, 0.25, 0.5, 0.75)))),
    Statement("K33", "8", "Values in place of rollouts make expectimax stronger than MCTSE.", "kutsch:beyond",
              (higher("Expectimax, 3 decisions, row tables", "MCTSE"),)),
    Statement("K34", "5.1", "The four rules of the final move make no significant difference (here: within 10 %).",
              "kutsch:final-move", alike("max child", "robust child", "robust-max child", "secure child")),
    Statement("K35", "8", "Heuristics and a vote together have more points than either alone.",
              "kutsch:heuristics-vote", (higher("heuristics and vote", "heuristics"),
                                         higher("heuristics and vote", "vote"))),
    Statement("K36", "5", "A K that falls over the game improves UCT.", "kutsch:falling-exploration",
              (higher("UCT, K from 0.0566 to 0.0144", "UCT, K = 0.0566"),)),
    Statement("K37", "9.2", "By won and lost rollouts alone, MCTSE plays like a random agent (here: has at most twice"
              " its points).", "kutsch:win-or-loss", (higher("random", "a 2048 wins", by=0.5),)),
    Statement("K38", "4.5", "A plan against the worst tile makes sure that good actions are chosen (here: at least 90 %"
              " of the points of one with the mean).", "kutsch:worst-case",
              (higher("worst of the tiles", "mean of the tiles", by=0.9),)),
    Statement("K39", "3.2", "The length of rollouts is a worse value for MC than their score.", "kutsch:rollout-length",
              tuple(higher(f"score, depth {n}", f"length, depth {n}") for n in (20, 200))),
    Statement("K40", "6.2", "Networks of random walks learn clearly better than those of random points (here: 10 %).",
              "kutsch:networks", (higher(WALK, "random points, 20 tuples of 3", by=1.1),)),
    Statement("K41", "6.2", "Tuples of three cells learn better than those of four.", "kutsch:networks",
              (higher(WALK, "random walk, 20 tuples of 4"),)),
    Statement("K42", "6.2", "Networks improve up to about 20 tuples, and hardly from there on (here: by at most 10 %).",
              "kutsch:networks", (higher(WALK, "random walk, 10 tuples of 3"),
                                  higher(WALK, "random walk, 40 tuples of 3", by=1 / 1.1))),
    Statement("K43", "6.2", "Learning from the score at the end (method 1) is much better than from each move's"
              " (method 2).", "kutsch:methods", tuple(higher(ENDS[1, x], ENDS[2, x]) for x in (0, 1))),
    Statement("K44", "6.3", "Learning from each move's score (method 2) is clearly better than from that at the end"
              " (method 1).", "kutsch:methods", tuple(higher(ENDS[2, x], ENDS[1, x]) for x in (0, 1))),
    Statement("K45", "figure 6", "The certainty of MC hardly depends on the number of actions (here: within 10 %).",
              "kutsch:certainty-actions",
              tuple(claim for depth in (20, 200)
                    for claim in alike(*(f"MC, depth {depth}, {n} actions" for n in (2, 3, 4))))),
    Statement("K46", "figure 22", "Rollouts get about three times as long when 1,024, 2,048 and 4,096 are built (here:"
              " at least twice).", "kutsch:figure22", tuple(higher(after, before, by=2) for before, after in BUILT),
              "25 moves before nearly all of our games build it, and the first 25 after the published one did"),
)  # fmt: skip
