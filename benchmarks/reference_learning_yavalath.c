/* The yardstick of `make bench` for n-tuple learning of Yavalath: TD with temporal coherence by self-play, on the
 * 61-cell board, two players, no swap; a network that knows whose turn it is, over all twelve images of each tuple.
 *
 *   reference_learning_yavalath TUPLES COUNT KEY WARM GAMES ALPHA ALPHA_END EPSILON EPSILON_END WEIGHTS
 *
 * TUPLES is a file of COUNT x LENGTH cells, 64-bit integers. Of WARM + GAMES games only the latter are timed; alpha falls
 * geometrically and epsilon linearly over all. Game i draws from the stream of seed KEY + 4 i golden ratios. Then the
 * file WEIGHTS gets all values and, for each, the sum of its changes and that of their sizes, as 32-bit floats.
 * Prints one JSON object. Built by: gcc -O3 -march=native -ffp-contract=off -o ... reference_learning_yavalath.c -lm
 */
#define _GNU_SOURCE
#include "common.h"
#include "yavalath.h"
#include <math.h>
#include <string.h>
#include <sys/mman.h>

#define LENGTH 7    /* cells of a tuple */
#define ENTRIES 2187 /* of a tuple: each cell empty, of the first player or of the second */
#define IMAGES 12
#define TINY 1e-37f /* makes 0 / 0 a 1, and rounds away otherwise */

typedef struct { float signed_sum, sizes; } Sums;  /* of the requested changes; they give the rate */
typedef struct { int lookup, factor; } Touch;      /* a look-up that sees a cell, and the cell's factor there */

static const int power[LENGTH] = {1, 3, 9, 27, 81, 243, 729};
static int tuples, lookups, touches; /* touches: number of look-ups that see a cell, ending[CELLS - 1] */
static int (*cells)[LENGTH];         /* of each tuple */
static int images[IMAGES][CELLS];    /* where a cell is on each image of the board */
static int sources[CELLS][IMAGES];   /* which cell is there */
static int ending[CELLS];            /* where each cell's part of the list of touches ends */
static Touch *touch;
static float *values;                /* [2][tuples][ENTRIES], by who is to move */
static Sums *sums;                   /* likewise */

static int *entry;                   /* [tuples][IMAGES] entries of the current board, from its tuple's first on */
static double parts[CELLS][IMAGES];
static float *known;                 /* [tuples][IMAGES] values of a board whose last cells are few */

static void *memory(size_t bytes) {
    void *found = aligned_alloc(1 << 21, (bytes + (1 << 21) - 1) >> 21 << 21);
    if (!found) exit(1);
    madvise(found, bytes, MADV_HUGEPAGE);
    return memset(found, 0, bytes);
}

static void find_images(void) {
    int q[CELLS], r[CELLS], at[2 * SIZE - 1][2 * SIZE - 1];
    find_cells(q, r);
    for (int c = 0; c < CELLS; c++) at[r[c] + SIZE - 1][q[c] + SIZE - 1] = c;
    for (int c = 0; c < CELLS; c++)
        for (int image = 0; image < IMAGES; image++) {
            int x = image < 6 ? q[c] : r[c], y = image < 6 ? r[c] : q[c];
            for (int turn = 0; turn < image % 6; turn++) {
                int turned = x + y;
                x = -y;
                y = turned;
            }
            int there = at[y + SIZE - 1][x + SIZE - 1];
            images[image][c] = there;
            sources[there][image] = c;
        }
}

static void find_touches(void) {
    touch = memory(sizeof(Touch) * (size_t)lookups * LENGTH);
    for (int c = 0; c < CELLS; c++) {
        for (int t = 0; t < tuples; t++)
            for (int image = 0; image < IMAGES; image++)
                for (int j = 0; j < LENGTH; j++)
                    if (images[image][cells[t][j]] == c) touch[touches++] = (Touch){t * IMAGES + image, power[j]};
        ending[c] = touches;
    }
}

static inline const Touch *touches_of(int cell) { return touch + (cell ? ending[cell - 1] : 0); }

/* Changes the entries of the current board for a stone of the player by which many cells differ. */
static void move_entries(int cell, int stone) {
    const Touch *end = touch + ending[cell];
    for (const Touch *t = touches_of(cell); t < end; t++) entry[t->lookup] += stone * t->factor;
}

/* Finds the value of the board after a stone on each empty cell: tuple by tuple, whose images share its few
 * entries. Results for cells that are not empty mean nothing; the values have room for that. */
static void evaluate_all(const float *of, int stone, float *worth) {
    double total = 0.0;
    memset(parts, 0, sizeof parts);
    for (int t = 0; t < tuples; t++, of += ENTRIES) {
        const int *e = entry + t * IMAGES;
        double before[IMAGES];
        for (int i = 0; i < IMAGES; i++) before[i] = of[e[i]];
        for (int i = 0; i < IMAGES; i += 4)
            total += (before[i] + before[i + 1]) + (before[i + 2] + before[i + 3]);
        for (int j = 0; j < LENGTH; j++) {
            const float *after = of + stone * power[j];
            double *part = parts[cells[t][j]];
            for (int i = 0; i < IMAGES; i++) part[i] += after[e[i]] - before[i];
        }
    }
    for (int c = 0; c < CELLS; c++) {
        double change = 0.0;
        for (int i = 0; i < IMAGES; i++) change += parts[sources[c][i]][i];
        worth[c] = (float)(total + change);
    }
}

