/* The yardstick of `make bench` for n-tuple learning of 2048 and for playing with the result: four tuples of six cells
 * over all eight images of the board, afterstates, TD(0), without and with temporal coherence.
 *
 *   reference_learning2048 td|tc KEY WARM GAMES ALPHA [STREAMS MATCHES]
 *
 * Of WARM + GAMES games only the latter are timed; game i draws from the stream of seed KEY + 4 i golden ratios. If
 * STREAMS is given, WARM + GAMES games are learned untimed, and MATCHES games that the network then plays are timed;
 * the file holds the words of two streams for each match: of chance, and of the agent, which needs none.
 * Prints one JSON object; "digest" identifies the learned weights.
 * Built by: gcc -O3 -march=native -ffp-contract=off -o ... reference_learning2048.c -lm
 */
#define _GNU_SOURCE
#include "board2048.h"
#include <math.h>
#include <string.h>
#include <sys/mman.h>

#define TUPLES 4
#define IMAGES 8
#define LOOKUPS (TUPLES * IMAGES)
#define ENTRIES (UINT64_C(1) << 24) /* of a tuple */
#define TINY 1e-37f                 /* makes 0 / 0 a 1, and rounds away otherwise */

typedef struct { uint64_t place[TUPLES][IMAGES]; } Lookups;
typedef struct { uint64_t board; int64_t gain; Lookups found; } After;

static int width;                  /* floats of an entry: a value, or a value, both sums and one unused */
static float *table;               /* [TUPLES][ENTRIES][width] */
static int32_t row_gain[65536];    /* the points of moving a row, the same to both sides */

static void build_gains(void) {
    for (uint32_t row = 0; row < 65536; row++) {
        uint32_t last = 0;
        for (int i = 0; i < 4; i++) {
            uint32_t tile = row >> 4 * i & 15;
            if (tile == 0) continue;
            if (tile == last) row_gain[row] += 2 << tile;
            last = tile == last ? 0 : tile;
        }
    }
}

static float *new_table(void) {
    size_t bytes = TUPLES * ENTRIES * (size_t)width * sizeof(float);
    float *made = aligned_alloc(1 << 21, bytes);
    if (!made) exit(1);
    madvise(made, bytes, MADV_HUGEPAGE);
    return memset(made, 0, bytes);
}

/* --- The network --- */

static inline uint64_t mirrored(uint64_t b) {
    return (b & UINT64_C(0x000F000F000F000F)) << 12 | (b & UINT64_C(0x00F000F000F000F0)) << 4 |
           (b >> 4 & UINT64_C(0x00F000F000F000F0)) | (b >> 12 & UINT64_C(0x000F000F000F000F));
}

static inline uint64_t upside_down(uint64_t b) {
    return b << 48 | (b << 16 & UINT64_C(0x0000FFFF00000000)) | (b >> 16 & UINT64_C(0x00000000FFFF0000)) | b >> 48;
}

static inline Lookups look_up(uint64_t board) {
    uint64_t turned = turn(board, 1), mirror = mirrored(board), both = mirrored(turned);
    uint64_t image[IMAGES] = {board,  upside_down(turned), upside_down(mirror), both,
                              turned, upside_down(board),  upside_down(both),   mirror};
    Lookups found;
    for (int i = 0; i < IMAGES; i++) {
        uint64_t b = image[i];
        found.place[0][i] = b & 0xFFFFFF;                              /* cells 0 1 2 3 4 5 */
        found.place[1][i] = (b >> 16 & 0xFFFFFF) + ENTRIES;            /* cells 4 5 6 7 8 9 */
        found.place[2][i] = ((b & 0xFFF) | (b >> 4 & 0xFFF000)) + 2 * ENTRIES;        /* cells 0 1 2 4 5 6 */
        found.place[3][i] = ((b >> 16 & 0xFFF) | (b >> 20 & 0xFFF000)) + 3 * ENTRIES; /* cells 4 5 6 8 9 10 */
    }
    for (int t = 0; t < TUPLES; t++)
        for (int i = 0; i < IMAGES; i++) {
            found.place[t][i] *= (uint64_t)width;
            __builtin_prefetch(table + found.place[t][i]);
        }
    return found;
}

static inline float value(const Lookups *found) {
    double part[IMAGES] = {0}, total = 0;
    for (int t = 0; t < TUPLES; t++)
        for (int i = 0; i < IMAGES; i++) part[i] += (double)table[found->place[t][i]];
    for (int i = 0; i < IMAGES; i++) total += part[i];
    return (float)total;
}

