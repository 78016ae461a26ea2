/* The rules of Yavalath on 61 cells for two players, without swap: stones as bits, three words for each player. */
#ifndef YAVALATH_H
#define YAVALATH_H

#include <stdint.h>
#include <stdlib.h>

#define SIZE 5
#define CELLS 61
#define MARGIN 3 /* bits below the first cell, so that a window of seven never shifts to the left */

static int place[3][CELLS];     /* the bit of a cell on the board turned so that a direction's lines are rows */
static uint64_t inside[3][CELLS]; /* the bits among the seven around a cell that lie on its line */
static unsigned char longest[128]; /* run through the middle one of seven bits, 3 or 4 if it is that long */

typedef struct { uint64_t stones[2][3]; uint64_t taken; int plies; } Board;

/* Finds the axial coordinates of all cells: rows from the top, each from the left. */
static void find_cells(int *q, int *r) {
    int n = 0;
    for (int y = 1 - SIZE; y < SIZE; y++)
        for (int x = 1 - SIZE; x < SIZE; x++)
            if (abs(x + y) < SIZE) { q[n] = x; r[n] = y; n++; }
}

static void prepare(void) {
    int q[CELLS], r[CELLS];
    find_cells(q, r);
    for (int d = 0; d < 3; d++) {
        int bit = MARGIN, line_of[CELLS];
        for (int line = 1 - SIZE; line < SIZE; line++)
            for (int along = 1 - SIZE; along < SIZE; along++)
                for (int c = 0; c < CELLS; c++) {
                    int its_line = d == 0 ? r[c] : d == 1 ? q[c] : q[c] + r[c];
                    int its_place = d == 0 ? q[c] : r[c];
                    if (its_line == line && its_place == along) { place[d][c] = bit++; line_of[c] = line; }
                }
        for (int c = 0; c < CELLS; c++) {
            inside[d][c] = 0;
            for (int other = 0; other < CELLS; other++) {
                int offset = place[d][other] - place[d][c];
                if (line_of[other] == line_of[c] && abs(offset) <= 3) inside[d][c] |= 1u << (offset + 3);
            }
        }
    }
    for (int bits = 0; bits < 128; bits++) {
        int run = 1;
        for (int i = 4; i < 7 && bits >> i & 1; i++) run++;
        for (int i = 2; i >= 0 && bits >> i & 1; i--) run++;
        longest[bits] = run >= 4 ? 4 : run == 3 ? 3 : 0;
    }
}

/* Places a stone; returns 1 if its owner has won, -1 if lost, else 0. */
static inline int put(Board *b, int c) {
    uint64_t *mine = b->stones[b->plies & 1];
    int most = 0, least = 0;
    for (int d = 0; d < 3; d++) {
        mine[d] |= 1ull << place[d][c];
        int run = longest[mine[d] >> (place[d][c] - 3) & inside[d][c]];
        most |= run == 4; least |= run == 3;
    }
    b->taken |= 1ull << c;
    b->plies++;
    return most ? 1 : least ? -1 : 0;
}

#endif
