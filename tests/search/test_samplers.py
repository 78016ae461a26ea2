"""Samplers by ask and tell: exact replay, the unit cube, that they climb, and what they recommend under noise."""

from __future__ import annotations

import numpy as np
import optuna
import pytest
import scipy
from threadpoolctl import threadpool_info, threadpool_limits

from tests.search import broken_samplers as broken
from turnier.contract import samplers as laws
from turnier.contract.declarations import DECLARATION_LAWS
from turnier.contract.law import Law, LawBroken, check_laws
from turnier.contract.samplers import worth
from turnier.core.errors import UserError
from turnier.core.parameters import Parameter
from turnier.search.dimensions.dimension import Dimension
from turnier.search.samplers.duels import FIRST_REACH, Duels, DuelsSearch, _Number
from turnier.search.samplers.grid import Grid, GridSearch
from turnier.search.samplers.registry import SAMPLERS, usual_samplers
from turnier.search.samplers.sampler import Sampler, Search, SteppingSearch, Vectors
from turnier.search.samplers.surface import ModelledSearch, Surface
from turnier.search.samplers.tpe import kept_trials
from turnier.search.space import Space

SMALL = {
    "cmaes": "cmaes(population=10)",
    "cmaes_lr": "cmaes_lr(population=10)",
    "duels": "duels(pairs=6,length=240,reach=0.16)",
    "ahead": "duels(pairs=6,share=0.3,length=240,reach=0.16,ahead=true)",
    "gp": "gp(population=6,startup=12)",
    "grid": "grid(steps=3,population=6)",
    "optuna": 'optuna(sampler="QMCSampler(scramble=True)",population=10)',
    "random": "random(population=10)",
    "spsa": "spsa",
    "tpe": "tpe(population=6,startup=12)",
    "forgetful": "tpe(population=6,startup=12,known=50)",
    "restarted": "cmaes(population=6,restart=0.2)",
}


BREAKS: list[tuple[Law, type[Sampler]]] = [
    (laws.law_candidates_are_in_the_cube, broken.Outside),
    (laws.law_asking_again_changes_nothing, broken.AsksAnew),
    (laws.law_candidates_asked_ahead_stay, broken.LooksTooFarAhead),
    (laws.law_candidates_asked_ahead_stay, broken.ChangesItsMind),
    (laws.law_stored_values_rebuild_the_search, broken.RemembersQuestions),
    (laws.law_random_numbers_are_its_own, broken.UsesNumpysGenerator),
    (laws.law_recommendations_are_vectors, broken.RecommendsArrays),
    (laws.law_recommendations_get_better, broken.LearnsNothing),
]


@pytest.mark.parametrize("name", ["cmaes(population=6)", "cmaes_lr(population=6)", "spsa(pairs=3)"])
def test_a_tie_moves_nothing(name: str) -> None:
    """Else a search of constant values walks away and narrows, as those of stored studies do."""
    search, old = (SAMPLERS.make(name).begin([0.3, 0.6], 1, Space.cube(2)) for _ in range(2))
    assert isinstance(search, SteppingSearch) and isinstance(old, SteppingSearch)
    old.stays = False
    begun, asked = (search.recommended(), search.sigma), []
    for _ in range(4):
        for one in (search, old):
            asked.append(one.ask())
            one.tell([2.5] * len(asked[-1]))
    assert (search.recommended(), search.sigma) == begun and search.estimate() == 2.5 and search.generation == 4
    assert old.sigma != begun[1] and not np.array_equal(asked[0], asked[2])  # other candidates are tried
    search.tell([float(x) for x in search.ask()[:, 0]])
    assert search.recommended()[0] > begun[0][0]


def run(
    text: str, generations: int, seed: int = laws.SEED, size: int = laws.SIZE, noise: float = 0.0
) -> tuple[Search, list[Vectors]]:
    return laws.search_of(SAMPLERS.make(text), generations, seed, size, noise)


