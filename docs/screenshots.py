"""Makes the pictures of the dashboards in docs/images; tests look at the pages with the same functions."""

import contextlib
import hashlib
import os
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.progress import track

REPO = Path(__file__).resolve().parent.parent
TURNIER = [sys.executable, "-c", "from turnier.commands.app import main; main()"]
MAX_HEIGHT = 1500  # px
# The pictures in our documents: name -> page, see `addresses`.
PICTURES = {
    "runs": "runs",
    "pairs": "yavalath_pairs",
    "board": "2048_match",
    "tournament": "yavalath_result",
    "certainty": "certainty",
    "studies": "study",
    "training": "training",
    "replay_spe_ed": "spe_ed_match",
}
PAIR = {"yavalath_pairs": "?agent=alphabeta%28depth%3D2%29&against=mcts%28iterations%3D300%29"}  # opens a cell
MADE_OF = REPO / "docs/images/made_of.txt"  # the digest of what the pictures show, and those of the words in some
AGAIN = ("pairs", "tournament", "training")  # pictures that are quickly made again, by a test

# The store of the pictures: a comparison, tournaments of one and more seats, certainty, training, a study, a report.
COMMANDS: tuple[tuple[str, ...], ...] = (
    ("compare", "mcts(iterations=30)", "mcts(iterations=33)", "--game", "tictactoe"),
    ("train", "tictactoe", "ntuple", "--games", "3000", "--every", "250", "--out", "t.npz", "--evaluate-every", "500",
     "--against", "random"),
    ("certainty", "2048", "random", "mc(iterations=30)", "mc(iterations=300)", "--states", "4", "--repeats", "8",
     "--games", "6"),
    ("tournament", "2048", "random", "greedy", "mc(iterations=30)", "mc(iterations=300)", "--games", "30"),
    ("tournament", "yavalath", "mcts(iterations=300)", "mc(iterations=60)", "alphabeta(depth=2)", "random", "--games",
     "12", "--openings", "1"),
    ("tournament", "spe_ed(width=40,height=40,players=3)", "combi", "rollouts", "basic", "--games", "6"),
)  # fmt: skip
STUDY = ("cmaes_heuristics.py", "--population", "6", "--games", "8", "--generations", "6", "--verify", "1")
EXPERIMENT = ("weitz/board_sizes.py", "--preset", "tiny")


def commands_again() -> list[tuple[str, ...]]:
    """Returns the commands that play what the pictures of AGAIN show."""
    return [words for words in COMMANDS if words[0] == "train" or words[:2] == ("tournament", "yavalath")]


def make_store(
    folder: Path,
    commands: Sequence[Sequence[str]] = COMMANDS,
    scripts: Sequence[Sequence[str]] = (STUDY, EXPERIMENT),
) -> str:
    """Plays into a new store in a folder; returns its URL. Takes about two minutes with all of the commands."""
    url = f"sqlite:///{folder}/turnier.db"
    for words in track(commands, "playing", disable=not sys.stderr.isatty()):
        where = ["--store", url, *(["--executor", "threads"] if words[0] != "train" else [])]
        _run([*TURNIER, *words, *where], folder)
    for script, *words in scripts:
        _run([sys.executable, str(REPO / "studies" / script), *words, "--store", url, "--executor", "threads"], folder)
    return url


def _run(command: Sequence[str], folder: Path) -> None:
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError(f"{' '.join(command)}: {done.stderr[-2000:]}")


@contextlib.contextmanager
def served(store: str) -> Iterator[str]:
    """Serves the dashboards of a store; yields their address."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = str(free.getsockname()[1])
    command = [*TURNIER, "dashboard", "--store", store, "--port", port]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            assert process.stdout
            greeting = process.stdout.readline()
            address = next(word for word in greeting.split() if word.startswith("http://"))
            _wait_for(address)
            yield address
        finally:
            process.terminate()
            process.wait(30)


def _wait_for(address: str) -> None:
    for _ in range(300):
        with contextlib.suppress(OSError), urllib.request.urlopen(address, timeout=5):
            return
        time.sleep(0.1)
    raise RuntimeError(f"{address} must answer, but does not.")


@contextlib.contextmanager
def browser() -> Iterator[Any]:
    """Yields Debian's Chromium, driven by Playwright, which brings no browser of its own here."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        program = os.environ.get("CHROMIUM") or shutil.which("chromium") or shutil.which("chromium-browser")
        opened = playwright.chromium.launch(executable_path=program, args=["--no-sandbox"])
        yield opened
        opened.close()


def settle(page: Any, timeout: float = 60_000) -> None:
    """Waits until a page is complete: what is in view is drawn, pictures have loaded, and agents have answered."""
    page.wait_for_function(SETTLED, timeout=timeout, polling=100)


SETTLED = """() => {
    const near = one => { const box = one.getBoundingClientRect(); return box.bottom > 0 && box.top < innerHeight }
    const main = document.getElementById('main')
    return document.readyState === 'complete' && main && !main.ariaBusy && !main.textContent.startsWith('Loading')
        && [...document.querySelectorAll('figure.chart')].every(one => one.dataset.drawn || !near(one))
        && [...document.images].every(one => one.complete || !near(one))
        && !document.getElementById('thoughts')?.textContent.startsWith('Asking')
}"""


