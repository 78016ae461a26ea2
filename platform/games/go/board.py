"""The state of a Go game, and the effect of a stone on it; see game.py for the rules.

Sites are rows of size + 1 words with a border before, between and after them, so that a neighbour is one addition.
Chains of stones are circles: each stone's word has its colour, the chain's root and the next stone of the chain. The
root's word also has the chain's liberties, counted once for each side of a stone that touches them: if one site alone
makes up that number, the chain is in atari there. So a stone costs a few reads, regardless of the length of its chain.
"""

from __future__ import annotations

import numpy as np

from ...core.kernel import kernel, types
from .. import abi

LARGEST = 19
# Twice the komi is a whole number. PLIES played, PASSES in a row; CAPTURES: whether any stone has been captured.
SIZE, TWICE_KOMI, SUPERKO, MOVER, PLIES, PASSES, CAPTURES, SITES = range(8)
EMPTY, BORDER = 0, 3  # a stone's colour is its seat + 1
COLOUR, ROOT_AT, NEXT_AT, LIBERTIES_AT = 3, 2, 11, 20  # the bits of a site's word
ANY_SITE = 511
LIBERTY = 1 << LIBERTIES_AT
PLIES_PER_CELL = 3

MAX_SITES = (LARGEST + 2) * (LARGEST + 1)
KEYS = np.random.SeedSequence(1908).generate_state(3 * MAX_SITES, np.uint64).view(np.int64).reshape(3, MAX_SITES)


def num_words(size: int) -> int:
    """Returns the length of a state: the sites, and the hash of the position after every ply."""
    return SITES + (size + 2) * (size + 1) + PLIES_PER_CELL * size * size + 1


@kernel(types.int64(abi.State))
def first_hash(state):
    """The word of the first position's hash, that of the empty board."""
    return SITES + (state[SIZE] + 2) * (state[SIZE] + 1)


@kernel(types.int64(abi.State, types.int64))
def site_of(state, cell):
    return SITES + cell + cell // state[SIZE] + state[SIZE] + 1


@kernel(types.UniTuple(types.int64, 4)(abi.State, types.int64))
def beside(state, site):
    return site - state[SIZE] - 1, site - 1, site + 1, site + state[SIZE] + 1


@kernel(types.int64(types.int64))
def root_of(word):
    return SITES + ((word >> ROOT_AT) & ANY_SITE)


@kernel(types.int64(types.int64))
def next_of(word):
    return SITES + ((word >> NEXT_AT) & ANY_SITE)


@kernel(types.int64(abi.State, types.int64, types.int64))
def chain_hash(state, root, colour):
    """The contribution of a chain's stones to the hash of a position."""
    found, stone = KEYS[colour, root - SITES], next_of(state[root])
    while stone != root:
        found ^= KEYS[colour, stone - SITES]
        stone = next_of(state[stone])
    return found


@kernel(types.boolean(abi.State, types.int64, types.int64))
def only_liberty(state, root, site):
    """Whether a chain beside an empty site has no other liberty."""
    touching = 0
    for other in beside(state, site):
        word = state[other]
        touching += word & COLOUR != EMPTY and word & COLOUR != BORDER and root_of(word) == root
    return state[root] >> LIBERTIES_AT == touching


@kernel(types.boolean(abi.State, types.int64))
def repeats(state, key):
    """Whether a position has occurred: ever or, with a simple ko, before the opponent's last move."""
    first = first_hash(state)
    last = first + state[PLIES]
    found = False
    for word in range(first if state[SUPERKO] else last - 1, last):
        found |= state[word] == key
    return found


