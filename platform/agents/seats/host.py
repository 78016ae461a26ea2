"""The process of a seat: builds others' agents from their code, and answers for them. It ends with its connection."""

from __future__ import annotations

import json
import os
import socket
import sys
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ...core.errors import UserError
from ...core.outside import carried, library
from ...core.outside.bundle import Bundle
from ...core.outside.carried import Carried
from ...core.outside.classes import described
from ...core.outside.trust import trust
from ...games.game import Game, Position
from ...games.registry import game_of
from ..agent import FollowingPlayer, Player, decide
from ..registry import agent_of
from .frames import (
    ANSWER,
    ASK,
    BEGIN,
    FAILED,
    LOAD,
    LONGEST_TEXT,
    READY,
    TELL,
    TOLD,
    Broken,
    Line,
    Question,
    packed_answer,
)
from .seating import start_player
from .standins import answer

LARGEST = 1 << 28  # bytes of a frame from the referee


_FORKS = frozenset(("os.fork", "os.forkpty", "os.posix_spawn", "os.system"))
_SIGNALS = frozenset(("os.kill", "os.killpg", "signal.pidfd_send_signal"))
_deciding = False


def _one_process(event: str, arguments: tuple[Any, ...]) -> None:
    """An audit hook that keeps an agent to one process, since others could go on while it must rest.

    Programs started before its moves rest with it, or are ended.
    """
    if event in _SIGNALS:
        raise PermissionError("an agent may not send signals")
    if event in _FORKS or (_deciding and event == "subprocess.Popen"):
        raise PermissionError(
            "an agent is one process; it may start programs when a match begins, but not in its moves"
        )


class Host:
    """Plays one match after another, with any agents whose code it has."""

    def __init__(self, line: Line) -> None:
        self._line = line
        self._code: list[Bundle] = []
        self._game: Game
        self._player: Player
        self._following: FollowingPlayer | None = None  # the player, if it follows the match
        self._plies: list[int] = []
        self._before: list[Position] = []

    def serve(self) -> None:
        """Answers until the referee is gone."""
        answers = {LOAD: self._load, BEGIN: self._begin, ASK: self._ask, TELL: self._tell}
        while True:
            try:
                kind, data = self._line.receive(LARGEST)
            except (Broken, OSError):
                return
            try:
                answers[kind](data)
            except BaseException as failure:  # anything raised by others' code, SystemExit as well
                text = described(failure, self._code[0] if self._code else None)
                self._line.send(FAILED, text.encode(errors="replace")[:LONGEST_TEXT])

    def _load(self, data: bytearray) -> None:
        told = json.loads(data)
        os.chdir(told["folder"])
        os.environ["XDG_CACHE_HOME"] = told["cache"]  # which has the digests of files
        self._code = [replace(Bundle.from_json(one), folder=one["folder"]) for one in told["code"]]
        for bundle in self._code:
            library.learn(bundle)
        carried.learn(Carried(*file) for file in told["files"])

    def _tell(self, data: bytearray) -> None:
        try:
            told = {"answer": answer(json.loads(data))}
        except UserError as mistake:
            told = {"mistake": str(mistake)}
        self._line.send(TOLD, json.dumps(told).encode())

    def _begin(self, data: bytearray) -> None:
        told: Mapping[str, Any] = json.loads(data)
        agent, self._game = agent_of(told["agent"]), game_of(told["game"])
        agent.require(self._game)
        agent.prepare(self._game)
        self._player = start_player(agent, self._game, told["seat"], told["seed"], None)
        self._plies, self._before = [], []
        _ = self._game.kernels  # before any clock runs
        self._following = self._player if isinstance(self._player, FollowingPlayer) else None
        self._line.send(READY, bytes([self._following is not None]))

    def _ask(self, data: bytearray) -> None:
        question = Question.of(data)
        position = Position(self._game, question.state, question.returns, question.rng)
        global _deciding
        _deciding = True
        try:
            if self._following is not None:
                self._follow(question)
                self._following.follow(list(self._plies), list(self._before))
            decision = decide(self._player, position)
        finally:
            _deciding = False
        self._line.send(ANSWER, packed_answer(question.number, decision))

    def _follow(self, question: Question) -> None:
        """Plays the new plies and forgets those taken back."""
        plies = question.plies.tolist()
        if plies[: len(self._plies)] != self._plies:
            self._plies, self._before = [], []
        for ply in plies[len(self._plies) :]:
            if self._before:
                position = self._before[-1].stepped(self._plies[-1])
            else:
                position = Position(self._game, question.first, np.zeros(self._game.num_seats), question.rng)
            self._before.append(position)
            self._plies.append(ply)


def serve(end: socket.socket) -> None:
    """Runs a seat's process to its end."""
    sys.addaudithook(_one_process)
    trust()  # others' code can reach only itself here
    Host(Line(end)).serve()
