"""Speed of environments: many boards of 2048 stepped in one call, as learners elsewhere step them, and a single one."""

from __future__ import annotations

from benchmarks.programs import Benchmark, Rates, Round, Speed, Stopwatch, program_speed, run_program

BOARDS, STEPS = 4096, 500
SINGLE_STEPS = 50_000


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


def _environment_2048(this: Round) -> Rates:
    """Steps/s of one environment of Gymnasium with random actions, and of its usual example."""
    import gymnasium

    def speed(name: str) -> Speed:
        environment, steps = gymnasium.make(name), this.part(SINGLE_STEPS)
        environment.reset(seed=this.seed)
        environment.action_space.seed(this.seed)
        actions = [environment.action_space.sample() for _ in range(steps + 1)]
        environment.step(actions.pop())  # compiles
        with Stopwatch() as clocks:
            for action in actions:
                _, _, ended, stopped, _ = environment.step(action)
                if ended or stopped:
                    environment.reset()
        return clocks.speed(steps)

    return Rates(speed("turnier.environments:turnier/2048-v0"), speed("CartPole-v1"))


ENVIRONMENT_BENCHMARKS = {
    "boards_2048": Benchmark("steps/s", "C, the same arrays", _boards_2048),
    "environment_2048": Benchmark("steps/s", "CartPole-v1 of Gymnasium, in Python", _environment_2048),
}
