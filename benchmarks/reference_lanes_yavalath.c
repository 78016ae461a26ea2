/* Random games of Yavalath in C with vector extensions, from the empty board to the end (see README.md).

       gcc -O3 -march=native -o reference_lanes_yavalath reference_lanes_yavalath.c
       reference_lanes_yavalath GAMES STREAM

   LANES boards side by side: every lane tries a random cell and places a stone if the cell is free and its game goes on.
   A random word holds the cells of TRIES tries. */

#define _POSIX_C_SOURCE 199309L
#include "common.h"
#include "yavalath.h"

#define LANES 32
#define GROUPS (LANES / WIDTH)
#define TRIES 8

typedef uint64_t Words __attribute__((vector_size(VECTOR)));

/* Stones of the player to move and of the other one, along the three directions; `made` is 1 for three, 2 for four. */
typedef struct {
    Words taken, mine[3], other[3], bits, plies, made, s0, s1, s2, s3;
} Group;

static uint64_t packed[64]; /* for each cell: the masks of three windows from bit 0, 7, 14, their shifts from 24, 30, 36 */

static void pack_cells(void) {
    for (int c = 0; c < CELLS; c++)
        for (int d = 0; d < 3; d++)
            packed[c] |= inside[d][c] << 7 * d | (uint64_t)(place[d][c] - MARGIN) << (24 + 6 * d);
}

static inline Words rotate_words(Words x, int k) { return x << k | x >> (64 - k); }

static inline void draw(Group *g) {
    Words shifted = g->s1 << 17;
    g->bits = rotate_words(g->s0 + g->s3, 23) + g->s0;
    g->s2 ^= g->s0, g->s3 ^= g->s1, g->s1 ^= g->s2, g->s0 ^= g->s3, g->s2 ^= shifted;
    g->s3 = rotate_words(g->s3, 45);
}

static inline void try_cells(Group *g) {
    Words cell = g->bits & 63, at, three = {0}, four = {0}, one = (Words){0} + 1;
    for (int i = 0; i < WIDTH; i++) at[i] = packed[cell[i]];
    Words placed = -(~(g->taken >> cell) & 1) & (Words)(g->made == 0);
    for (int d = 0; d < 3; d++) {
        Words shift = at >> (24 + 6 * d) & 63, window = (g->mine[d] >> shift & (at >> 7 * d & 127)) | 8;
        Words pairs = window & window >> 1, mine = g->mine[d], other = g->other[d];
        three |= pairs & window >> 2, four |= pairs & pairs >> 2;
        g->mine[d] = mine ^ ((mine ^ other) & placed);
        g->other[d] = other ^ ((other ^ (mine | one << 3 << shift)) & placed);
    }
    g->taken |= one << cell & placed;
    g->plies -= placed;
    g->made |= ((Words)(three != 0) & placed & 1) + ((Words)(four != 0) & placed & 1);
    g->bits >>= 6;
}

static Group groups[GROUPS];

int main(int argc, char **argv) {
    if (argc < 3) {
        fprintf(stderr, "usage: reference_lanes_yavalath GAMES STREAM\n");
        return 2;
    }
    prepare();
    pack_cells();
    uint64_t to_begin = number(argv[1]), games = 0, plies = 0;
    int64_t outcomes = 0;
    Rng rng = stream_of(argc - 2, argv + 2);
    int playing[LANES] = {0}, busy = 0;
    for (int lane = 0; lane < LANES; lane++) {
        Rng own = seeded(next_word(&rng));
        Group *g = &groups[lane / WIDTH];
        g->s0[lane % WIDTH] = own.s0, g->s1[lane % WIDTH] = own.s1, g->s2[lane % WIDTH] = own.s2, g->s3[lane % WIDTH] = own.s3;
        g->made[lane % WIDTH] = 3; /* none is playing yet */
    }
    Time start = now();
    do {
        for (int lane = 0; lane < LANES; lane++) {
            Group *g = &groups[lane / WIDTH];
            int i = lane % WIDTH;
            if (g->made[i] == 0 && g->plies[i] < CELLS) continue;
            if (playing[lane]) {
                int result = g->made[i] >= 2 ? 1 : g->made[i] == 1 ? -1 : 0; /* of the player who moved last */
                outcomes += g->plies[i] & 1 ? result : -result;
                plies += g->plies[i], games++, busy--;
            }
            playing[lane] = to_begin > 0;
            if (!playing[lane]) {
                g->made[i] = 3;
                continue;
            }
            to_begin--, busy++;
            g->taken[i] = ~UINT64_C(0) << CELLS, g->plies[i] = g->made[i] = 0;
            for (int d = 0; d < 3; d++) g->mine[d][i] = g->other[d][i] = 0;
        }
        for (int k = 0; k < GROUPS; k++) {
            Group g = groups[k];
            draw(&g);
            for (int n = 0; n < TRIES; n++) try_cells(&g);
            groups[k] = g;
        }
    } while (busy);
    print_time(start);
    printf(", \"playouts\": %" PRIu64 ", \"plies\": %" PRIu64 ", \"outcomes\": %" PRId64 "}\n", games, plies, outcomes);
    return 0;
}
