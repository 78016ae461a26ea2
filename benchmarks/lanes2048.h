/* Random play of 2048 with vector extensions: LANES boards side by side, a byte for each lane, moves by comparing and
   choosing bytes. A lane draws the same words as `playouts` of board2048.h, so it plays the same games. */
#ifndef LANES2048_H
#define LANES2048_H

#include "board2048.h"
#include <string.h>

#define LANES VECTOR
#define GROUPS (LANES / WIDTH) /* vectors of words, one for each lane */

typedef uint8_t Bytes __attribute__((vector_size(LANES)));
typedef uint64_t Words __attribute__((vector_size(VECTOR)));
typedef int64_t SignedWords __attribute__((vector_size(VECTOR)));
typedef uint8_t FewBytes __attribute__((vector_size(WIDTH)));
typedef int8_t FewSigned __attribute__((vector_size(WIDTH)));

/* Playouts of one stream, one after another in a lane; the board has `tiles` tiles to come. */
typedef struct {
    uint64_t board, count, depth;
    int tiles;
    Rng rng;
    Totals sums;
} Job;

/* Called when a lane is free, first with no job: returns what it plays next, or nothing. */
typedef Job *(*Next)(Job *done);

typedef struct {
    Bytes cell[16], order, left, moved, drawn, chosen, tile, empty, enough; /* masks are 0 or 255 */
    Words s0[GROUPS], s1[GROUPS], s2[GROUPS], s3[GROUPS], plies[GROUPS], fours[GROUPS], depth[GROUPS];
    Job *job[LANES];
} Lanes;

static uint64_t order_words[3]; /* `orders`, eight in a word */

#define PICK(mask, yes, no) (((yes) & (mask)) | ((no) & ~(mask)))
#define MASK(condition) ((Bytes)(condition))

static inline void swap_where(Bytes mask, Bytes *one, Bytes *other) {
    Bytes both = (*one ^ *other) & mask;
    *one ^= both, *other ^= both;
}

static inline void transpose_where(Bytes mask, Bytes *cell) {
    for (int row = 0; row < 4; row++)
        for (int column = row + 1; column < 4; column++)
            swap_where(mask, &cell[4 * row + column], &cell[4 * column + row]);
}

/* Moves a row's tiles to the left, or to the right where the mask is set, and merges equal neighbours. */
static inline void slide_row(Bytes right, Bytes *row) {
    Bytes a = row[0], b = row[1], c = row[2], d = row[3], gap, same;
    swap_where(right, &a, &d), swap_where(right, &b, &c);
    gap = MASK(c == 0), c = PICK(gap, d, c), d &= ~gap;
    gap = MASK(b == 0), b = PICK(gap, c, b), c = PICK(gap, d, c), d &= ~gap;
    gap = MASK(a == 0), a = PICK(gap, b, a), b = PICK(gap, c, b), c = PICK(gap, d, c), d &= ~gap;
    same = MASK(a == b) & ~MASK(a == 0), a -= same, b = PICK(same, c, b), c = PICK(same, d, c), d &= ~same;
    same = MASK(b == c) & ~MASK(b == 0), b -= same, c = PICK(same, d, c), d &= ~same;
    same = MASK(c == d) & ~MASK(c == 0), c -= same, d &= ~same;
    swap_where(right, &a, &d), swap_where(right, &b, &c);
    row[0] = a, row[1] = b, row[2] = c, row[3] = d;
}

/* Places the drawn tiles, turns every board for the direction to try next, and moves its tiles that way. */
static inline void move_tiles(Lanes *lanes) {
    Bytes moved = lanes->moved, drawn = lanes->drawn, tried = lanes->order, cell[16], new[16];
    Bytes order = PICK(moved, drawn, tried >> 2);
    Bytes left = PICK(moved, 4 - (Bytes){0}, lanes->left + MASK(lanes->left != 0)) & ~lanes->enough;
    Bytes turned = MASK((PICK(moved, drawn, tried ^ order) & 2) != 0), right = MASK((order & 1) != 0);
    Bytes chosen = lanes->chosen, tile = lanes->tile & moved, seen = {0}, change = {0}, empty = {0};
    memcpy(cell, lanes->cell, sizeof cell);
    transpose_where(turned, cell);
    for (int i = 0; i < 16; i++) {
        Bytes gap = MASK(cell[i] == 0);
        seen -= gap;
        cell[i] |= tile & gap & MASK(seen == chosen);
    }
    memcpy(new, cell, sizeof new);
    for (int row = 0; row < 16; row += 4) slide_row(right, new + row);
    for (int i = 0; i < 16; i++) change |= new[i] ^ cell[i];
    moved = MASK(change != 0) & MASK(left != 0);
    for (int i = 0; i < 16; i++) {
        lanes->cell[i] = PICK(moved, new[i], cell[i]);
        empty -= MASK(lanes->cell[i] == 0);
    }
    lanes->order = order, lanes->left = left, lanes->moved = moved, lanes->empty = empty;
}

static inline Words rotate_words(Words x, int k) { return x << k | x >> (64 - k); }

