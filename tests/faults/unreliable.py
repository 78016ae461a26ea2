"""Runs an engine and passes its lines on, but fails at random: killed, stopped, talking nonsense or too late.

usage: unreliable.py NAME FOLDER FAULTS_PER_MOVE COMMAND...

Each fault has a number, which standard error says, so that the game's record quotes it. Files in the folder say what
was done: `faults` the number, the name and the ending that the record must have; `groups` the processes started.
"""

import os
import random
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

SECONDS_TOO_LATE = 4.0
FAULTS = {  # what is done -> how a game must end where the engine speaks UCI, and GTP
    "killed": ("crashed", "crashed"),
    "stopped": ("stalled", "stalled"),
    "garbage": ("illegal_move", "crashed"),
    "illegal": ("illegal_move", "illegal_move"),
    "late": ("timeout", "stalled"),
}


def main() -> None:
    name, folder, rate, *command = sys.argv[1:]
    told = Path(folder)
    note(told / "groups", str(os.getpid()))
    engine = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, bufsize=0)
    assert engine.stdin and engine.stdout
    held = threading.Event()  # while its answers are kept back
    held.set()

    def pass_on() -> None:
        for line in engine.stdout or ():
            held.wait()
            write(line)
        os._exit(engine.wait() & 127)

    threading.Thread(target=pass_on, daemon=True).start()
    for line in sys.stdin.buffer:
        word = line.split()[0] if line.strip() else b""
        gtp = word == b"genmove"
        if (word == b"go" or gtp) and random.random() < float(rate):
            fault = random.choice(list(FAULTS))
            number = f"fault-{os.getpid()}-{time.monotonic_ns()}"
            note(told / "faults", f"{number} {name} {FAULTS[fault][gtp]}")
            print(number, file=sys.stderr, flush=True)
            time.sleep(0.05)  # what is written to standard error arrives before the answer
            if fault == "killed":
                os.killpg(0, signal.SIGKILL)
            elif fault == "stopped":
                os.killpg(0, signal.SIGSTOP)
            elif fault == "garbage":
                write(os.urandom(200).replace(b"=", b"?") + b"\n\nbestmove \xff\xfe\n")
                continue
            elif fault == "illegal":
                write(b"= Z99\n\n" if gtp else b"bestmove a1a1\n")
                continue
            else:
                held.clear()
                if gtp:
                    threading.Timer(SECONDS_TOO_LATE, held.set).start()
        elif word == b"stop":
            held.set()
        engine.stdin.write(line)
    engine.stdin.close()
    sys.exit(engine.wait())


def note(file: Path, text: str) -> None:
    with file.open("a") as out:
        out.write(text + "\n")


def write(data: bytes) -> None:
    while data:
        data = data[os.write(1, data) :]


if __name__ == "__main__":
    main()