def test_every_sampler_is_tested() -> None:
    assert set(SAMPLERS.names()) <= set(SMALL)


@pytest.mark.parametrize("name", SMALL)
def test_samplers_keep_the_laws(name: str) -> None:
    sampler = SAMPLERS.make(SMALL[name])
    check_laws((*DECLARATION_LAWS, *laws.SAMPLER_LAWS), sampler)


@pytest.mark.parametrize(("law", "cls"), BREAKS, ids=lambda value: value.__name__)
def test_every_law_can_fail(law: Law, cls: type[Sampler]) -> None:
    with pytest.raises(LawBroken, match=f"{law.__name__} is broken by "):
        check_laws(laws.SAMPLER_LAWS, cls())
    check_laws(laws.SAMPLER_LAWS, broken.Sound())


def test_no_law_is_left_without_a_broken_sampler() -> None:
    assert {law for law, _ in BREAKS} == set(laws.SAMPLER_LAWS)


@pytest.mark.parametrize("name", ["cmaes(population=12)", "cmaes_lr(population=12)", "duels(pairs=6)"])
def test_no_switch_choice_or_whole_number_dies_out(name: str) -> None:
    """One value of each is the best by far, so that a distribution becomes narrower than a value."""
    kinds = (str, Parameter("", choices=("a", "b", "c"))), (int, Parameter("", low=0, high=50))
    kinds += ((int, Parameter("", low=0, high=3)), (bool, Parameter("")), (bool, Parameter("")))
    space = Space(tuple(Dimension(f"x{n}", kind, declared) for n, (kind, declared) in enumerate(kinds)))
    dead = dict[bool, int]()
    for alive in (True, False):
        search, found = SAMPLERS.make(name).begin([0.3] * space.size, 3, space), list[Vectors]()
        assert isinstance(search, SteppingSearch)
        search.alive = space.dimensions if alive else ()
        for _ in range(80):
            found.append(search.ask())
            search.tell([-float(((row - 0.3) ** 2).sum()) for row in found[-1]])
        latest = np.vstack(found[-20:])
        values = [{d.decode(x) for x in column} for d, column in zip(space.dimensions, latest.T, strict=True)]
        dead[alive] = sum(len(known) == 1 for known in values)
        if alive:
            for mean in np.random.default_rng(1).uniform(size=(50, space.size)):
                moved, _ = search.with_margins(mean, np.full(space.size, 1e-6))
                assert space.decode(moved) == space.decode(mean)
    assert dead[True] == 0 and (dead[False] > 3 or name.startswith("duels"))


@pytest.mark.parametrize("name", SMALL)
def test_other_seeds_ask_other_candidates(name: str) -> None:
    asked, other = run(SMALL[name], 6)[1], run(SMALL[name], 6, seed=6)[1]
    assert not np.array_equal(np.vstack(asked), np.vstack(other))


@pytest.mark.parametrize(("name", "generations"), [(name, 15 if name == "gp" else 40) for name in SMALL])
@pytest.mark.parametrize("size", [1, 3])
def test_recommendations_get_better_under_noise(name: str, generations: int, size: int) -> None:
    """The start is worth 0.25 a dimension less than the optimum, noise is 0.1: single values say little."""
    search, _ = run(SMALL[name], generations, size=size, noise=0.1)
    lost = 5 - worth(np.array([search.recommended()]))[0]
    assert lost < 0.05 * size
    assert search.estimate() == pytest.approx(5 - lost, abs=0.15)


def test_a_stored_study_of_cmaes_goes_on_with_its_vectors() -> None:
    """As the version that began it asked for them; equal to rounding on other machines."""
    search, asked = (
        SAMPLERS.make("cmaes(population=4)").begin([laws.START] * laws.SIZE, laws.SEED, Space.cube(laws.SIZE)),
        [],
    )
    assert isinstance(search, SteppingSearch)
    search.clips = False  # as in studies of the first two editions
    for _ in range(3):
        asked.append(search.ask())
        search.tell(worth(asked[-1]))
    assert asked[2][0] == pytest.approx([0.18812341965428042, 0.2942513445699054, 0.8794178697032603], rel=1e-6)
    assert search.recommended() == pytest.approx([0.03380279107773139, 0.053211152692813554, 0.47734076807151005])


