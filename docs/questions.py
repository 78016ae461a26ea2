"""Asks the pages the questions of people who do not know them; tests ask the same of a small store."""

import contextlib
import itertools
import json
import os
import shutil
import subprocess
import tempfile
import time
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, NamedTuple

import typer

from docs.screenshots import COMMANDS, TURNIER, browser, make_store, served, settle
from turnier.dashboards.links import run_address

WITHIN = 1.0  # s from a click to the answer, on a machine that does nothing else
LATEST = 30.0  # s after which a question is given up
VIEWPORT = {"width": 1280, "height": 800}
SEEN = """([tab, answers]) => {
    if (tab !== document.querySelector('.tabs [aria-current]')?.textContent) return false
    const inside = [...document.querySelectorAll('main *')].filter(one => {
        const box = one.getBoundingClientRect()
        return !one.children.length + one.matches('tr, b, .verdict, svg text, dl, p, td, pre, h2, figcaption')
            && box.height > 0 && box.top >= 0 && box.bottom <= innerHeight
    }).map(one => one.textContent.replaceAll('\\u00a0', ' '))
    return answers.every(answer => inside.some(text => new RegExp(answer, 'i').test(text)))
}"""


class Question(NamedTuple):
    """A question, the kinds of runs that answer it, the tab to click, and patterns of texts that together answer it."""

    text: str
    kinds: tuple[str, ...]
    tab: str
    answers: tuple[str, ...]


BEST = r"leads.*: [\d.,]+ .*the best of these with .* %"
COURSE = r"over the game, .* certain.*: from .* % .* to .* %"
IMPORTANT = r"(matters most:|has the largest share,) [\d.]+ % \([\d.]+ to [\d.]+\)"
QUESTIONS = (
    Question("which agent is best, how sure", ("tournament",), "Result", (BEST, "ruled out with 95 % confidence")),
    Question("did tuning help, significantly", ("study",), "Result", (r"held-out games.*wrong in at most",)),
    Question("who beats whom", ("tournament",), "Pairs", ("Who beats whom", r"^\d+(\.\d+)?\*?$")),
    Question("what did certainty show", ("certainty",), "Result", (r"leads: .* % .*certainty", COURSE)),
    Question("how far is the run, when does it end", ("live",), "Result", (r"Running: .* of .* games",)),
    Question("which games went wrong", ("failing",), "Failures", (r"(failed|void).*(%|void)", "All games that failed")),
    Question("what does this cost", ("tournament", "comparison"), "Cost", (r"time of its agents[\d.,]+ (.?s|min|h)",)),
    Question("which parameters matter", ("study",), "Search", (IMPORTANT,)),
    Question("how do I use the winner", ("study",), "Result", (r"^\w+\(",)),
    Question("how do I play with the winner", ("tournament",), "Result", (r"^turnier play .+\w",)),
    Question("how do I go on", ("stopped",), "Origin", ("To resume it:", r"^turnier \w+ ")),
    Question(
        "can I repeat it", ("tournament", "comparison", "training", "study"), "Origin",
        (r"turnier \d.*python \d", r"^seed\d+$", r"^turnier \w+ "),
    ),
)  # fmt: skip


def seconds_to(page: Any, base: str, run: str, question: Question) -> float:
    """Opens a run, clicks the tab, and returns the seconds until the answer is in view, at most LATEST.

    A run whose result answers is opened from the list of runs.
    """
    place = f"{base}{run_address(run)}"
    page.goto(place if question.tab == "Result" else f"{place}/{question.tab.lower()}")
    settle(page)  # so that what is measured is the page, not the first reading of the store
    page.goto(f"{base}/?most=5000" if question.tab == "Result" else place)
    settle(page)
    link = (
        page.locator(f'main a[href="{run_address(run)}"]').first
        if question.tab == "Result"
        else page.locator(".tabs").get_by_role("link", name=question.tab, exact=True)
    )
    link.scroll_into_view_if_needed()
    begun = time.perf_counter()
    link.click()
    asked = [question.tab, question.answers]
    page.wait_for_function(SEEN, arg=asked, timeout=1000 * LATEST, polling="raf")
    took = time.perf_counter() - begun
    settle(page)
    page.wait_for_function(SEEN, arg=asked, timeout=1000 * WITHIN)  # the charts have not pushed it out of view
    return took


def slowness() -> float:
    """Returns how many times as long as on a free machine work takes here now, by a piece of it; at least 1."""
    began, spent = time.perf_counter(), time.process_time()
    while time.process_time() - spent < 0.1:
        pass
    return max(1.0, (time.perf_counter() - began) / 0.1)


