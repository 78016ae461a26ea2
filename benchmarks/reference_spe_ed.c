/* Searches of spe_ed in plain C: the yardstick of `make bench` for those of platform/agents/spe_ed.

       gcc -O3 -march=native -o reference_spe_ed reference_spe_ed.c
       reference_spe_ed rollouts FIELD CELLS STRIDE WALKERS COUNT STREAM    random paths of the first player alone
       reference_spe_ed minimax FIELD CELLS STRIDE WALKERS DEPTH ROUNDS     alpha-beta of two players

   FIELD holds a byte a cell, 0 = free, in rows of STRIDE with a wall as wide as the longest move behind them; WALKERS two
   times five 64-bit words: cell, heading (up, right, down, left), speed, and two that are not read. Both searches are
   those of the agents: see rollout_search.py and minimax_search.py. Prints one JSON line. One core, no intrinsics. */

#define _POSIX_C_SOURCE 199309L
#include "common.h"
#include <string.h>

#define MOVES 5
#define MAX_SPEED 10
#define MAX_PATH 512
#define JUMP_EVERY 6
#define JUMP_SPEED 3
#define KEPT 1000 /* paths */
#define FILTER 0.69

typedef struct {
    int64_t cell, heading, speed, alive, seat;
} Walker;

static uint8_t *field;
static int64_t stride;
static const int turned_by[MOVES] = {3, 1, 0, 0, 0}, faster_by[MOVES] = {0, 0, -1, 1, 0};

static inline int64_t offset_of(int64_t heading) { return heading % 2 == 0 ? (heading - 1) * stride : 2 - heading; }

static inline int is_free(int64_t cell, int64_t offset, int64_t speed, int jump) {
    if (speed < 1 || speed > MAX_SPEED || field[cell + offset] || field[cell + speed * offset]) return 0;
    for (int64_t i = 2; i < speed && !jump; i++)
        if (field[cell + i * offset]) return 0;
    return 1;
}

static inline void paint(int64_t cell, int64_t offset, int64_t speed, int jump, uint8_t value) {
    field[cell + offset] = field[cell + speed * offset] = value;
    for (int64_t i = 2; i < speed && !jump; i++) field[cell + i * offset] = value;
}

/* --- Rollouts --- */

static int8_t orders[120][MOVES]; /* all permutations of the actions, in lexicographic order */
static int64_t counts[MAX_PATH + 1][MOVES], kept_length[KEPT];
static int8_t kept[KEPT][MAX_PATH];

static void list_orders(void) {
    int n = 0;
    for (int code = 0; code < MOVES * MOVES * MOVES * MOVES * MOVES; code++) {
        int digits[MOVES], seen = 0;
        for (int i = MOVES - 1, rest = code; i >= 0; i--, rest /= MOVES) digits[i] = rest % MOVES, seen |= 1 << digits[i];
        for (int i = 0; i < MOVES && seen == (1 << MOVES) - 1; i++) orders[n][i] = (int8_t)digits[i];
        n += seen == (1 << MOVES) - 1;
    }
}

static void run_rollouts(Walker walker, int64_t count, Rng rng) {
    Time start = now();
    static int32_t trail[MAX_PATH * MAX_SPEED];
    static int8_t path[MAX_PATH];
    int64_t steps = 0, longest = 0, slot = 0, rollouts = 0;
    for (int64_t i = 0; i < count; i++) {
        int64_t cell = walker.cell, heading = walker.heading, speed = walker.speed, length = 0, painted = 0;
        for (int phase = 1; length < MAX_PATH; phase = (phase + 1) % JUMP_EVERY) {
            const int8_t *order = orders[below(&rng, 120)];
            int chosen = -1, jump = 0;
            int64_t offset = 0, pace = 0;
            for (int k = 0; k < MOVES && chosen < 0; k++) {
                pace = speed + faster_by[order[k]];
                jump = phase == 0 && pace >= JUMP_SPEED;
                offset = offset_of((heading + turned_by[order[k]]) & 3);
                if (is_free(cell, offset, pace, jump)) chosen = order[k];
            }
            if (chosen < 0) break;
            paint(cell, offset, pace, jump, 1);
            for (int64_t k = 1; k <= pace; k++)
                if (!jump || k == 1 || k == pace) trail[painted++] = (int32_t)(cell + k * offset);
            path[length++] = (int8_t)chosen;
            cell += pace * offset;
            heading = (heading + turned_by[chosen]) & 3, speed = pace;
        }
        for (int64_t k = 0; k < painted; k++) field[trail[k]] = 0;
        if (length == 0) break;
        counts[length][path[0]]++;
        rollouts++, steps += length;
        longest = length > longest ? length : longest;
        if ((double)length >= FILTER * (double)longest) {
            if (kept_length[slot] <= length) kept_length[slot] = length, memcpy(kept[slot], path, (size_t)length);
            slot = (slot + 1) % KEPT;
        }
    }
    print_time(start);
    printf(", \"rollouts\": %" PRId64 ", \"moves\": %" PRId64 ", \"longest\": %" PRId64 "}\n", rollouts, steps, longest);
}

