/* Many boards of 2048 stepped together, as learners step them: the yardstick of `python -m benchmarks boards_2048`.

       gcc -O3 -march=native -o reference_boards2048 reference_boards2048.c
       reference_boards2048 BOARDS STEPS STREAM

   Every step draws a legal action for each board, uniformly, plays it, lets chance place a tile, and writes into arrays,
   as Turnier's environment does: rewards, whether episodes are over, masks of legal actions, the boards' cells. A board
   whose episode is over begins the next one instead of a step. Prints one JSON line. One core, no intrinsics. */

#define _POSIX_C_SOURCE 199309L
#include "board2048.h"
#include <string.h>

typedef struct {
    uint64_t *boards;
    Rng *rngs;
    double *returns, *rewards;
    int64_t *steps, *actions;
    int8_t *masks;      /* [boards, 4] */
    uint8_t *cells;     /* [boards, 16] */
    uint8_t *terminated;
} Boards;

static void draw_actions(Boards *all, size_t n, Rng *rng) {
    for (size_t i = 0; i < n; i++) {
        const int8_t *mask = all->masks + 4 * i;
        int count = mask[0] + mask[1] + mask[2] + mask[3];
        int64_t left = below(rng, count ? count : 1);
        all->actions[i] = 0;
        for (int action = 0; action < 4; action++)
            if (mask[action] && left-- == 0) all->actions[i] = action;
    }
}

static void show(Boards *all, size_t i) {
    int legal = 0;
    for (int action = 0; action < 4; action++)
        legal += all->masks[4 * i + (size_t)action] = after_action(all->boards[i], action) != all->boards[i];
    all->terminated[i] = !legal;
    for (int cell = 0; cell < 16; cell++) all->cells[16 * i + (size_t)cell] = all->boards[i] >> 4 * cell & 15;
}

static void begin(Boards *all, size_t i) {
    uint64_t fours = 0;
    all->boards[i] = random_tile(random_tile(0, &all->rngs[i], &fours), &all->rngs[i], &fours);
    all->returns[i] = all->rewards[i] = 0;
    all->steps[i] = 0;
    show(all, i);
}

/* The points of a move: the value of the merged tiles. */
static double step(Boards *all, size_t i) {
    uint64_t after = after_action(all->boards[i], (int)all->actions[i]), fours = 0;
    double points = (double)(potential(after) - potential(all->boards[i]));
    all->boards[i] = random_tile(after, &all->rngs[i], &fours);
    all->rewards[i] = points;
    all->returns[i] += points;
    all->steps[i]++;
    show(all, i);
    return points;
}

static void *room(size_t n, size_t size) {
    void *items = calloc(n, size);
    if (!items) exit(1);
    return items;
}

int main(int argc, char **argv) {
    if (argc < 4) {
        fprintf(stderr, "usage: reference_boards2048 BOARDS STEPS STREAM\n");
        return 2;
    }
    build_tables();
    size_t n = number(argv[1]), steps = number(argv[2]), episodes = 0;
    Rng rng = stream_of(argc - 3, argv + 3);
    Boards all = {room(n, 8), room(n, sizeof(Rng)), room(n, 8), room(n, 8), room(n, 8), room(n, 8),
                  room(n, 4), room(n, 16), room(n, 1)};
    for (size_t i = 0; i < n; i++) all.rngs[i] = seeded(next_word(&rng)), begin(&all, i);
    double points = 0;
    Time start = now();
    for (size_t k = 0; k < steps; k++) {
        draw_actions(&all, n, &rng);
        for (size_t i = 0; i < n; i++) {
            if (all.terminated[i])
                begin(&all, i), episodes++;
            else
                points += step(&all, i);
        }
    }
    print_time(start);
    printf(", \"steps\": %zu, \"episodes\": %zu, \"points\": %.0f}\n", n * steps, episodes, points);
    return 0;
}
