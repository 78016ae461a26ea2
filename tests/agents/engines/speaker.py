"""A program that plays the last legal move of tic-tac-toe by UCI or GTP; it knows no rules but which cells are taken.

usage: speaker.py uci | gtp | resign | late | lines | many | endless [PATH of a file for what it is told of its time]
"""

import sys
import time

CELLS = [f"{column}{row}" for row in (1, 2, 3) for column in "abc"]  # as tic-tac-toe names its actions
kind, told = sys.argv[1], sys.argv[2:]
taken: list[str] = []


def say(text: str) -> None:
    print(text, flush=True)


for line in sys.stdin:
    words = line.partition("#")[0].split()
    if kind in ("gtp", "resign", "endless") and not words:
        continue  # a comment
    if kind in ("uci", "late", "lines", "many"):
        if words[0] == "uci":
            say("id name speaker\noption name Hash type spin default 1 min 1 max 9")
            say("option name Ponder type check default false\nuciok")
        elif words[0] == "isready":
            say("readyok")
        elif words[0] == "position":
            taken = words[3:]
        elif words[0] == "go":
            if kind == "late" and len(taken) > 2:
                sys.stdin.readline()  # stop
            while kind == "lines" and len(taken) > 2:
                print("info string thinking")
            say("info depth 1 nodes 17 score cp 0")
            if kind == "many":
                say(f"info nodes {2**64}\ninfo nodes {'9' * 5000}")
            say(f"bestmove {[cell for cell in CELLS if cell not in taken][-1]}")
        elif words[0] == "quit":
            break
    else:
        answer = ""
        if words[0] == "list_commands":
            answer = "clear_board\nplay\ngenmove\ntime_settings\ntime_left\nquit"
        elif words[0] in ("time_settings", "time_left"):
            for path in told:
                with open(path, "a") as file:
                    file.write(line)
        elif words[0] == "clear_board":
            taken = []
        elif words[0] == "play":
            taken.append(words[2])
        elif words[0] == "genmove":
            answer = [cell for cell in CELLS if cell not in taken][-1]
            taken.append(answer)
            while kind == "endless":
                say("= and so on" + 50_000 * " and so on")
            if kind == "resign" and len(taken) > 3:
                answer = "resign"
        elif words[0] == "boardsize":
            say("? unknown command\n")
            continue
        say(f"= {answer}\n")
        if words[0] == "quit":
            break
        time.sleep(0)