@pytest.mark.parametrize("name", ["cmaes(population=12)", "cmaes_lr(population=12)"])
def test_candidates_beyond_the_ends_are_learned_as_those_at_the_ends(name: str) -> None:
    """So the best value may be at an end; a distribution of numbers gets a little beyond, one of choices does not."""
    flag = Dimension("flag", bool, Parameter("a switch"))
    space = Space((*Space.cube(1).dimensions, flag))
    search, asked = SAMPLERS.make(name).begin([0.2, 0.25], 4, space), []
    assert isinstance(search, SteppingSearch)
    for _ in range(40):
        asked.append(search.ask())
        search.tell([-float(row[0]) for row in asked[-1]])
    assert search.recommended()[0] == 0 and np.mean(np.vstack(asked[-10:])[:, 0] == 0) > 0.5
    points = search.clipped(np.array([[-1.0, -1.0], [2.0, 2.0]]), space)
    assert points.tolist() == [[-0.05, 0.0], [1.05, 1.0]]


def test_the_usual_sampler_suits_what_is_searched() -> None:
    numbers = Space.cube(2)
    mixed = Space((*numbers.dimensions, Dimension("flag", bool, Parameter("a switch"))))
    some = Space((Dimension("x", float, Parameter("", low=0.0, high=1.0, when={"flag": [True]})),))
    most, many = (Space((*Space.cube(size).dimensions, mixed.dimensions[-1])) for size in (11, 12))
    for space, games, names in (
        *((space, 1000, ["cmaes_lr"]) for space in (mixed, some, most)),
        (numbers, 1000, ["cmaes"]),
        (many, 2600, ["cmaes", "cmaes_lr"]),
        (many, 2601, ["cmaes_lr", "cmaes"]),
    ):
        assert [str(sampler) for sampler in usual_samplers(True, False, space, games)] == names
    assert [str(usual_samplers(False, against, mixed, 0)[0]) for against in (True, False)] == [
        "duels",
        "duels(share=0.0)",
    ]


def test_cmaes_converges_and_a_flat_function_does_not_stop_it() -> None:
    search, _ = run("cmaes(population=10)", 60, size=5)
    assert np.abs(np.array(search.recommended()) - 0.3).max() < 0.01
    assert search.sigma < 0.1 and search.facts()["axis_ratio"] >= 1
    flat = SAMPLERS.make("cmaes(population=6)").begin([0.5] * 3, 1, Space.cube(3))
    for _ in range(100):
        flat.tell([0.0] * len(flat.ask()))
    assert flat.generation == 100


def test_a_restart_grows_the_population_and_forgets_nothing() -> None:
    search, asked = run(SMALL["restarted"], 40)
    sizes = sorted({len(vectors) for vectors in asked})
    assert sizes[:2] == [6, 12]
    assert 5 - worth(np.array([search.recommended()]))[0] < 0.05


def test_a_grid_plays_all_combinations_and_then_the_better_half_again() -> None:
    search, asked = run("grid(steps=3,population=9)", 3 + 2, size=3)
    first, second = np.vstack(asked[:3]), np.vstack(asked[3:])
    assert len(np.unique(first, axis=0)) == 27 and len(np.unique(second, axis=0)) == 13
    assert min(worth(second)) >= np.median(worth(first)) - 1e-9
    assert search.recommended() == pytest.approx([1 / 6 if abs(1 / 6 - 0.3) < abs(0.5 - 0.3) else 0.5] * 3)
    search, asked = run("grid(steps=3,population=9)", 2, size=3)  # the luckiest of the first round is not proposed
    assert search.recommended() == list(search.start) and search.estimate() == pytest.approx(
        np.mean(worth(np.vstack(asked)))
    )
    with pytest.raises(UserError, match="at most 1,000,000 combinations"):
        GridSearch([0.5] * 30, 1, Grid(steps=3))


