/* 2048 in plain C: the yardstick for Turnier's compiled kernels (see README.md beside this file).

       gcc -O3 -march=native -o reference_2048 reference_2048.c
       reference_2048 random GAMES STREAM...                      random legal games to their end
       reference_2048 mc ITERATIONS DEPTH STREAMS MATCHES PLIES   Monte-Carlo, Kutsch 2017, 3 and 9.2 (method 2)

   STREAM is a seed, or the four words of a stream of random numbers; of several streams each plays GAMES games. STREAMS
   is a file, see matches2048.h. One JSON line on standard output; the clocks run around the play only. One core, no
   intrinsics, no vectors: one playout after another. */

#define _POSIX_C_SOURCE 199309L
#include "matches2048.h"
#include <string.h>

static uint64_t iterations, depth;

static void play_random(uint64_t games, int count, char **words) {
    Totals sums = {0, 0, 0, 0};
    int width = count < 4 ? count : 4, streams = 0;
    Time start = now();
    for (; streams * width < count; streams++) {
        Rng rng = stream_of(width, words + streams * width);
        Totals own = playouts(0, 2, games, UINT64_MAX, &rng);
        sums.potential += own.potential, sums.fours += own.fours, sums.moves += own.moves;
    }
    print_time(start);
    printf(", \"games\": %" PRIu64 ", \"moves\": %" PRIu64 ", \"score\": %" PRIu64 "}\n", games * (uint64_t)streams,
           sums.moves, sums.potential - 4 * sums.fours);
}

static int decide_by_monte_carlo(uint64_t board, uint64_t points, Rng *rng) {
    uint64_t fours = potential(board) - points; /* 4 times those on the board */
    double best_value = -2.0;
    int best = 0;
    for (int action = 0; action < 4; action++) {
        uint64_t after = after_action(board, action);
        if (after == board) continue;
        Totals sums = playouts(after, 1, iterations, depth, rng);
        double gained = (double)(sums.potential - 4 * sums.fours - iterations * fours);
        double value = (gained / MAX_SCORE - (double)sums.ended) / (double)iterations;
        if (value > best_value) best_value = value, best = action;
    }
    return best;
}

int main(int argc, char **argv) {
    build_tables();
    if (argc > 3 && strcmp(argv[1], "random") == 0) {
        play_random(number(argv[2]), argc - 3, argv + 3);
        return 0;
    }
    if (argc != 7 || strcmp(argv[1], "mc") != 0) {
        fprintf(stderr, "usage: reference_2048 random GAMES STREAM...\n"
                        "       reference_2048 mc ITERATIONS DEPTH STREAMS MATCHES PLIES\n");
        return 2;
    }
    iterations = number(argv[2]), depth = number(argv[3]);
    play_matches(decide_by_monte_carlo, argv[4], number(argv[5]), number(argv[6]));
    return 0;
}
