/* The yardstick of `make bench` for Yavalath: random games and UCT on the 61-cell board, two players, no swap.
 *
 *   reference_yavalath playouts GAMES STREAM        random legal moves from the empty board to the end
 *   reference_yavalath uct ITERATIONS SEARCHES STREAM    UCT from the empty board, a rollout to the end an iteration
 *
 * Prints one JSON object. Built by: gcc -O3 -march=native -o reference_yavalath reference_yavalath.c -lm
 */
#define _POSIX_C_SOURCE 199309L
#include "common.h"
#include "yavalath.h"
#include <math.h>
#include <string.h>

static Rng rng;

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
