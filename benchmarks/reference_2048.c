/* 2048 in plain C: the yardstick for Turnier's compiled kernels (see README.md beside this file).

       gcc -O3 -march=native -o reference_2048 reference_2048.c
       reference_2048 random GAMES STREAM                    random legal games to their end
       reference_2048 mc ITERATIONS DEPTH DECISIONS STREAM   games by plain Monte-Carlo, Kutsch 2017, 3 and 9.2 (method 2)

   STREAM is a seed, or the four words of a stream of random numbers. One JSON line on standard output; the clocks run
   around the play only. One core, no intrinsics, no vectors: one playout after another. */

#define _POSIX_C_SOURCE 199309L
#include "board2048.h"
#include <string.h>

#define MAX_SCORE 3932156.0

/* --- The two modes --- */

static void play_random(uint64_t games, Rng *rng) {
    Time start = now();
    Totals sums = playouts(0, 2, games, UINT64_MAX, rng);
    print_time(start);
    printf(", \"games\": %" PRIu64 ", \"moves\": %" PRIu64 ", \"score\": %" PRIu64 "}\n", games, sums.moves,
           sums.potential - 4 * sums.fours);
}

static void check_tiles(uint64_t board, uint64_t depth) {
    uint64_t sum = 0;
    for (int cell = 0; cell < 16; cell++) sum += (UINT64_C(1) << (board >> 4 * cell & 15)) & ~UINT64_C(1);
    if (sum + 4 * depth + 8 < 65536 || depth > 10000) return;
    fprintf(stderr, "reference_2048: tiles near 65,536 do not fit into four bits; play with fewer iterations\n");
    exit(1);
}

static void play_monte_carlo(uint64_t iterations, uint64_t depth, uint64_t decisions, Rng *rng) {
    uint64_t made = 0, games = 0, score = 0, rollout_moves = 0;
    Time start = now();
    while (made < decisions) {
        uint64_t fours = 0, board = random_tile(random_tile(0, rng, &fours), rng, &fours);
        while (made < decisions || stuck(board)) {
            uint64_t after[4], best = 0;
            int legal = 0;
            for (uint64_t action = 0; action < 4; action++) {
                uint64_t moved = turn(slide(turn(board, action >> 1), action & 1), action >> 1);
                if (moved != board) after[legal++] = moved;
            }
            if (legal == 0) {
                score += potential(board) - 4 * fours, games++;
                break;
            }
            if (legal > 1) {
                check_tiles(board, depth);
                double best_value = -2.0;
                for (int i = 0; i < legal; i++) {
                    Totals sums = playouts(after[i], 1, iterations, depth, rng);
                    double points = (double)(sums.potential - 4 * (sums.fours + iterations * fours));
                    double value = (points / MAX_SCORE - (double)sums.ended) / (double)iterations;
                    if (value > best_value) best_value = value, best = (uint64_t)i;
                    rollout_moves += sums.moves;
                }
                made++;
            }
            board = random_tile(after[best], rng, &fours);
        }
    }
    print_time(start);
    printf(", \"decisions\": %" PRIu64 ", \"rollout_moves\": %" PRIu64 ", \"games\": %" PRIu64 ", \"score\": %" PRIu64 "}\n",
           made, rollout_moves, games, score);
}

int main(int argc, char **argv) {
    int is_random = argc > 3 && strcmp(argv[1], "random") == 0;
    if (!is_random && !(argc > 5 && strcmp(argv[1], "mc") == 0)) {
        fprintf(stderr, "usage: reference_2048 random GAMES STREAM\n"
                        "       reference_2048 mc ITERATIONS DEPTH DECISIONS STREAM\n");
        return 2;
    }
    build_tables();
    int first = is_random ? 3 : 5;
    Rng rng = stream_of(argc - first, argv + first);
    if (is_random)
        play_random(number(argv[2]), &rng);
    else
        play_monte_carlo(number(argv[2]), number(argv[3]), number(argv[4]), &rng);
    return 0;
}
