/* Expectimax for 2048 in plain C: the yardstick for Turnier's compiled search (see README.md beside this file).

       gcc -O3 -march=native -o reference_expectimax2048 reference_expectimax2048.c
       reference_expectimax2048 TABLE BOARDS COUNT DEPTH CUTOFF BITS ROUNDS

   TABLE holds 65,536 doubles, what a row or column of four tiles is worth; BOARDS that many 64-bit words, four bits a
   cell (the tile's exponent, 0 = empty; cell = 4 * row + column, row 0 lowest), none with tiles that sum up to near
   65,536. Every board is searched DEPTH decisions deep, ROUNDS times over; afterstates less probable than CUTOFF are
   evaluated at once; a transposition table of at most BITS bits (0 = none) is made anew for each. Prints one JSON line:
   the clocks, boards, evaluations, and the sums of the boards' best values and actions. One core, no intrinsics, no
   vectors.

   The algorithm is Turnier's: the last decision is worked out for all tiles that chance can place on an afterstate
   together, since a tile changes only one row. */

#define _POSIX_C_SOURCE 199309L
#include "board2048.h"
#include <math.h>

#define ROW UINT64_C(0xFFFF)
#define COLUMN UINT64_C(0x000F000F000F000F)

static double table[65536];

static inline uint64_t transpose(uint64_t b) { return turn(b, 1); }

/* The board after an action, as `after_action`, if the turned board is known. */
static inline uint64_t move(uint64_t board, uint64_t turned, int action) {
    return action < 2 ? slide(board, (uint64_t)action) : transpose(slide(turned, (uint64_t)action & 1));
}

static inline double rows_value(uint64_t b) {
    return table[b & ROW] + table[b >> 16 & ROW] + table[b >> 32 & ROW] + table[b >> 48];
}

static inline double board_value(uint64_t b) { return rows_value(b) + rows_value(transpose(b)); }

static inline int count_empty(uint64_t b) { return 16 - __builtin_popcountll(occupied(b)); }

/* A row as the first column of a board. */
static inline uint64_t spread(uint64_t row) {
    row = (row | row << 24) & UINT64_C(0x000000FF000000FF);
    return (row | row << 12) & COLUMN;
}

/* --- The search --- */

typedef struct {
    uint64_t key;
    double tag, value; /* tag: 2 * decisions left + probability, 0 = free */
} Slot;

static Slot *slots;
static uint64_t num_slots, evaluations;
static double cutoff;

/* Moves a board left and right after each tile that chance can place on it, and keeps the larger values in `best`. */
static inline int best_along_rows(uint64_t b, double *best, int row_stride, int column_stride) {
    int legal = 0;
    uint64_t to[2] = {slide(b, 0), slide(b, 1)}, columns[2] = {transpose(to[0]), transpose(to[1])};
    double sum[2] = {rows_value(to[0]), rows_value(to[1])};
    for (int r = 0; r < 4; r++) {
        uint64_t row = b >> 16 * r & ROW, other_columns[2];
        double other_value[2];
        int others_move[2];
        for (int side = 0; side < 2; side++) {
            other_columns[side] = columns[side] & ~(COLUMN << 4 * r);
            other_value[side] = sum[side] - table[to[side] >> 16 * r & ROW];
            others_move[side] = ((to[side] ^ b) & ~(ROW << 16 * r)) != 0;
        }
        for (int c = 0; c < 4; c++) {
            if (row >> 4 * c & 15) continue;
            for (int tile = 0; tile < 2; tile++) {
                uint64_t placed = row | (uint64_t)(1 + tile) << 4 * c;
                double *value = best + tile + r * row_stride + c * column_stride;
                for (int side = 0; side < 2; side++) {
                    uint64_t moved = moved_row[(side << 16) + placed];
                    if (!others_move[side] && moved == placed) continue;
                    double v = other_value[side] + table[moved] + rows_value(other_columns[side] | spread(moved) << 4 * r);
                    *value = v > *value ? v : *value;
                    legal++;
                }
            }
        }
    }
    return legal;
}