@kernel(types.boolean(abi.State, types.int64))
def may_place(state, site):
    """Whether the mover may place a stone on a site: it is empty, the stone gets a liberty, and no position recurs.

    No position can recur before the first capture, as every stone has stayed in its place.
    """
    if state[site] & COLOUR != EMPTY:
        return False
    own, first, breathes = state[MOVER] + 1, first_hash(state), False
    key = state[first + state[PLIES]] ^ KEYS[own, site - SITES]
    roots = (np.int64(0), np.int64(0), np.int64(0))  # of the chains seen so far
    for other in beside(state, site):
        word = state[other]
        colour = word & COLOUR
        if colour == EMPTY:
            breathes = True
        elif colour != BORDER:
            root = root_of(word)
            if root == roots[0] or root == roots[1] or root == roots[2]:
                continue
            roots = (root, roots[0], roots[1])
            captured = only_liberty(state, root, site)
            breathes |= captured == (colour != own)
            if captured and colour != own and state[CAPTURES]:
                key ^= chain_hash(state, root, colour)
        if breathes and not state[CAPTURES]:
            return True
    return breathes and not repeats(state, key)


@kernel(types.void(abi.State, types.int64, types.int64, types.int64))
def _join(state, stone, root, other):
    """Makes the chain of `root`, which contains `stone`, part of the chain of the stone `other`."""
    state[other] += state[root] >> LIBERTIES_AT << LIBERTIES_AT
    member = root
    while True:
        following = next_of(state[member])
        state[member] = (state[member] & COLOUR) | (other - SITES) << ROOT_AT | (following - SITES) << NEXT_AT
        member = following
        if member == root:
            break
    swapped = (state[stone] ^ state[other]) & (ANY_SITE << NEXT_AT)  # two circles become one
    state[stone] ^= swapped
    state[other] ^= swapped


@kernel(types.void(abi.State, types.int64, types.int64))
def _capture(state, root, captor):
    """Takes a chain off the board; adjacent chains of the captor's colour get the liberties."""
    stone = root
    while True:
        following = next_of(state[stone])
        state[stone] = EMPTY
        for other in beside(state, stone):
            if state[other] & COLOUR == captor:
                state[root_of(state[other])] += LIBERTY
        stone = following
        if stone == root:
            break
    state[CAPTURES] = 1


@kernel(types.int64(abi.State, types.int64))
def place(state, site):
    """Places the mover's stone on a legal site, removes captured chains, and returns the hash of the position."""
    own = state[MOVER] + 1
    key = state[first_hash(state) + state[PLIES]] ^ KEYS[own, site - SITES]
    state[site] = own | (site - SITES) << ROOT_AT | (site - SITES) << NEXT_AT
    for other in beside(state, site):
        colour = state[other] & COLOUR
        if colour == EMPTY:
            state[site] += LIBERTY
        elif colour != BORDER:
            state[root_of(state[other])] -= LIBERTY
    for other in beside(state, site):
        colour = state[other] & COLOUR
        if colour == own and root_of(state[other]) != root_of(state[site]):
            _join(state, site, root_of(state[site]), root_of(state[other]))
    for other in beside(state, site):
        colour = state[other] & COLOUR
        if colour == 3 - own and state[root_of(state[other])] >> LIBERTIES_AT == 0:
            key ^= chain_hash(state, root_of(state[other]), colour)
            _capture(state, root_of(state[other]), own)
    return key


@kernel(types.int64(abi.State, types.int64))
def reached(state, site):
    """Returns the colours of a site, bit 0 black, bit 1 white: its stone's, or those that its empty region reaches.

    `area_lead` spreads the colours over empty sites.
    """
    word = state[site]
    colour = word & COLOUR
    if colour == BORDER:
        return 0
    return colour if colour != EMPTY else word >> ROOT_AT


@kernel(types.int64(abi.State))
def area_lead(state):
    """Returns black's area minus white's: stones, and empty regions that only one colour reaches; marks empty sites."""
    cells = state[SIZE] * state[SIZE]
    changed = True
    while changed:
        changed = False
        for step in range(2 * cells):  # forwards and backwards, to reach the end of a region in few rounds
            site = site_of(state, step if step < cells else 2 * cells - 1 - step)
            if state[site] & COLOUR == EMPTY:
                colours = np.int64(0)
                for other in beside(state, site):
                    colours |= reached(state, other)
                if colours & ~reached(state, site):
                    state[site] |= colours << ROOT_AT
                    changed = True
    lead = 0
    for cell in range(cells):
        colours = reached(state, site_of(state, cell))
        if colours == 1:
            lead += 1
        elif colours == 2:
            lead -= 1
    return lead