# The text of a page without its charts, which may not be drawn yet, and its list of games, the latest first.
WORDS = """() => [...document.querySelectorAll('h1, main')].map(one => {
    const copy = one.cloneNode(true)
    copy.querySelectorAll('script, .plot, .panel').forEach(part => part.remove())
    return copy.textContent
}).join(' ')"""


def photograph(page: Any, path: Path, maximum: int = MAX_HEIGHT) -> str:
    """Saves a picture of a whole page in its full height; returns the digest of the words in it, without numbers."""
    size = page.viewport_size
    high = page.evaluate("document.documentElement.scrollHeight")
    page.set_viewport_size({"width": size["width"], "height": min(int(high) + 10, maximum)})
    page.wait_for_timeout(600)  # charts take the new width
    settle(page)
    page.screenshot(path=path)
    shown = page.evaluate(WORDS)
    page.set_viewport_size(size)
    return hashlib.sha256(" ".join(re.findall("[A-Za-z]{3,}", shown)).encode()).hexdigest()[:16]


def main(
    store: Annotated[str, typer.Option(help="a store to look at; default: a new one is played")] = "",
    out: Annotated[Path, typer.Option(help="folder for the pictures")] = REPO / "docs" / "images",
    width: Annotated[int, typer.Option(help="px; a phone has 390")] = 1280,
    pages: Annotated[list[str] | None, typer.Option("--page", help="address with its choices; default: all")] = None,
    max_height: Annotated[int, typer.Option(help="maximum height in px")] = MAX_HEIGHT,
) -> None:
    """Makes the pictures of the dashboards: plays a small store, serves it, and looks at it with Chromium.

    \b
    Examples:
      python docs/screenshots.py
      python docs/screenshots.py --store sqlite:///turnier.db --out /tmp/pictures --width 390 --page /league
    """
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        url = store or make_store(Path(folder))
        with served(url) as address, browser() as chromium:
            named = (
                {page.strip("/").replace("/", "-") or "runs": page for page in pages}
                if pages
                else shown_in_documents(url)
            )
            words = {}
            for name, wanted in track(named.items(), "looking", disable=not sys.stderr.isatty()):
                page = chromium.new_page(viewport={"width": width, "height": 900})
                with playing(url) if wanted == "/" and not store else contextlib.nullcontext():
                    page.goto(f"{address}{wanted}")
                    settle(page)
                    words[name] = photograph(page, out / f"{name}.png", max_height)
                page.close()
    if out == MADE_OF.parent and not pages:
        MADE_OF.write_text("\n".join([digest(), *(f"{name} {words[name]}" for name in AGAIN), ""]))


def shown_in_documents(url: str) -> dict[str, str]:
    """Returns the pages of our pictures by the names of their files."""
    known = addresses(url)
    return {name: known[page] + PAIR.get(page, "") for name, page in PICTURES.items() if page in known}


def digest() -> str:
    """Returns a text that changes when the pages do: their parts, scripts and styles."""
    folders = ("dashboards/pages", "dashboards/app/static", "platform/server/board/static")
    found = sorted(path for folder in folders for path in (REPO / folder).iterdir() if path.is_file())
    return hashlib.sha256(b"".join(path.read_bytes() for path in found)).hexdigest()[:16]


def addresses(url: str) -> dict[str, str]:
    """Returns the pages of a store by the names of their pictures: a run of each kind, its tabs, a pair, and a move."""
    from turnier.dashboards.links import match_address, run_address
    from turnier.results.store.store import Store

    with Store.open(url, read_only=True) as store:
        runs = store.runs()
        by_game = {run.name.partition("(")[0]: run.id for run in runs if run.kind == "tournament"}
        by_kind = {run.kind: run.id for run in runs if run.kind != "tournament"}
        found = {"runs": "/", "league": "/league", "play": "/play", "analyse": "/analyse"}
        found |= {kind: run_address(run) for kind, run in by_kind.items()}
        if study := by_kind.get("study"):
            found["search"] = run_address(study, "search")
        for game, run in by_game.items():
            [*_, (*_, last)] = store.records_of_run(run)
            found[f"{game}_result"] = run_address(run)
            found[f"{game}_match"] = match_address(run, last.spec.id, min(40, sum(last.decisions) - 1))
            for tab in ("pairs", "games", "cost", "origin"):
                found[f"{game}_{tab}"] = run_address(run, tab)
        if len(by_game) > 1:
            both = "&".join(f"run={run}" for run in list(by_game.values())[:2])
            found["compare"] = f"/compare?{both}"
    return found


@contextlib.contextmanager
def playing(url: str) -> Iterator[None]:
    """A run is in progress meanwhile."""
    words = ("tournament", "2048", "mc(iterations=100)", "mctse(iterations=500)", "--games", "1000", "--store", url)
    quiet: dict[str, Any] = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with subprocess.Popen([*TURNIER, *words, "--executor", "threads", "--workers", "1"], **quiet) as process:
        time.sleep(30)
        yield
        process.kill()


if __name__ == "__main__":
    typer.run(main)