/* The value of an afterstate with one decision left. */
static double last_value(uint64_t b) {
    double best[32], total = 0, n = count_empty(b), share[2] = {0.9 / n, 0.1 / n};
    for (int i = 0; i < 32; i++) best[i] = -INFINITY;
    evaluations += (uint64_t)best_along_rows(b, best, 8, 2);
    evaluations += (uint64_t)best_along_rows(transpose(b), best, 2, 8);
    for (int cell = 0; cell < 16; cell++) {
        if (b >> 4 * cell & 15) continue;
        for (int tile = 0; tile < 2; tile++) {
            double value = best[2 * cell + tile];
            if (value == -INFINITY) value = 0, evaluations++; /* the game is over: worth 0 */
            total += share[tile] * value;
        }
    }
    return total;
}

static double afterstate_value(uint64_t b, int depth, double prob) {
    if (depth == 0 || prob < cutoff) {
        evaluations++;
        return board_value(b);
    }
    double tag = 2 * depth + (cutoff > 0 ? prob : 1.0), total = 0;
    Slot *slot = slots;
    if (num_slots) {
        slot = slots + (b * UINT64_C(0x9E3779B97F4A7C15) >> 32 & (num_slots - 1));
        if (slot->key == b && tag <= slot->tag && slot->tag <= 2 * depth + 1) return slot->value;
    }
    if (depth == 1)
        total = last_value(b);
    else {
        double n = count_empty(b), share[2] = {0.9 / n, 0.1 / n};
        for (int cell = 0; cell < 16; cell++) {
            if (b >> 4 * cell & 15) continue;
            for (int tile = 0; tile < 2; tile++) {
                uint64_t board = b | (uint64_t)(1 + tile) << 4 * cell, turned = transpose(board);
                double highest = -INFINITY;
                for (int action = 0; action < 4; action++) {
                    uint64_t after = move(board, turned, action);
                    if (after == board) continue;
                    double value = afterstate_value(after, depth - 1, prob * share[tile]);
                    highest = value > highest ? value : highest;
                }
                if (highest == -INFINITY) highest = 0, evaluations++;
                total += share[tile] * highest;
            }
        }
    }
    if (num_slots) *slot = (Slot){b, tag, total};
    return total;
}

/* Searches a board with a table of its own; returns the best action, -1 if there is none or only one. */
static int search(uint64_t board, int depth, int bits, double *value) {
    uint64_t turned = transpose(board), after[4];
    int best = -1, legal = 0;
    for (int action = 0; action < 4; action++) legal += (after[action] = move(board, turned, action)) != board;
    if (legal < 2) return -1;
    bits = depth > 2 ? (bits < 4 * depth - 2 ? bits : 4 * depth - 2) : 0;
    num_slots = bits ? UINT64_C(1) << bits : 0;
    slots = bits ? calloc(num_slots, sizeof(Slot)) : NULL;
    for (int action = 0; action < 4; action++) {
        if (after[action] == board) continue;
        double v = afterstate_value(after[action], depth - 1, 1.0);
        if (best < 0 || v > *value) best = action, *value = v;
    }
    free(slots);
    return best;
}

int main(int argc, char **argv) {
    if (argc != 8) {
        fprintf(stderr, "usage: reference_expectimax2048 TABLE BOARDS COUNT DEPTH CUTOFF BITS ROUNDS\n");
        return 2;
    }
    build_tables();
    read_file(argv[1], table, sizeof table[0], 65536);
    size_t n = number(argv[3]);
    uint64_t *boards = malloc(n * sizeof boards[0]), actions = 0;
    if (!boards) return 1;
    read_file(argv[2], boards, sizeof boards[0], n);
    int depth = atoi(argv[4]), bits = atoi(argv[6]), rounds = atoi(argv[7]);
    cutoff = atof(argv[5]);
    double sum = 0;
    Time start = now();
    for (int round = 0; round < rounds; round++) {
        sum = 0, actions = 0;
        for (size_t i = 0; i < n; i++) {
            double value = 0;
            int action = search(boards[i], depth, bits, &value);
            if (action >= 0) sum += value, actions += (uint64_t)action;
        }
    }
    print_time(start);
    printf(", \"boards\": %" PRIu64 ", \"evaluations\": %" PRIu64 ", \"value\": %.15g, \"actions\": %" PRIu64 "}\n",
           (uint64_t)n * (uint64_t)rounds, evaluations, sum * rounds, actions * (uint64_t)rounds);
    return 0;
}
