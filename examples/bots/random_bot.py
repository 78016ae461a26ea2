"""A bot that plays at random by JSON lines, in any game without hidden information: docs/engines.md has the protocol.

turnier play connect_four 'json(command="python3 examples/bots/random_bot.py")' "mcts(iterations=200)" --show
"""

import json
import random
import sys

for line in sys.stdin:
    message = json.loads(line) if line.strip() else {"type": ""}
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "protocol": 1}), flush=True)
    elif message["type"] == "game":
        rng = random.Random(message["seed"])
    elif message["type"] == "move":
        print(json.dumps({"action": rng.choice(message["legal"])}), flush=True)
    elif message["type"] == "quit":
        break
