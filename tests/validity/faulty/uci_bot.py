"""Speaks UCI, plays tictactoe by a hash of the moves so far, and fails after some of them."""

import hashlib
import sys

CELLS = [column + row for row in "123" for column in "abc"]
moves: list[str] = []
for line in sys.stdin:
    words = line.split()
    if words == ["uci"]:
        print("id name faulty\nuciok", flush=True)
    elif words == ["isready"]:
        print("readyok", flush=True)
    elif words[:1] == ["position"]:
        moves = words[words.index("moves") + 1 :] if "moves" in words else []
    elif words[:1] == ["go"]:
        number = hashlib.sha256(" ".join(moves).encode()).digest()[0]
        if number % 16 == 0:
            sys.exit(2)
        free = [cell for cell in CELLS if cell not in moves]
        print(f"bestmove {moves[0] if number % 16 == 1 and moves else free[number % len(free)]}", flush=True)
    elif words == ["quit"]:
        break
