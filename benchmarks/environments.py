"""Speed of many boards of 2048 stepped in one call, as learners elsewhere step them."""

from __future__ import annotations

from benchmarks.programs import Benchmark, Rates, Round, Stopwatch, program_speed, run_program

BOARDS, STEPS = 4096, 500


def _boards_2048(this: Round) -> Rates:
    """Steps/s with uniformly random legal actions, including their choice, masks, observations and new episodes."""
    from turnier.environments import BoardsEnvironment  # needs Gymnasium, which is optional

    number, steps = this.part(BOARDS), this.part(STEPS)
    theirs = run_program(this.folder, "reference_boards2048", number, steps, this.seed)
    boards = BoardsEnvironment("2048", number)
    boards.reset(seed=this.seed)
    boards.step(boards.sample_legal())  # compiles
    with Stopwatch() as clocks:
        for _ in range(steps):
            boards.step(boards.sample_legal())
    return Rates(clocks.speed(number * steps), program_speed(theirs, "steps"))


ENVIRONMENT_BENCHMARKS = {
    "boards_2048": Benchmark("steps/s", "C, the same arrays", _boards_2048),
}
