"""`make wheel`: builds the wheel, with the machine code of a newcomer's first games in it.

For each level of x86-64 that this machine has, the games of GAMES are played with an empty cache by the code of the
wheel; what they compile goes into the wheel. `core/compilation/cache.py` says when an installation uses it.
"""

from __future__ import annotations

import base64
import hashlib
import os
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

from llvmlite import binding

from turnier.core.compilation.cache import LEVELS, SHIPPED

GAMES = (
    "tictactoe mcts alphabeta random",
    "2048 random greedy",
    "connect_four mcts random",
    "yavalath mcts alphabeta random",
)
ROOT = Path(__file__).resolve().parent


def compiled_by_games(package: Path, level: str, cache: Path) -> None:
    """Plays the games by the package in a folder, for a level of processors, into an empty cache."""
    variables = {
        "PYTHONPATH": str(package),
        "NUMBA_CACHE_DIR": str(cache),
        "NUMBA_CPU_NAME": level,
        "NUMBA_CPU_FEATURES": ",".join(f"+{feature}" for feature in LEVELS[level]),
    }
    for number, words in enumerate(GAMES):
        store = f"sqlite:///{cache}/{number}.db"
        command = [sys.executable, "-m", "turnier", "tournament", *words.split(), "--games", "2", "--store", store]
        subprocess.run(command, check=True, env=os.environ | variables, cwd=cache, stdout=subprocess.DEVNULL)


def with_files(wheel: Path, added: dict[str, Path]) -> None:
    """Adds files to a wheel, by their names in it, and to its RECORD."""
    with zipfile.ZipFile(wheel) as given:
        content = {each.filename: given.read(each) for each in given.infolist()}
    [record] = [name for name in content if name.endswith(".dist-info/RECORD")]
    lines = content.pop(record).decode().splitlines()
    for name, path in added.items():
        content[name] = path.read_bytes()
        digest = base64.urlsafe_b64encode(hashlib.sha256(content[name]).digest()).rstrip(b"=").decode()
        lines.append(f"{name},sha256={digest},{len(content[name])}")
    content[record] = "".join(f"{line}\n" for line in lines).encode()
    part = wheel.with_suffix(".part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as written:
        for name, data in content.items():
            written.writestr(name, data)
    part.replace(wheel)


def main() -> None:
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        command = [
            sys.executable,
            "-m",
            "pip",
            "wheel",
            "--quiet",
            "--no-deps",
            "--wheel-dir",
            f"{folder}/wheel",
            str(ROOT),
        ]
        subprocess.run(command, check=True)
        [wheel] = (folder / "wheel").glob("*.whl")
        with zipfile.ZipFile(wheel) as built:
            built.extractall(folder / "package")
        known = binding.get_host_cpu_features()
        added = {}
        for level, needed in LEVELS.items():
            if missing := [each for each in needed if not known.get(each)]:
                print(f"{level} is left out: this machine has no {', '.join(missing)}.")
                continue
            print(f"Compiling for {level} ...", flush=True)
            (cache := folder / level).mkdir()
            compiled_by_games(folder / "package", level, cache)
            for path in (*cache.rglob("*.nbi"), *cache.rglob("*.nbc")):
                added[f"turnier/{SHIPPED.name}/{level}/{path.relative_to(cache)}"] = path
        with_files(wheel, added)
        (ROOT / "dist").mkdir(exist_ok=True)
        done = wheel.replace(ROOT / "dist" / wheel.name)
        print(f"{done.relative_to(ROOT)}: {done.stat().st_size / 2**20:.1f} MB, {len(added)} files of machine code")


if __name__ == "__main__":
    main()
