"""Words of ours that readers may not know, explained where they stand in pages, reports and notebooks."""

from __future__ import annotations

import re
from collections.abc import Callable

MEANINGS = {
    "held-out": "in games on seeds that the search has not seen, so that they favour no lucky candidate",
    "idle-time games": "games of the current recommendation, played by workers that would otherwise have waited",
    "normalised": "0 % if all actions are chosen equally often, 100 % if it is always the same one",
    "agreement": "how often two searches of a position choose the same action, beyond what chance does",
    "collector": "the agent in whose games the searched positions occurred",
    "states": "the number of positions of each group, by legal actions and phase of the game",
    "repeats": "the number of searches of each position",
    "own seeds": "whether each pairing has seeds of its own, so that its games depend on no other pairing",
    "openings": "games start from positions after at most this many plies, drawn by the seed",
    "edition": "the version of the search's rules: a study keeps the one that it began with",
    "driver": "the last process that played the run: machine, and number of the process",
    "openskill mu": "a rating that is updated after each game, with its standard deviation",
    "looks": "how often the test has looked at the games so far",
    "luck": "how much more the search claimed than the held-out games show",
    "claimed": "the search's own estimate of the candidate, which favours the lucky",
    "p (Holm)": "the probability of such a difference by chance alone, corrected for the number of pairs",
    "place": "place in the list; of a rating, the places that the agent may have, of all at once with 95 % probability",
    "Nash": "points against the mixture of agents that no agent beats",
    "better": "the probability that the agent is stronger than the next one of the list",
    "best": "the probability that the agent is the best of all",
    "finalist": "an agent that plays the held-out games: the start, the best candidates, and agents to beat",
    "end": "normal: by the rules of the game; otherwise how an agent failed, or why nobody has won",
    "nodes per move": "positions that the agent has looked at for a move, as it counts them",
}
IN_SENTENCES = ("held-out", "idle-time games", "normalised", "agreement", "collector")
_WORDS = re.compile(rf"(?<![\w-])({'|'.join(IN_SENTENCES)})(?![\w-])", re.IGNORECASE)


def meaning(heading: str) -> str:
    """Returns the meaning of a heading or of the name of a fact, without its unit; empty if it needs none."""
    return MEANINGS.get(heading.partition(", ")[0], "")


def explained(html: str, written: Callable[[str, str], str]) -> str:
    """Returns a sentence with each word that needs it in the form `written(word, meaning)` where it stands first."""
    seen = set[str]()

    def replaced(found: re.Match[str]) -> str:
        word = found[1].lower()
        if word in seen:
            return found[0]
        seen.add(word)
        return written(found[0], MEANINGS[word])

    return _WORDS.sub(replaced, html)
