/* What `turnier bench` measures Yavalath against: random games and UCT on the 61-cell board, two players, no swap.
 *
 *   reference_yavalath playouts GAMES SEED        random legal moves from the empty board to the end
 *   reference_yavalath uct ITERATIONS SEARCHES SEED    UCT from the empty board, a rollout to the end an iteration
 *
 * Prints one JSON object. Built by: gcc -O3 -march=native -o reference_yavalath reference_yavalath.c -lm
 */
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define SIZE 5
#define CELLS 61
#define MARGIN 3 /* bits below the first cell, so that a window of seven never shifts to the left */

static int place[3][CELLS];     /* the bit of a cell on the board turned so that a direction's lines are rows */
static uint64_t inside[3][CELLS]; /* which of the seven bits around a cell lie on its line */
static unsigned char longest[128]; /* run through the middle one of seven bits, 3 or 4 where it is that long */

typedef struct { uint64_t stones[2][3]; uint64_t taken; int plies; } Board;

static uint64_t rng[4];

static uint64_t rotl(uint64_t x, int k) { return (x << k) | (x >> (64 - k)); }

static uint64_t next(void) { /* xoshiro256++ */
    uint64_t result = rotl(rng[0] + rng[3], 23) + rng[0], t = rng[1] << 17;
    rng[2] ^= rng[0]; rng[3] ^= rng[1]; rng[1] ^= rng[2]; rng[0] ^= rng[3];
    rng[2] ^= t; rng[3] = rotl(rng[3], 45);
    return result;
}

static int below(int n) { return (int)(((next() >> 32) * (uint64_t)n) >> 32); }

static void seed_rng(uint64_t seed) {
    for (int i = 0; i < 4; i++) { /* splitmix64 */
        uint64_t z = (seed += 0x9e3779b97f4a7c15);
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
        z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
        rng[i] = z ^ (z >> 31);
    }
}

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
        do c = below(CELLS); while (b->taken >> c & 1);
        int mover = b->plies & 1, result = put(b, c);
        if (result) return mover ? -result : result;
    }
    return 0;
}

typedef struct { int first, count, tried, visits; unsigned char cell[CELLS]; signed char result; float sum; } Node;

static int uct(Node *nodes, int iterations) {
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
                int pick = parent->tried + below(parent->count - parent->tried);
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
        for (int k = 0; k < length; k++) { /* a child's sum is its parent's mover's: seat 0 moves at even depths */
            nodes[path[k]].visits++;
            float first = 0.5f + 0.5f * (float)result;
            nodes[path[k]].sum += k % 2 ? first : 1.0f - first;
        }
    }
    return used;
}

static double now(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

int main(int argc, char **argv) {
    if (argc < 4) return 2;
    prepare();
    long count = atol(argv[2]);
    if (!strcmp(argv[1], "playouts")) {
        seed_rng((uint64_t)atol(argv[3]));
        long plies = 0, wins = 0;
        double began = now();
        for (long i = 0; i < count; i++) {
            Board b;
            memset(&b, 0, sizeof b);
            wins += playout(&b) > 0;
            plies += b.plies;
        }
        double seconds = now() - began;
        printf("{\"playouts_per_second\": %.0f, \"plies\": %.3f, \"first_wins\": %.4f}\n", (double)count / seconds,
               (double)plies / (double)count, (double)wins / (double)count);
    } else {
        long searches = atol(argv[3]);
        seed_rng(argc > 4 ? (uint64_t)atol(argv[4]) : 1);
        Node *nodes = malloc(sizeof(Node) * (size_t)(count + 2) * CELLS);
        if (!nodes) return 1;
        memset(nodes, 0, sizeof(Node) * (size_t)(count + 2) * CELLS);
        double began = now();
        long used = 0;
        for (long i = 0; i < searches; i++) used += uct(nodes, (int)count);
        printf("{\"iterations_per_second\": %.0f, \"nodes\": %ld}\n", (double)(count * searches) / (now() - began), used);
    }
    return 0;
}
