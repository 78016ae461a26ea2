"""Stands in for Java with Ludii: speaks the bridge's protocol and plays by our rules, with sites in Ludii's order.

Called as Java is: stand_in.py [FAULT] -cp JAR Bridge.java. A fault is one of FAULTS.
"""

from __future__ import annotations

import json
import os
import random
import re
import subprocess
import sys
import time
from pathlib import Path

from turnier.games.game import Game
from turnier.games.registry import make_game

FAULTS = ("protocol", "dies", "hangs", "garbage", "rules", "illegal")
STAND_IN = Path(__file__).resolve()
COORDINATES = Path(__file__).parents[2] / "data/yavalath/coordinates.jsonl"
AGENTS = ("Random", "UCT", "Biased MCTS (Uniform Playouts)")
WARM = 2  # decisions after which faults of thinking begin


def game_of(file: str, swap: bool, options: list[str]) -> Game:
    """Returns our game of a game of Ludii's."""
    chosen = dict(option.split("/") for option in options)
    size = int(re.split("x", chosen.get("Board Size", "3x3"))[0])
    if file == "Yavalath.lud":
        return make_game(f"yavalath(size={size},players={chosen['Players'][0]},swap={str(swap).lower()})")
    if file == "Reversi.lud":
        return make_game(f"othello(size={size})")
    if file == "Hex.lud":
        assert swap == (chosen["Swap Rules"] == "On")
        return make_game(f"hex(size={size},swap={str(swap).lower()})")
    return make_game({"Tic-Tac-Toe.lud": "tictactoe", "Connect Four.lud": "connect_four"}[file])


def board_of(game: Game) -> tuple[list[str], list[int]]:
    """Returns the labels of all sites and the cell (of connect four the column) of each."""
    if game.name == "yavalath":
        if game.num_cells == 61:
            lines = [json.loads(line) for line in COORDINATES.read_text().splitlines()]
            order = sorted(lines, key=lambda line: int(line["ludii_site"]))
            return [line["label"] for line in order], [line["idx"] for line in order]
        cells = list(range(game.num_cells))[::-1]
        return [game.action_name(cell) for cell in cells], cells
    if game.name == "connect_four":
        return [f"{letter}1" for letter in "ABCDEFG"], list(range(7))
    n = int(game.num_cells**0.5)
    labels = [f"{chr(65 + i % n)}{i // n + 1}" for i in range(n * n)]
    # Othello and Hex lie such that only some of the turned boards agree with the rules.
    cells = [(i % n) * n + i // n if game.name == "hex" else i for i in range(n * n)]
    return labels, cells


class Match:
    def __init__(self, game: Game, seed: int, agent: str) -> None:
        assert agent in AGENTS, f"Ludii has no agent named {agent}"
        self.position, self.rng, self.swapped, self.passes = game.start(), random.Random(seed), False, 0
        self.labels, self.cells = board_of(game)

    def words(self) -> dict[str, int]:
        game = self.position.game
        return {self.word(action): action for action in self.position.legal_actions()} if game else {}

    def word(self, action: int) -> str:
        game = self.position.game
        if action >= len(self.cells):
            return "pass" if game.name == "othello" else "swap"
        if self.swapped and game.name == "hex":  # the stones stay, the seats change their sides
            n = int(game.num_cells**0.5)
            action = action % n * n + action // n
        return str(self.cells.index(action))

    def play(self, word: str) -> None:
        if self.position.over and word == "pass":
            self.passes += 1
            return
        self.position = self.position.play(self.words()[word])
        self.swapped = self.swapped or word == "swap"

    def situation(self) -> list[str]:
        position = self.position
        if position.over and position.game.name == "othello" and self.passes < 2:
            return ["1", "pass"]
        if position.over:
            ranks = [1 + (1 - value) * (len(position.returns) - 1) / 2 for value in position.returns.tolist()]
            return ["over", *map(str, ranks)]
        return [str(position.to_move + 1), *self.words()]

    def think(self) -> str:
        """Wins where it can at once, otherwise plays at random."""
        words = self.words()
        seat = self.position.to_move
        for word, action in words.items():
            if self.position.play(action).returns[seat] > 0:
                return word
        return self.rng.choice(list(words))


def main() -> None:
    fault = sys.argv[1] if sys.argv[1] in FAULTS else ""
    jar, bridge = sys.argv[-2:]
    assert sys.argv[-3] == "-cp" and Path(jar).is_file() and Path(bridge).name == "Bridge.java"
    if fault == "hangs":  # with a child, which must end with it
        child = subprocess.Popen(["sleep", "600"])
        Path(jar).with_name("child").write_text(str(child.pid))
    game: Game | None = None
    match: Match | None = None
    thoughts = 0
    with Path(jar).with_name("log").open("a") as log:
        for line in sys.stdin:
            command, *fields = line.rstrip("\n").split("\t")
            print(command, *fields, file=log, flush=True)
            answer = ["ok"]
            try:
                if command == "quit":
                    return
                if command == "hello":
                    answer += [
                        "turnier-ludii",
                        "0" if fault == "protocol" else "1",
                        "1.3.14",
                        "17.0.1",
                        str(os.getpid()),
                    ]
                elif command == "game":
                    game = game_of(fields[0], fields[1] == "swap", fields[2:])
                    answer += [str(game.num_seats), *board_of(game)[0]]
                elif command == "match":
                    assert game is not None
                    match = Match(game, int(fields[0]), fields[2])
                    answer += match.situation()
                elif command == "moves" and match:
                    for word in fields:
                        match.play(word)
                    answer += match.situation()
                    if fault == "rules":
                        answer.pop()
                elif command == "think" and match:
                    thoughts += 1
                    answer += [match.think(), fields[1]]
                    if thoughts > WARM and fault == "dies":
                        print("java.lang.OutOfMemoryError: Java heap space", file=sys.stderr, flush=True)
                        os._exit(3)
                    if thoughts > WARM and fault == "hangs":
                        time.sleep(600)
                    if thoughts > WARM and fault == "garbage":
                        answer = ["what?"]
                    if thoughts > WARM and fault == "illegal":
                        answer[1] = "999"
                else:
                    raise ValueError(command)
            except (AssertionError, KeyError, ValueError) as error:
                answer = ["error", f"{type(error).__name__}: {error}"]
            print("\t".join(answer), flush=True)


if __name__ == "__main__":
    main()
