"""A program that plays the last legal move of tic-tac-toe, with a habit.

usage: odd.py uci | gtp | json HABIT [PATH of a file that gets a line at each start]

plain      nothing special
twice      its first answer of a match comes together with another one, which is legal one move later
behind     uci: as twice, but the other one comes before the answer to the next line
unnumbered gtp: as twice, and it does not know the numbers of commands
once       it ends when a second match begins, or is asked for its first move where the protocol has no answer to that
never      it ends when it is asked for a move
second     it ends when it is asked for its second move
sizes      gtp: it refuses all sizes
unflushed  json: its output stays in Python's buffer, unless that has none
"""

import json
import sys

CELLS = [f"{column}{row}" for row in (1, 2, 3) for column in "abc"]  # as tic-tac-toe names its actions
protocol, habit = sys.argv[1:3]
for path in sys.argv[3:]:
    with open(path, "a") as file:
        file.write("started\n")
taken: list[str] = []
matches = moves = 0


def say(*lines: str) -> None:
    sys.stdout.write("".join(f"{line}\n" for line in lines))
    if habit != "unflushed":
        sys.stdout.flush()


def begin() -> None:
    global matches, moves
    matches, moves = matches + 1, 0
    if habit == "once" and matches > 1:
        sys.exit(0)


def free() -> list[str]:
    """Returns the cells to play now, and at the next move where this one is answered twice."""
    global moves
    moves += 1
    if habit == "never" or (habit == "second" and moves == 2):
        sys.exit(7)
    cells = [cell for cell in CELLS if cell not in taken]
    return [cells[-1], cells[0]] if habit in ("twice", "unnumbered") and moves == 1 else [cells[-1]]


for line in sys.stdin:
    words = line.split()
    if protocol == "json":
        message = json.loads(line)
        if message["type"] == "hello":
            say('{"type": "ready", "protocol": 1}')
        elif message["type"] == "game":
            begin()
        elif message["type"] == "move":
            taken = message["moves"]
            say(*(json.dumps({"move": cell}) for cell in free()))
    elif protocol == "uci":
        if habit == "behind" and moves == 1 and words[0] != "go":
            say("bestmove a1")
            moves += 1
        if words[0] == "uci":
            say("id name odd", "option name Skill Level type spin default 20 min 0 max 20")
            say("option name Own Book type check default true", "option name Clear Hash type button")
            say("option name Style type combo default Solid var Solid var Wild Style", "option name File type string")
            say("uciok")
        elif words[0] == "isready":
            say("readyok")
        elif words[0] == "ucinewgame":
            begin()
        elif words[0] == "position":
            taken = words[3:]
        elif words[0] == "go":
            say(*(f"bestmove {cell}" for cell in free()))
    else:
        number = words.pop(0) if words[0].isdecimal() and habit != "unnumbered" else ""
        mark, answers = "=", [""]
        if words[0] == "list_commands":
            answers = ["list_commands\nboardsize\nclear_board\nplay\ngenmove"]
        elif words[0] == "boardsize" and habit == "sizes":
            mark, answers = "?", ["unacceptable size"]
        elif words[0] == "clear_board":
            taken = []
            begin()
        elif words[0] == "play":
            taken.append(words[2])
        elif words[0] == "genmove":
            answers = free()
            taken.append(answers[0])
        say(*(f"{mark}{number} {answer}\n" for answer in answers))
