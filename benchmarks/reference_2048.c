/* 2048 in plain C: the yardstick for Turnier's compiled kernels (see README.md beside this file).

       gcc -O3 -march=native -o reference_2048 reference_2048.c
       reference_2048 random GAMES SEED                    random legal games to their end
       reference_2048 mc ITERATIONS DEPTH DECISIONS SEED   games by plain Monte-Carlo, Kutsch 2017, 3 and 9.2 (method 2)

   One JSON line on standard output; the clock runs around the play only. One core, no intrinsics, no vectors. A board is
   one word, four bits a cell (the tile's exponent, 0 = empty; cell = 4 * row + column, row 0 lowest), which is exact up
   to 32,768. -DLANES=4 plays four playouts in turn in one loop, so that their chains of dependent instructions overlap;
   the default, one, plays them one after another, as Turnier's playout kernel does. */

#define _POSIX_C_SOURCE 199309L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#ifndef LANES
#define LANES 1
#endif

#define ONES UINT64_C(0x1111111111111111)
#define EIGHTS UINT64_C(0x8888888888888888)
#define NOT_LAST_COLUMN UINT64_C(0x0111011101110111)
#define NOT_LAST_ROW UINT64_C(0x0000111111111111)
#define FOUR_BELOW UINT32_C(429496730) /* 0.1 * 2**32 */
#define MAX_SCORE 3932156.0

/* --- Random numbers: xoshiro256++ (Blackman and Vigna 2021), seeded by splitmix64 --- */

typedef struct {
    uint64_t s0, s1, s2, s3;
} Rng;

static inline uint64_t rotate(uint64_t x, int k) { return x << k | x >> (64 - k); }

static inline uint64_t next_word(Rng *r) {
    uint64_t word = rotate(r->s0 + r->s3, 23) + r->s0, shifted = r->s1 << 17;
    r->s2 ^= r->s0;
    r->s3 ^= r->s1;
    r->s1 ^= r->s2;
    r->s0 ^= r->s3;
    r->s2 ^= shifted;
    r->s3 = rotate(r->s3, 45);
    return word;
}

static uint64_t splitmix(uint64_t *x) {
    uint64_t z = *x += UINT64_C(0x9E3779B97F4A7C15);
    z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
    z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
    return z ^ z >> 31;
}

/* --- Row tables --- */

static uint16_t moved_row[2 * 65536]; /* to the left, then to the right */
static uint32_t row_potential[65536]; /* the points that making the row's tiles from 2s is worth */
static uint8_t orders[24];            /* the orders of four directions (0 left, 1 right, 2 up, 3 down), two bits each */

static uint16_t move_row(uint32_t row, int right) {
    uint32_t out = 0, last = 0;
    int n = 0;
    for (int i = 0; i < 4; i++) {
        uint32_t tile = row >> 4 * (right ? 3 - i : i) & 15;
        if (tile == 0) continue;
        if (last != 0) out |= (last == tile ? (tile + 1) & 15 : last) << 4 * (right ? 3 - n : n), n++;
        last = last == tile ? 0 : tile;
    }
    if (last != 0) out |= last << 4 * (right ? 3 - n : n);
    return (uint16_t)out;
}

static void build_tables(void) {
    for (uint32_t row = 0; row < 65536; row++) {
        moved_row[row] = move_row(row, 0);
        moved_row[65536 + row] = move_row(row, 1);
        for (int i = 0; i < 4; i++) {
            uint32_t e = row >> 4 * i & 15;
            row_potential[row] += e ? (e - 1) << e : 0;
        }
    }
    int n = 0;
    for (int a = 0; a < 4; a++)
        for (int b = 0; b < 4; b++)
            for (int c = 0; c < 4; c++)
                if (a != b && a != c && b != c) orders[n++] = (uint8_t)(a | b << 2 | c << 4 | (6 - a - b - c) << 6);
}

/* --- Boards --- */

static inline uint64_t slide(uint64_t b, uint64_t side) {
    const uint16_t *table = moved_row + (side << 16);
    return (uint64_t)table[b & 65535] | (uint64_t)table[b >> 16 & 65535] << 16 | (uint64_t)table[b >> 32 & 65535] << 32 |
           (uint64_t)table[b >> 48] << 48;
}

