/* Boards of 2048 in plain C: moves by tables of rows, random tiles, random play to the end.

   A board is one word, four bits a cell (the tile's exponent, 0 = empty; cell = 4 * row + column, row 0 lowest), which is
   exact up to 32,768. Actions: 0 left, 1 right, 2 up, 3 down. Call `build_tables` first. */
#ifndef BOARD2048_H
#define BOARD2048_H

#include "common.h"

#define ONES UINT64_C(0x1111111111111111)
#define EIGHTS UINT64_C(0x8888888888888888)
#define NOT_LAST_COLUMN UINT64_C(0x0111011101110111)
#define NOT_LAST_ROW UINT64_C(0x0000111111111111)
#define MAX_SCORE 3932156.0
#define FOUR_BELOW UINT32_C(429496730) /* 0.1 * 2**32 */

/* --- Row tables --- */

static uint16_t moved_row[2 * 65536]; /* to the left, then to the right */
static uint32_t row_potential[65536]; /* the points for making the row's tiles from 2s */
static uint8_t orders[24];            /* the orders of the four actions, two bits each */

static inline uint16_t move_row(uint32_t row, int right) {
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

static inline void build_tables(void) {
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

/* Swaps rows and columns if `yes` is 1, leaves the board if it is 0. */
static inline uint64_t turn(uint64_t b, uint64_t yes) {
    uint64_t mask = -yes, swap = (b ^ b >> 12) & (mask & UINT64_C(0x0000F0F00000F0F0));
    b ^= swap ^ swap << 12;
    swap = (b ^ b >> 24) & (mask & UINT64_C(0x00000000FF00FF00));
    return b ^ swap ^ swap << 24;
}

/* The board after an action, before chance places a tile: the same board if the action is not legal. */
static inline uint64_t after_action(uint64_t b, int action) {
    uint64_t across = (uint64_t)action >> 1;
    return turn(slide(turn(b, across), (uint64_t)action & 1), across);
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
    uint64_t scaled = word * (uint64_t)__builtin_popcountll(empty);    /* the cell, and by the fraction the tile */
    uint64_t miss = empty_here * ONES ^ ((scaled >> 32) + 1) * ONES;   /* nibble 0 if the count is the wanted one */
    uint64_t hit = (miss - ONES) & (~miss & EIGHTS), four = (uint32_t)scaled < FOUR_BELOW;
    *fours += four;
    return b | (hit & -hit) >> (3 - four); /* the lowest such cell is empty */
}

static inline uint64_t random_tile(uint64_t b, Rng *rng, uint64_t *fours) {
    uint64_t word = next_word(rng);
    if (b == 0) {
        uint64_t scaled = (uint64_t)(uint32_t)word << 4, four = (uint32_t)scaled < FOUR_BELOW;
        *fours += four;
        return (four + 1) << 4 * (scaled >> 32);
    }
    uint64_t empty = occupied(b) ^ ONES;
    return place(b, empty, empty, (uint32_t)word, fours);
}

/* --- Playouts --- */

/* A board that the first direction of `order` moves along its rows: for random play it may be turned. */
typedef struct {
    uint64_t board;
    uint32_t order;
    uint64_t moves;
} Playout;

typedef struct {
    uint64_t potential, fours, moves, ended; /* sums over the playouts; fours that the playouts placed */
} Totals;

static inline uint32_t random_order(uint64_t word) { return orders[(word >> 32) * 24 >> 32]; }

static inline Playout start_playout(uint64_t board, int tiles, Rng *rng, uint64_t *fours) {
    for (int i = 0; i < tiles; i++) board = random_tile(board, rng, fours);
    uint32_t order = random_order(next_word(rng));
    return (Playout){turn(board, order >> 1 & 1), order, 0};
}

/* A uniformly random legal move (the first legal one of a random order), then a random tile; 0 if none is legal. */
static inline int random_move(Playout *one, Rng *rng, uint64_t *fours) {
    uint64_t board = one->board, moved = slide(board, one->order & 1);
    uint32_t order = one->order;
    for (int tried = 1; __builtin_expect(moved == board, 0); tried++) {
        if (tried == 4) return 0;
        board = turn(board, (order ^ order >> 2) >> 1 & 1);
        order >>= 2;
        moved = slide(board, order & 1);
    }
    /* The next direction is drawn before the tile is placed: the board turns while the tile's cell is computed. */
    uint64_t word = next_word(rng), empty = occupied(moved) ^ ONES;
    one->order = random_order(word);
    uint64_t turned = one->order >> 1 & 1;
    one->board = place(turn(moved, turned), empty, turn(empty, turned), (uint32_t)word, fours);
    one->moves++;
    return 1;
}

/* Plays one move; 1 if the playout is over, by its depth or by the rules. */
static inline int advance(Playout *one, uint64_t depth, Rng *rng, Totals *sums) {
    if (one->moves < depth && random_move(one, rng, &sums->fours)) return 0;
    sums->potential += potential(one->board);
    sums->moves += one->moves;
    sums->ended += (uint64_t)stuck(one->board);
    return 1;
}

/* `count` playouts of up to `depth` moves from a board on which chance has to place `tiles` tiles first. */
static inline Totals playouts(uint64_t board, int tiles, uint64_t count, uint64_t depth, Rng *shared) {
    Totals sums = {0, 0, 0, 0};
    Rng rng = *shared;
    for (uint64_t i = 0; i < count; i++) {
        Playout one = start_playout(board, tiles, &rng, &sums.fours);
        while (!advance(&one, depth, &rng, &sums)) continue;
    }
    *shared = rng;
    return sums;
}

#endif
