"""Speaks JSON lines, plays at random and fails in every sixth game or so, as its seed decides."""

import json
import random
import sys

rng = random.Random(0)
fault = "none"
for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "protocol": 1}), flush=True)
    elif message["type"] == "game":
        rng = random.Random(f"{message['seed']} {message['seat']}")
        fault = rng.choice(["garbage", "exits", "illegal", *["none"] * 15])
    elif message["type"] == "move":
        action = rng.choice(message["legal"])
        if fault == "exits":
            sys.exit(1)
        print(
            "garbage" if fault == "garbage" else json.dumps({"action": 99 if fault == "illegal" else action}),
            flush=True,
        )
    elif message["type"] == "quit":
        break