/* Swaps rows and columns where `yes` is 1, leaves the board where it is 0. */
static inline uint64_t turn(uint64_t b, uint64_t yes) {
    uint64_t mask = -yes, swap = (b ^ b >> 12) & (mask & UINT64_C(0x0000F0F00000F0F0));
    b ^= swap ^ swap << 12;
    swap = (b ^ b >> 24) & (mask & UINT64_C(0x00000000FF00FF00));
    return b ^ swap ^ swap << 24;
}

/* Bit 4 * cell for every cell that is not empty. */
static inline uint64_t occupied(uint64_t b) {
    b |= b >> 2;
    b |= b >> 1;
    return b & ONES;
}

static inline int stuck(uint64_t b) {
    uint64_t full = occupied(b);
    return full == ONES && !(~occupied(b ^ b >> 4) & NOT_LAST_COLUMN) && !(~occupied(b ^ b >> 16) & NOT_LAST_ROW);
}

/* A board's potential minus 4 for every 4 that chance has placed is the game's score. */
static inline uint64_t potential(uint64_t b) {
    return (uint64_t)row_potential[b & 65535] + row_potential[b >> 16 & 65535] + row_potential[b >> 32 & 65535] +
           row_potential[b >> 48];
}

/* Puts a random tile on a board that has a tile and an empty cell. Its empty cells are counted in `empty` (bit 4 * cell)
   and found in `empty_here`, the same cells as `b` has them: two words, so that `b` may be turned meanwhile. */
static inline uint64_t place(uint64_t b, uint64_t empty, uint64_t empty_here, uint32_t word, uint64_t *fours) {
    uint64_t scaled = word * (uint64_t)__builtin_popcountll(empty);    /* which cell, and by the fraction which tile */
    uint64_t miss = empty_here * ONES ^ ((scaled >> 32) + 1) * ONES;   /* nibble 0 where the count is the wanted one */
    uint64_t hit = (miss - ONES) & (~miss & EIGHTS), four = (uint32_t)scaled < FOUR_BELOW;
    *fours += four;
    return b | (hit & -hit) >> (3 - four); /* the lowest such cell is empty */
}

static inline uint64_t random_tile(uint64_t b, Rng *rng, uint64_t *fours) {
    uint64_t word = next_word(rng);
    if (b == 0) {
        uint64_t four = (uint32_t)word < FOUR_BELOW;
        *fours += four;
        return (four + 1) << 4 * (word >> 60);
    }
    uint64_t empty = occupied(b) ^ ONES;
    return place(b, empty, empty, (uint32_t)word, fours);
}

/* --- Playouts --- */

/* A board that the first direction of `order` moves along its rows: random play does not care whether it is turned. */
typedef struct {
    uint64_t board;
    uint32_t order;
    uint64_t moves;
} Lane;

typedef struct {
    uint64_t potential, fours, moves, ended; /* sums over the playouts; fours that the playouts placed */
} Totals;

static inline uint32_t random_order(uint64_t word) { return orders[(word >> 32) * 24 >> 32]; }

static inline Lane start_lane(uint64_t board, int tiles, Rng *rng, uint64_t *fours) {
    for (int i = 0; i < tiles; i++) board = random_tile(board, rng, fours);
    uint32_t order = random_order(next_word(rng));
    return (Lane){turn(board, order >> 1 & 1), order, 0};
}

/* A uniformly random legal move (the first legal one of a random order), then a random tile; 0 where none is legal. */
static inline int random_move(Lane *lane, Rng *rng, uint64_t *fours) {
    uint64_t board = lane->board, moved = slide(board, lane->order & 1);
    uint32_t order = lane->order;
    for (int tried = 1; __builtin_expect(moved == board, 0); tried++) {
        if (tried == 4) return 0;
        board = turn(board, (order ^ order >> 2) >> 1 & 1);
        order >>= 2;
        moved = slide(board, order & 1);
    }
    /* The next direction is drawn before the tile is placed: the board turns while the tile's cell is being worked out. */
    uint64_t word = next_word(rng), empty = occupied(moved) ^ ONES;
    lane->order = random_order(word);
    uint64_t turned = lane->order >> 1 & 1;
    lane->board = place(turn(moved, turned), empty, turn(empty, turned), (uint32_t)word, fours);
    lane->moves++;
    return 1;
}