/* --- Minimax: the own move marks its cells with the round; an opponent that can enter one takes the player out --- */

static Walker players[2];
static int64_t nodes;

static inline int jumps(int round, int64_t speed) { return round % JUMP_EVERY == 0 && speed >= JUMP_SPEED; }

static int can_hit(int64_t cell, int64_t offset, int64_t speed, int jump, uint8_t mark) {
    int hit = 0;
    if (speed < 1 || speed > MAX_SPEED) return 0;
    for (int64_t k = 1; k <= speed; k++) {
        if (jump && k != 1 && k != speed) continue;
        uint8_t value = field[cell + k * offset];
        if (value == mark)
            hit = 1;
        else if (value)
            return 0;
    }
    return hit;
}

static double freedom(Walker walker, int round) {
    int moves = 0;
    for (int action = 0; action < MOVES; action++) {
        int64_t pace = walker.speed + faster_by[action];
        moves += is_free(walker.cell, offset_of((walker.heading + turned_by[action]) & 3), pace, jumps(round, pace));
    }
    return moves;
}

static double value_of(int who, int level, int depth, double alpha, double beta, int other_alive) {
    if (who == 2) who = 0, level++;
    if (level > depth) return freedom(players[0], level);
    int own = who == 0;
    Walker here = players[who];
    uint8_t mark = (uint8_t)(1 + level);
    if (!own) {
        if (!other_alive) return value_of(2, level, depth, alpha, beta, 0);
        for (int action = 0; action < MOVES; action++) {
            int64_t pace = here.speed + faster_by[action];
            int64_t offset = offset_of((here.heading + turned_by[action]) & 3);
            if (can_hit(here.cell, offset, pace, jumps(level, pace), mark)) return level - depth;
        }
    }
    double best = own ? -1e9 : 1e9;
    int moves = 0;
    for (int action = 0; action < MOVES; action++) {
        int64_t pace = here.speed + faster_by[action], turned = (here.heading + turned_by[action]) & 3;
        int64_t offset = offset_of(turned);
        int jump = jumps(level, pace);
        if (!is_free(here.cell, offset, pace, jump)) continue;
        moves++;
        nodes++;
        paint(here.cell, offset, pace, jump, own ? mark : 1);
        players[who].cell = here.cell + pace * offset, players[who].heading = turned, players[who].speed = pace;
        double value = value_of(who + 1, level, depth, alpha, beta, other_alive);
        players[who] = here;
        paint(here.cell, offset, pace, jump, 0);
        if (own ? value > best : value < best) best = value;
        if (own)
            alpha = value > alpha ? value : alpha;
        else
            beta = value < beta ? value : beta;
        if (alpha >= beta) return best;
    }
    if (moves > 0) return best;
    return own ? level - depth : value_of(2, level, depth, alpha, beta, 0);
}

/* Searches each possible first move by a tree of its own; returns the sum of their values. */
static double search_all(int depth) {
    double sum = 0;
    Walker start = players[0];
    for (int action = 0; action < MOVES; action++) {
        int64_t pace = start.speed + faster_by[action], turned = (start.heading + turned_by[action]) & 3;
        int64_t offset = offset_of(turned);
        int jump = jumps(1, pace);
        if (!is_free(start.cell, offset, pace, jump)) continue;
        nodes++;
        paint(start.cell, offset, pace, jump, 2);
        players[0].cell = start.cell + pace * offset, players[0].heading = turned, players[0].speed = pace;
        sum += value_of(1, 1, depth, 1 - depth, MOVES, 1);
        players[0] = start;
        paint(start.cell, offset, pace, jump, 0);
    }
    return sum;
}

int main(int argc, char **argv) {
    int minimax = argc == 8 && strcmp(argv[1], "minimax") == 0;
    if (!minimax && !(argc > 7 && strcmp(argv[1], "rollouts") == 0)) {
        fprintf(stderr, "usage: reference_spe_ed rollouts FIELD CELLS STRIDE WALKERS COUNT STREAM\n"
                        "       reference_spe_ed minimax FIELD CELLS STRIDE WALKERS DEPTH ROUNDS\n");
        return 2;
    }
    size_t cells = number(argv[3]);
    field = malloc(cells);
    if (!field) return 1;
    read_file(argv[2], field, 1, cells);
    stride = (int64_t)number(argv[4]);
    read_file(argv[5], players, sizeof(Walker), 2);
    list_orders();
    if (minimax) {
        double sum = 0;
        Time start = now();
        for (uint64_t i = 0; i < number(argv[7]); i++) sum += search_all((int)number(argv[6]));
        print_time(start);
        printf(", \"nodes\": %" PRId64 ", \"values\": %.17g}\n", nodes, sum);
    } else {
        Rng rng = stream_of(argc - 7, argv + 7);
        run_rollouts(players[0], (int64_t)number(argv[6]), rng);
    }
    return 0;
}