def test_what_is_left_open_fits_the_budget() -> None:
    sampler = SAMPLERS.make("cmaes")
    assert [sampler.within(n).population for n in (10, 60, 900, 1920, 20_000)] == [6, 6, 30, 64, 64]  # type: ignore[attr-defined]
    assert str(SAMPLERS.make("cmaes(population=12)").within(20_000)) == "cmaes(population=12)"


def test_a_surface_sees_through_noise_and_believes_itself() -> None:
    rng = np.random.default_rng(2)
    vectors = rng.uniform(size=(120, 2))
    surface = Surface(vectors, np.array(worth(vectors, 0.2 * rng.standard_normal(120))))
    tried = rng.uniform(size=(50, 2))
    mean, sd = surface.predict(tried)
    assert np.abs(mean - worth(tried)).mean() < 0.08
    assert 0.85 < float(np.mean(np.abs(mean - worth(tried)) < 2 * sd)) <= 1
    believing = surface.believing(tried[0])
    assert believing.predict(tried)[0] == pytest.approx(mean, abs=1e-6)
    assert believing.predict(tried[:1])[1][0] < sd[0]


@pytest.mark.parametrize("text", ["cmaes(population=2)", "cmaes(sigma=7)", "spsa(c=0.9)", "annealing", "gp(size=3)"])
def test_senseless_samplers_are_refused(text: str) -> None:
    with pytest.raises(UserError):
        SAMPLERS.make(text)


def test_tpe_forgets_at_twice_what_it_keeps() -> None:
    _, whole = run("tpe(population=10,startup=12)", 11)
    _, kept = run("tpe(population=10,startup=12,known=50)", 11)
    assert np.array_equal(whole[:10], kept[:10]) and not np.array_equal(whole[10], kept[10])


def test_tpe_keeps_the_best_and_the_latest_in_order() -> None:
    values = [100.0 - n if n < 30 else float(n % 7) for n in range(200)]
    study = optuna.create_study(direction="maximize")
    study.add_trials([optuna.trial.create_trial(value=value) for value in values])
    assert [trial.number for trial in kept_trials(study.get_trials(), 60)] == [*range(25), *range(165, 200)]


def test_a_repeated_default_goes_on_with_the_share_of_an_earlier_version() -> None:
    stored = Duels(pairs=40, share=0.25, length=900)
    assert stored.is_closed(Duels())
    assert not stored.is_closed(Duels(share=0.0)) and not stored.is_closed(Duels(pairs=16))


def test_duels_step_farther_the_farther_they_have_come() -> None:
    grown = []
    for gap in (0.02, 0.4):
        search = SAMPLERS.make("duels(pairs=40,length=4000)").begin([0.5 - gap], 1, Space.cube(1))
        assert isinstance(search, DuelsSearch)
        first, widest = search.growth, search.sigma
        for _ in range(50):
            far = np.abs(search.ask()[:, 0] - 0.5).reshape(-1, 2)
            search.tell((far < far[:, ::-1]).ravel().astype(float).tolist())
        assert abs(search.recommended()[0] - 0.5) < 0.1 and search.sigma < widest
        grown.append(search.growth)
    assert first < grown[0] < grown[1]