/* Plays one move; 1 where the playout is over, by its depth or by the rules. */
static inline int advance(Lane *lane, uint64_t depth, Rng *rng, Totals *sums) {
    if (lane->moves < depth && random_move(lane, rng, &sums->fours)) return 0;
    sums->potential += potential(lane->board);
    sums->moves += lane->moves;
    sums->ended += (uint64_t)stuck(lane->board);
    return 1;
}

/* `count` playouts of up to `depth` moves from a board on which chance has to place `tiles` tiles first. */
static Totals playouts(uint64_t board, int tiles, uint64_t count, uint64_t depth, Rng *shared) {
    Totals sums = {0, 0, 0, 0};
    Rng rng = *shared;
#if LANES == 1
    for (uint64_t i = 0; i < count; i++) {
        Lane lane = start_lane(board, tiles, &rng, &sums.fours);
        while (!advance(&lane, depth, &rng, &sums)) continue;
    }
#else
    Lane lanes[LANES];
    uint64_t left = count;
    int live = 0, idle = -1;
    while (live < LANES && left > 0) lanes[live++] = start_lane(board, tiles, &rng, &sums.fours), left--;
    while (live == LANES && idle < 0) {
#pragma GCC unroll 8
        for (int i = 0; i < LANES; i++) {
            if (i == idle || !advance(&lanes[i], depth, &rng, &sums)) continue;
            if (left > 0)
                lanes[i] = start_lane(board, tiles, &rng, &sums.fours), left--;
            else if (idle < 0)
                idle = i;
            else
                lanes[i].order = UINT32_MAX; /* a second lane went idle in the same round */
        }
    }
    for (int i = 0; i < live; i++)
        if (i != idle && lanes[i].order != UINT32_MAX)
            while (!advance(&lanes[i], depth, &rng, &sums)) continue;
#endif
    *shared = rng;
    return sums;
}

/* --- The two modes --- */

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void play_random(uint64_t games, Rng *rng) {
    double start = seconds();
    Totals sums = playouts(0, 2, games, UINT64_MAX, rng);
    double time = seconds() - start, moves = (double)sums.moves, n = (double)games;
    printf("{\"games\": %" PRIu64 ", \"moves\": %" PRIu64 ", \"seconds\": %.6f, \"moves_per_second\": %.0f, ", games,
           sums.moves, time, moves / time);
    printf("\"mean_score\": %.3f, \"mean_moves\": %.4f}\n", (double)(sums.potential - 4 * sums.fours) / n, moves / n);
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
    double start = seconds();
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
    double time = seconds() - start;
    printf("{\"decisions\": %" PRIu64 ", \"seconds\": %.6f, \"decisions_per_second\": %.2f, ", made, time,
           (double)made / time);
    printf("\"rollout_moves_per_second\": %.0f, \"mean_score\": ", (double)rollout_moves / time);
    if (games > 0)
        printf("%.1f}\n", (double)score / (double)games);
    else
        printf("null}\n");
}

static uint64_t number(const char *text, uint64_t low) {
    char *end;
    uint64_t value = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && *end == 0 && value >= low && value <= INT64_MAX) return value;
    fprintf(stderr, "reference_2048: a whole number of at least %" PRIu64 " is needed, got %s\n", low, text);
    exit(2);
}

int main(int argc, char **argv) {
    int is_random = argc == 4 && strcmp(argv[1], "random") == 0;
    if (!is_random && !(argc == 6 && strcmp(argv[1], "mc") == 0)) {
        fprintf(stderr, "usage: reference_2048 random GAMES SEED\n"
                        "       reference_2048 mc ITERATIONS DEPTH DECISIONS SEED\n");
        return 2;
    }
    build_tables();
    uint64_t seed = number(argv[argc - 1], 0);
    Rng rng;
    rng.s0 = splitmix(&seed), rng.s1 = splitmix(&seed), rng.s2 = splitmix(&seed), rng.s3 = splitmix(&seed);
    if (is_random)
        play_random(number(argv[2], 1), &rng);
    else
        play_monte_carlo(number(argv[2], 1), number(argv[3], 0), number(argv[4], 1), &rng);
    return 0;
}