/* Draws a tile and an order of directions in lanes whose tiles have moved. */
static inline void draw(Lanes *lanes) {
    for (int k = 0; k < GROUPS; k++) {
        FewSigned masks;
        FewBytes gaps;
        memcpy(&masks, (char *)&lanes->moved + WIDTH * k, WIDTH), memcpy(&gaps, (char *)&lanes->empty + WIDTH * k, WIDTH);
        Words moved = (Words)__builtin_convertvector(masks, SignedWords), empty = __builtin_convertvector(gaps, Words);
        Words s0 = lanes->s0[k], s1 = lanes->s1[k], s2 = lanes->s2[k], s3 = lanes->s3[k];
        Words word = rotate_words(s0 + s3, 23) + s0, t2 = s2 ^ s0, t3 = s3 ^ s1, t1 = s1 ^ t2, t0 = s0 ^ t3;
        t2 ^= s1 << 17, t3 = rotate_words(t3, 45);
        lanes->s0[k] = PICK(moved, t0, s0), lanes->s1[k] = PICK(moved, t1, s1);
        lanes->s2[k] = PICK(moved, t2, s2), lanes->s3[k] = PICK(moved, t3, s3);
        Words scaled = (word & 0xFFFFFFFF) * empty, four = (Words)((scaled & 0xFFFFFFFF) < FOUR_BELOW) & 1;
        Words index = (word >> 32) * 24 >> 32, second = -(index >> 3 & 1), third = -(index >> 4);
        Words packed = order_words[0] ^ (second & (order_words[0] ^ order_words[1])) ^
                       (third & (order_words[0] ^ order_words[2]));
        lanes->plies[k] -= moved, lanes->fours[k] += four & moved;
        FewBytes enough = __builtin_convertvector((Words)(lanes->plies[k] >= lanes->depth[k]), FewBytes),
                   drawn = __builtin_convertvector(packed >> ((index & 7) << 3), FewBytes),
                   chosen = __builtin_convertvector((scaled >> 32) + 1, FewBytes),
                   tile = __builtin_convertvector(four + 1, FewBytes);
        memcpy((char *)&lanes->enough + WIDTH * k, &enough, WIDTH), memcpy((char *)&lanes->drawn + WIDTH * k, &drawn, WIDTH);
        memcpy((char *)&lanes->chosen + WIDTH * k, &chosen, WIDTH), memcpy((char *)&lanes->tile + WIDTH * k, &tile, WIDTH);
    }
}

#define BYTE(vector, lane) (((uint8_t *)&(vector))[lane])
#define WORD(vectors, lane) (((uint64_t *)(vectors))[lane])

/* Begins a playout of the lane's job, like `start_playout`. */
static inline void begin(Lanes *lanes, int lane) {
    Job *job = lanes->job[lane];
    uint64_t board = job->board;
    for (int i = 0; i < job->tiles; i++) board = random_tile(board, &job->rng, &job->sums.fours);
    for (int i = 0; i < 16; i++) BYTE(lanes->cell[i], lane) = board >> 4 * i & 15;
    BYTE(lanes->drawn, lane) = (uint8_t)random_order(next_word(&job->rng));
    BYTE(lanes->moved, lane) = 255, BYTE(lanes->tile, lane) = 0, BYTE(lanes->left, lane) = 4;
    BYTE(lanes->enough, lane) = job->depth == 0 ? 255 : 0;
    WORD(lanes->plies, lane) = 0, WORD(lanes->fours, lane) = 0, WORD(lanes->depth, lane) = job->depth;
    WORD(lanes->s0, lane) = job->rng.s0, WORD(lanes->s1, lane) = job->rng.s1;
    WORD(lanes->s2, lane) = job->rng.s2, WORD(lanes->s3, lane) = job->rng.s3;
}

/* Adds up the playout that the lane has finished. */
static inline void finish(Lanes *lanes, int lane) {
    Job *job = lanes->job[lane];
    uint64_t board = 0;
    for (int i = 0; i < 16; i++) board |= (uint64_t)BYTE(lanes->cell[i], lane) << 4 * i;
    job->rng = (Rng){WORD(lanes->s0, lane), WORD(lanes->s1, lane), WORD(lanes->s2, lane), WORD(lanes->s3, lane)};
    job->sums.potential += potential(board), job->sums.fours += WORD(lanes->fours, lane);
    job->sums.moves += WORD(lanes->plies, lane), job->sums.ended += (uint64_t)stuck(board);
    job->count--;
}

/* Plays jobs until there is none. */
static inline void play_jobs(Next next) {
    static Lanes lanes; /* without jobs, and all lanes done */
    int busy = 0;
    for (int i = 0; i < 24; i++) order_words[i / 8] |= (uint64_t)orders[i] << i % 8 * 8;
    do {
        Bytes idle = MASK(lanes.left == 0);
        for (int part = 0; part < LANES / 8; part++)
            for (uint64_t bits = WORD(&idle, part) & UINT64_C(0x0101010101010101); bits; bits &= bits - 1) {
                int lane = 8 * part + __builtin_ctzll(bits) / 8;
                Job *job = lanes.job[lane];
                if (job) finish(&lanes, lane), busy--;
                if (!job || job->count == 0) job = next(job);
                lanes.job[lane] = job;
                if (job) begin(&lanes, lane), busy++;
            }
        move_tiles(&lanes), draw(&lanes);
    } while (busy);
}

#endif