RAISES = '''
from dataclasses import dataclass
import numpy as np
from turnier.agents.agent import Agent, Decision

@dataclass(frozen=True)
class Raises(Agent):
    """Plays the first action; raises an exception at its third move."""

    def start(self, game, seat=0, seed=0):
        return Player()

class Player:
    def __init__(self):
        self.moves = 0

    def act(self, position):
        self.moves += 1
        if self.moves == 3:
            raise ValueError("I lost my table of openings")
        return Decision(position.legal_actions()[0], np.zeros(9), np.zeros(9), 0, 0.0)
'''
MANY = [f"mcts(iterations={n})" for n in range(2, 202)]
# Runs of the kinds and sizes that people have, beside those of our pictures.
STORES: tuple[tuple[str, ...], ...] = (
    ("tournament", "connect_four", *MANY[:14], "--games", "4", "--openings", "1"),
    ("tournament", "tictactoe", *MANY[:50], "--games", "4"),
    ("tournament", "tictactoe", *MANY, "--format", "swiss", "--games", "2", "--seed", "2"),
    ("tournament", "tictactoe", "random", "greedy", "mc(iterations=1)", "mcts(iterations=2)", "--games", "50000",
     "--seed", "3"),
    ("tournament", "tictactoe", "./raises.py:Raises", "random", "mcts(iterations=30)", "--games", "20"),
    ("compare", "mcts(iterations=200)", "mcts(iterations=10)", "--game", "tictactoe"),
    ("compare", "mcts(iterations=30)", "mcts(iterations=31)", "--game", "connect_four", "--games", "40"),
    ("tune", "tictactoe", "mcts(iterations=10)", "--parameters", "exploration=0..4,iterations=5..60", "--budget",
     "1500", "--name", "duels"),
    ("tune", "tictactoe", "mcts(iterations=10)", "--parameters", "exploration=0..4,iterations=5..20", "--budget",
     "300", "--against", "random", "--sampler", "tpe", "--name", "tpe"),
    ("certainty", "yavalath", "mc(iterations=20)", "mcts(iterations=100)", "--states", "4", "--repeats", "8",
     "--games", "4"),
    ("train", "2048(size=3)", "ntuple", "--games", "2000", "--every", "200", "--out", "u.npz"),
    *(("tournament", "nim", "random", "mc(iterations=2)", "--games", "4", "--seed", str(n)) for n in range(40)),
)  # fmt: skip
STOCKFISH = shutil.which("stockfish", path=f"{os.environ.get('PATH', '')}:/usr/games")
CHESS = ("tournament", "chess", *(f"uci(command={STOCKFISH},nodes={n})" for n in (50, 500)), "random", "--games", "2")
LONG = ("tournament", "2048", "mc(iterations=100)", "mctse(iterations=500)", "--games", "1000", "--executor",
        "threads", "--workers", "1")  # fmt: skip


def make_stores(folder: Path) -> str:
    """Plays all of the runs into one store; returns its URL. Takes about five minutes."""
    (folder / "raises.py").write_text(RAISES)
    url = make_store(folder, [*COMMANDS, *STORES, *([CHESS] if STOCKFISH else [])])
    with running(url, ("--seed", "9")):
        pass  # killed, and so stopped
    return url


@contextlib.contextmanager
def running(url: str, words: tuple[str, ...] = ()) -> Iterator[None]:
    """A long run is in progress meanwhile; then it is killed."""
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([*TURNIER, *LONG, *words, "--store", url], **quiet) as process:
        time.sleep(30)
        yield
        process.kill()


def runs_of(base: str, kind: str) -> Iterator[tuple[str, str]]:
    """Yields the ids of the runs of a kind, or in a state, with what they are."""
    with urllib.request.urlopen(f"{base}/api/runs") as answer:
        runs = json.load(answer)
    for run in runs:
        is_kind = {"live": run["state"] == "running", "stopped": run["state"] == "stopped", "failing": run["failed"]}
        if is_kind.get(kind, run["kind"] == kind and run["state"] == "finished" and run["name"] != "nim"):
            yield run["id"], f"{run['name'][:30]}, {run['matches']:,} games"


def main(
    store: Annotated[str, typer.Option(help="a store to ask; default: a new one is played")] = "",
) -> None:
    """Asks the questions of the pages, and prints the seconds from a click to each answer in view.

    \b
    Examples:
      python -m docs.questions
    """
    with tempfile.TemporaryDirectory() as folder:
        url = store or make_stores(Path(folder))
        with running(url), served(url) as base, browser() as chromium:
            page = chromium.new_page(viewport=VIEWPORT)
            for question in QUESTIONS:
                for run, what in itertools.chain.from_iterable(runs_of(base, kind) for kind in question.kinds):
                    try:
                        took = f"{seconds_to(page, base, run, question):.2f}"
                    except Exception as error:  # the others are asked
                        took = f"not answered: {type(error).__name__}"
                    print(f"{question.text:40} {what:45} {took}", flush=True)


if __name__ == "__main__":
    typer.run(main)
