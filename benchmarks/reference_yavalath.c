/* What `turnier bench` measures Yavalath against: random games and UCT on the 61-cell board, two players, no swap.
 *
 *   reference_yavalath playouts GAMES STREAM        random legal moves from the empty board to the end
 *   reference_yavalath uct ITERATIONS SEARCHES STREAM    UCT from the empty board, a rollout to the end an iteration
 *
 * Prints one JSON object. Built by: gcc -O3 -march=native -o reference_yavalath reference_yavalath.c -lm
 */
#define _POSIX_C_SOURCE 199309L
#include "common.h"
#include <math.h>
#include <string.h>

#define SIZE 5
#define CELLS 61
#define MARGIN 3 /* bits below the first cell, so that a window of seven never shifts to the left */

static int place[3][CELLS];     /* the bit of a cell on the board turned so that a direction's lines are rows */
static uint64_t inside[3][CELLS]; /* which of the seven bits around a cell lie on its line */
static unsigned char longest[128]; /* run through the middle one of seven bits, 3 or 4 where it is that long */

typedef struct { uint64_t stones[2][3]; uint64_t taken; int plies; } Board;

static Rng rng;

static void prepare(void) {
    int q[CELLS], r[CELLS], n = 0;
    for (int y = 1 - SIZE; y < SIZE; y++)
        for (int x = 1 - SIZE; x < SIZE; x++)
            if (abs(x + y) < SIZE) { q[n] = x; r[n] = y; n++; }
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
static int put(Board *b, int c) {
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

/* Plays random moves to the end; returns 1 if the first player has won, -1 if lost, 0 for a draw. */
static int playout(Board *b) {
    while (b->plies < CELLS) {
        int c;
        do c = (int)below(&rng, CELLS); while (b->taken >> c & 1);
        int mover = b->plies & 1, result = put(b, c);
        if (result) return mover ? -result : result;
    }
    return 0;
}

typedef struct { int first, count, tried, visits; unsigned char cell[CELLS]; signed char result; float sum; } Node;

static int uct(Node *nodes, int iterations, long *outcomes) {
    int used = 1, path[64];
    memset(&nodes[0], 0, sizeof(Node));
    for (int i = 0; i < iterations; i++) {
        Board b;
        memset(&b, 0, sizeof b);
        int node = 0, length = 1, result = 0, over = 0;
        path[0] = 0;
        while (!over && b.plies < CELLS && length <= 25) {
            Node *parent = &nodes[node];
            int mover = b.plies & 1, best = -1, fresh = 0;
            if (!parent->count) {
                for (int c = 0; c < CELLS; c++)
                    if (!(b.taken >> c & 1)) parent->cell[parent->count++] = (unsigned char)c;
                parent->first = used;
                memset(&nodes[used], 0, sizeof(Node) * (size_t)parent->count);
                used += parent->count;
            }
            if (parent->tried < parent->count) {
                int pick = parent->tried + (int)below(&rng, parent->count - parent->tried);
                unsigned char swap = parent->cell[pick];
                parent->cell[pick] = parent->cell[parent->tried];
                parent->cell[parent->tried] = swap;
                best = parent->tried++;
                fresh = 1;
            } else {
                float high = -1e30f, spread = 1.41421356f * sqrtf(logf((float)parent->visits + 1.0f));
                for (int k = 0; k < parent->count; k++) {
                    Node *child = &nodes[parent->first + k];
                    float score = child->sum / (float)child->visits + spread / sqrtf((float)child->visits);
                    if (score > high) { high = score; best = k; }
                }
            }
            node = parent->first + best;
            path[length++] = node;
            int outcome = put(&b, parent->cell[best]);
            if (outcome) { result = mover ? -outcome : outcome; over = 1; }
            if (fresh) break;
        }
        if (!over) result = playout(&b);
        *outcomes += result;
        for (int k = 0; k < length; k++) { /* a child's sum is its parent's mover's: seat 0 moves at even depths */
            nodes[path[k]].visits++;
            float first = 0.5f + 0.5f * (float)result;
            nodes[path[k]].sum += k % 2 ? first : 1.0f - first;
        }
    }
    return used;
}

int main(int argc, char **argv) {
    int playouts = argc > 3 && !strcmp(argv[1], "playouts");
    if (!playouts && !(argc > 4 && !strcmp(argv[1], "uct"))) {
        fprintf(stderr, "usage: reference_yavalath playouts GAMES STREAM\n"
                        "       reference_yavalath uct ITERATIONS SEARCHES STREAM\n");
        return 2;
    }
    prepare();
    long count = (long)number(argv[2]);
    int first = playouts ? 3 : 4;
    rng = stream_of(argc - first, argv + first);
    if (playouts) {
        long plies = 0, outcomes = 0;
        Time start = now();
        for (long i = 0; i < count; i++) {
            Board b;
            memset(&b, 0, sizeof b);
            outcomes += playout(&b);
            plies += b.plies;
        }
        print_time(start);
        printf(", \"playouts\": %ld, \"plies\": %ld, \"outcomes\": %ld}\n", count, plies, outcomes);
    } else {
        long searches = (long)number(argv[3]), used = 0, outcomes = 0;
        Node *nodes = malloc(sizeof(Node) * (size_t)(count + 2) * CELLS);
        if (!nodes) return 1;
        memset(nodes, 0, sizeof(Node) * (size_t)(count + 2) * CELLS);
        Time start = now();
        for (long i = 0; i < searches; i++) used += uct(nodes, (int)count, &outcomes);
        print_time(start);
        printf(", \"iterations\": %ld, \"nodes\": %ld, \"outcomes\": %ld}\n", count * searches, used,
               outcomes);
    }
    return 0;
}
