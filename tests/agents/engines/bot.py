"""A program that plays the first legal action by JSON lines, or fails at its third move of a match as it is told.

usage: bot.py [crash | silent | deaf | late | garbage | illegal | flood | signal | fork] [PATH]
       PATH of a file: fail only if it exists
       bot.py many: it says that it looked at more nodes than a number of 64 bits can be
"""

import json
import os
import signal
import subprocess
import sys
import time

fault = sys.argv[1] if len(sys.argv) > 1 else ""
only_with = sys.argv[2] if len(sys.argv) > 2 else ""
moves = 0


def fail() -> None:
    if fault == "crash":
        print("out of memory", file=sys.stderr, flush=True)
        os._exit(3)
    if fault == "silent":
        time.sleep(3600)
    if fault == "deaf":
        os.kill(os.getpid(), signal.SIGSTOP)
    if fault == "late":
        time.sleep(0.35)
    if fault == "garbage":
        print("nonsense \N{SNOWMAN}", flush=True)
    if fault == "illegal":
        print('{"action": 999}', flush=True)
    if fault == "flood":
        while True:
            sys.stdout.write("x" * 100_000)
    if fault == "signal":
        os.kill(os.getpid(), 35)  # one without a name
    if fault == "fork":
        child = subprocess.Popen(["sleep", "3600"])
        print(child.pid, file=sys.stderr, flush=True)
        os._exit(4)


for line in sys.stdin:
    message = json.loads(line)
    if message["type"] == "hello":
        print(json.dumps({"type": "ready", "protocol": message["protocol"]}), flush=True)
    elif message["type"] == "game":
        moves = 0
    elif message["type"] == "quit":
        break
    else:
        moves += 1
        if moves == 3 and fault and (not only_with or os.path.exists(only_with)):
            if only_with:
                os.remove(only_with)
            fail()
        print(json.dumps({"action": message["legal"][0], "nodes": 2**64 if fault == "many" else 5}), flush=True)