@pytest.mark.parametrize(
    ("wished", "others"), [("high", False), ("weakly high", False), ("low", True), ("another", True)]
)
def test_more_pairs_play_opponents_who_favour_others(wished: str, others: bool) -> None:
    """Beyond chance: duels favour a high first number; opponents of other strength only show less of that."""
    kinds = Parameter("", low=0.0, high=1.0), Parameter("", choices=("a", "b", "c"))
    space = Space((*(Dimension(n, float, kinds[0]) for n in "xy"), Dimension("z", str, kinds[1])))
    slopes = {"high": (3.0, 0.0), "weakly high": (0.6, 0.0), "low": (-9.0, 0.0), "another": (3.0, 6.0)}[wished]
    search, rng, counts = Duels(pairs=16, length=2000).begin([0.5] * 3, 1, space), np.random.default_rng(2), []
    for _ in range(120):
        x, duels = search.ask(), search.duelling()
        ahead = 3 * (x[::2, 0] - x[1::2, 0])[:duels]
        won = (rng.random(duels) < 1 / (1 + np.exp(-ahead))).astype(float)
        alone = (rng.random(32) < 1 / (1 + np.exp(-(x[:, :2] - 0.5) @ slopes))).astype(float)[2 * duels :]
        search.tell([*np.stack([won, 1 - won], axis=1).ravel().tolist(), *alone.tolist()])
        counts.append(16 - duels)
    assert 5 <= sum(counts[:6]) <= 6 and max(counts[:6]) == 1  # the share, 0.06
    assert (max(counts) == 15 and search.facts()["agreement"] < -2) is others
    assert (sum(counts[60:]) > 600) is others and (sum(counts[60:]) < 90) is not others
    if others:
        assert search.recommended()[0] < 0.5 if wished == "low" else search.recommended()[1] > 0.7


def test_an_end_that_cuts_candidates_off_does_not_attract_duels(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two candidates win equally often if the best is in their middle, even where that is not the point."""
    found = {}
    for moved in (True, False):
        for best in (0.0, 0.12):
            search, rng = (
                SAMPLERS.make("duels(pairs=40,length=2000)").begin([0.4], 1, Space.cube(1)),
                np.random.default_rng(1),
            )
            for _ in range(50):
                far = np.abs(search.ask()[:, 0] - best).reshape(-1, 2) ** 2
                won = (rng.random(40) < 1 / (1 + np.exp(10 * (far[:, 0] - far[:, 1])))).astype(float)
                search.tell(np.stack([won, 1 - won], axis=1).ravel().tolist())
            found[best, moved] = abs(search.recommended()[0] - best)
        monkeypatch.setattr(_Number, "centre", lambda number, reach: number.point)
    assert found[0.12, True] < 0.8 * found[0.12, False]
    assert max(found[0.0, True], found[0.0, False]) < 0.02


def test_duels_near_an_end_differ_by_factors() -> None:
    """From a start near an end of a range; elsewhere and at the end itself by a part of the range."""
    start = [0.06, 0.0, 0.4, 0.94]
    sampler = SAMPLERS.make(f"duels(pairs=40,length=1000,reach={0.1 / FIRST_REACH})")
    search = sampler.begin(start, 1, Space.cube(4))
    assert search.recommended() == pytest.approx(start)
    low, at_end, middle, high = search.ask().T
    assert set(np.round(at_end, 6)) == {0, 0.1} and set(np.round(middle, 6)) == {0.3, 0.5}
    assert 0.01 < low.min() < 0.02 and 0.12 < low.max() < 0.14
    assert sorted(set(np.round(1 - high, 6))) == sorted(set(np.round(low, 6)))


def test_models_compute_on_one_thread_and_leave_all_others_theirs() -> None:
    seen = []

    def threads() -> set[int]:
        return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}

    class Seeing(ModelledSearch):
        def propose(self) -> Vectors:
            seen.append(threads())
            return np.full((4, self.size), 0.5)

        def learn(self, values: object) -> None:
            seen.append(threads())

        def surface(self) -> Surface:
            seen.append(threads())
            return super().surface()

    assert scipy.linalg  # whose library is loaded when it is first used
    with threadpool_limits(2, "blas"):
        search = Seeing([0.5, 0.5], 1)
        search.ask()
        search.tell([1.0, 2.0, 3.0, 4.0])
        search.recommended()
        assert seen == [{1}, {1}, {1}] and threads() == {2}