/* The same by looking at each empty cell, faster when they are few. */
static void evaluate_few(const float *of, int stone, uint64_t taken, float *worth) {
    double total = 0.0;
    for (int i = 0; i < lookups; i++) total += known[i] = of[i / IMAGES * ENTRIES + entry[i]];
    for (int c = 0; c < CELLS; c++) {
        if (taken >> c & 1) continue;
        const Touch *end = touch + ending[c];
        double change = 0.0;
        for (const Touch *t = touches_of(c); t < end; t++) {
            int i = t->lookup;
            change += (double)of[i / IMAGES * ENTRIES + entry[i] + stone * t->factor] - known[i];
        }
        worth[c] = (float)(total + change);
    }
}

/* Moves the current board's value towards a target, every entry by its own rate as a share of alpha. */
static void learn(int seat, float target, float rate) {
    float *of = values + seat * tuples * ENTRIES;
    Sums *own = sums + seat * tuples * ENTRIES;
    double total = 0.0;
    for (int t = 0; t < tuples; t++) {
        double part = 0.0;
        for (int i = 0; i < IMAGES; i++) {
            int e = t * ENTRIES + entry[t * IMAGES + i];
            part += of[e];
            __builtin_prefetch(own + e, 1);
        }
        total += part;
    }
    float change = rate * (target - (float)total), size = fabsf(change);
    for (int t = 0; t < tuples; t++, of += ENTRIES, own += ENTRIES)
        for (int i = 0; i < IMAGES; i++) {
            int e = entry[t * IMAGES + i];
            Sums s = own[e];
            of[e] += change * ((fabsf(s.signed_sum) + TINY) / (s.sizes + TINY));
            own[e] = (Sums){s.signed_sum + change, s.sizes + size};
        }
}

/* Plays a game against itself and learns from it; returns its moves. */
static int play(Rng rng, float alpha, double epsilon) {
    Board b = {0};
    float rate = alpha / (float)lookups, worth[CELLS];
    int learns = 0; /* whether the current board follows a move of choice */
    memset(entry, 0, sizeof(int) * (size_t)lookups);
    for (;;) {
        int mover = b.plies & 1, next = 1 - mover, free = CELLS - b.plies, chosen = -1;
        if (epsilon > 0.0 && uniform(&rng) < epsilon) {
            int64_t skip = below(&rng, free);
            uint64_t empty = ~b.taken;
            while (skip--) empty &= empty - 1;
            chosen = __builtin_ctzll(empty);
            learns = 0;
        } else {
            float best = 0.0f, sign = mover ? -1.0f : 1.0f;
            const float *of = values + next * tuples * ENTRIES;
            if (3 * free > CELLS)
                evaluate_all(of, mover + 1, worth);
            else
                evaluate_few(of, mover + 1, b.taken, worth);
            for (int c = 0; c < CELLS; c++) {
                if (b.taken >> c & 1) continue;
                Board after = b;
                int result = put(&after, c);
                if (result || after.plies == CELLS) worth[c] = sign * (float)result;
                if (chosen < 0 || sign * worth[c] > best) {
                    best = sign * worth[c];
                    chosen = c;
                }
            }
            if (learns) learn(mover, worth[chosen], rate);
        }
        int result = put(&b, chosen);
        if (result || b.plies == CELLS) return b.plies;
        move_entries(chosen, mover + 1);
        learns = 1;
    }
}

int main(int argc, char **argv) {
    if (argc != 11) {
        fprintf(stderr, "usage: reference_learning_yavalath TUPLES COUNT KEY WARM GAMES"
                        " ALPHA ALPHA_END EPSILON EPSILON_END WEIGHTS\n");
        return 2;
    }
    tuples = (int)number(argv[2]);
    lookups = tuples * IMAGES;
    uint64_t key = number(argv[3]);
    long warm = (long)number(argv[4]), games = (long)number(argv[5]), moves = 0;
    double alpha = atof(argv[6]), alpha_end = atof(argv[7]), epsilon = atof(argv[8]), epsilon_end = atof(argv[9]);
    int64_t *read = memory(sizeof(int64_t) * (size_t)tuples * LENGTH);
    read_file(argv[1], read, sizeof(int64_t), (size_t)tuples * LENGTH);
    cells = memory(sizeof(int[LENGTH]) * (size_t)tuples);
    for (int i = 0; i < tuples * LENGTH; i++) cells[i / LENGTH][i % LENGTH] = (int)read[i];
    size_t entries = 2 * (size_t)tuples * ENTRIES;
    values = memory(sizeof(float) * (entries + ENTRIES));
    sums = memory(sizeof(Sums) * entries);
    entry = memory(sizeof(int) * (size_t)lookups);
    known = memory(sizeof(float) * (size_t)lookups);
    prepare();
    find_images();
    find_touches();
    Time start = now();
    for (long i = 0; i < warm + games; i++) {
        if (i == warm) {
            start = now();
            moves = 0;
        }
        double share = (double)i / (double)(warm + games);
        Rng rng = seeded(key + UINT64_C(4) * UINT64_C(0x9E3779B97F4A7C15) * (uint64_t)i);
        moves += play(rng, (float)(alpha * pow(alpha_end / alpha, share)), epsilon + (epsilon_end - epsilon) * share);
    }
    print_time(start);
    printf(", \"games\": %ld, \"moves\": %ld}\n", games, moves);
    FILE *file = fopen(argv[10], "wb");
    if (!file || fwrite(values, sizeof(float), entries, file) != entries ||
        fwrite(sums, sizeof(Sums), entries, file) != entries || fclose(file)) {
        fprintf(stderr, "a file that can be written is needed, got %s\n", argv[10]);
        return 2;
    }
    return 0;
}
