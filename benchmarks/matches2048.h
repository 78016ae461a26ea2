/* Matches of 2048 as Turnier plays them, by the same streams of random numbers: an agent decides, chance places tiles. */
#ifndef MATCHES2048_H
#define MATCHES2048_H

#include "board2048.h"

/* Chooses among at least two legal actions; `points` are those made so far. Must leave the board alone. */
typedef int (*Decide)(uint64_t board, uint64_t points, Rng *rng);

static inline void check_tiles(uint64_t board) {
    uint64_t sum = 0;
    for (int cell = 0; cell < 16; cell++) sum += (UINT64_C(1) << (board >> 4 * cell & 15)) & ~UINT64_C(1);
    if (sum < 32768) return;
    fprintf(stderr, "tiles near 65,536 do not fit into four bits; play fewer moves\n");
    exit(1);
}

/* Plays `count` matches of up to `plies` moves each, one after another, and prints one JSON line. The file holds the
   words of two streams for each match: of chance, and of the agent. */
static inline void play_matches(Decide decide, const char *file, uint64_t count, uint64_t plies) {
    Rng *streams = malloc(2 * count * sizeof(Rng));
    if (!streams) exit(1);
    read_file(file, streams, sizeof(Rng), 2 * count);
    uint64_t decisions = 0, score = 0;
    Time start = now();
    for (uint64_t i = 0; i < count; i++) {
        Rng *chance = &streams[2 * i], *own = &streams[2 * i + 1];
        uint64_t fours = 0, board = random_tile(random_tile(0, chance, &fours), chance, &fours);
        for (uint64_t made = 0; made < plies; made++) {
            int legal = 0, action = -1;
            for (int other = 0; other < 4; other++)
                if (after_action(board, other) != board) action = other, legal++;
            if (legal == 0) break;
            if (legal > 1) {
                check_tiles(board);
                action = decide(board, potential(board) - 4 * fours, own);
                decisions++;
            }
            board = random_tile(after_action(board, action), chance, &fours);
        }
        score += potential(board) - 4 * fours;
    }
    print_time(start);
    printf(", \"matches\": %" PRIu64 ", \"decisions\": %" PRIu64 ", \"score\": %" PRIu64 "}\n", count, decisions, score);
    free(streams);
}

#endif