static inline void change_entries(const Lookups *found, float change) {
    float size = fabsf(change);
    for (int t = 0; t < TUPLES; t++)
        for (int i = 0; i < IMAGES; i++) {
            float *entry = table + found->place[t][i];
            if (width == 1) {
                entry[0] += change;
                continue;
            }
            entry[0] += change * ((fabsf(entry[1]) + TINY) / (entry[2] + TINY));
            entry[1] += change;
            entry[2] += size;
        }
}

/* What the actions make of a board, in `after`; returns a bit for each legal one, whose entries are being fetched. */
static inline int move_all(uint64_t board, After *after) {
    int legal = 0;
    for (int action = 0; action < 4; action++) {
        uint64_t across = (uint64_t)action >> 1, rows = turn(board, across), moved = slide(rows, (uint64_t)action & 1);
        if (moved == rows) continue;
        legal |= 1 << action;
        after[action].gain = row_gain[rows & 65535] + row_gain[rows >> 16 & 65535] + row_gain[rows >> 32 & 65535] +
                             row_gain[rows >> 48];
        after[action].board = turn(moved, across);
        after[action].found = look_up(after[action].board);
    }
    return legal;
}

/* --- Games --- */

static uint64_t learn_game(uint64_t seed, float rate) {
    Rng rng = seeded(seed);
    uint64_t fours = 0, moves = 0, board = random_tile(random_tile(0, &rng, &fours), &rng, &fours);
    After after[4];
    Lookups before;
    for (;; moves++) {
        int legal = move_all(board, after), best = -1;
        float best_value = 0;
        for (int action = 0; action < 4; action++) {
            if (!(legal >> action & 1)) continue;
            float other = value(&after[action].found) + (float)after[action].gain;
            if (best < 0 || other > best_value) best = action, best_value = other;
        }
        if (moves > 0) change_entries(&before, rate * (best_value - value(&before)));
        if (best < 0) return moves;
        before = after[best].found;
        board = random_tile(after[best].board, &rng, &fours);
    }
}

static uint64_t play_game(Rng *rng, uint64_t *score) {
    uint64_t fours = 0, moves = 0, board = random_tile(random_tile(0, rng, &fours), rng, &fours);
    const double share = 1 / MAX_SCORE;
    int64_t points = 0;
    After after[4];
    for (;; moves++) {
        int legal = move_all(board, after), best = -1;
        double best_value = 0;
        for (int action = 0; action < 4; action++) {
            if (!(legal >> action & 1)) continue;
            double other = (double)(points + after[action].gain) * share + share * (double)value(&after[action].found);
            if (best < 0 || other > best_value) best = action, best_value = other;
        }
        if (best < 0) break;
        points += after[best].gain;
        board = random_tile(after[best].board, rng, &fours);
    }
    *score += (uint64_t)points;
    return moves;
}

static uint64_t digest(void) {
    uint64_t sum = 0, count = TUPLES * ENTRIES * (uint64_t)width;
    for (uint64_t i = 0; i < count; i++) {
        uint32_t bits;
        memcpy(&bits, table + i, sizeof bits);
        sum += bits * (2 * i + 1); /* modulo 2**64 */
    }
    return sum;
}

int main(int argc, char **argv) {
    if (argc != 6 && argc != 8) {
        fprintf(stderr, "reference_learning2048 td|tc KEY WARM GAMES ALPHA [STREAMS MATCHES]\n");
        return 2;
    }
    width = strcmp(argv[1], "tc") == 0 ? 4 : 1;
    uint64_t key = number(argv[2]), warm = number(argv[3]), games = number(argv[4]), moves = 0, score = 0;
    uint64_t matches = argc == 8 ? number(argv[7]) : 0;
    float rate = (float)atof(argv[5]) / LOOKUPS;
    build_tables();
    build_gains();
    table = new_table();
    Rng *streams = malloc((2 * matches + 1) * sizeof(Rng));
    if (!streams) return 1;
    Time start = now();
    for (uint64_t i = 0; i < warm + games; i++) {
        if (i == warm) start = now(), moves = 0;
        moves += learn_game(key + i * 4 * UINT64_C(0x9E3779B97F4A7C15), rate);
    }
    if (matches > 0) {
        read_file(argv[6], streams, sizeof(Rng), 2 * matches);
        start = now();
        moves = 0;
        for (uint64_t i = 0; i < matches; i++) moves += play_game(&streams[2 * i], &score);
    }
    print_time(start);
    printf(", \"moves\": %" PRIu64 ", \"score\": %" PRIu64 ", \"digest\": \"%" PRIu64 "\"}\n", moves, score, digest());
    free(streams);
    free(table);
    return 0;
}
