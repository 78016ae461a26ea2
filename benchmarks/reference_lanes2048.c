/* 2048 in C with vector extensions: the games of reference_2048.c, LANES boards side by side (see README.md).

       gcc -O3 -march=native -o reference_lanes2048 reference_lanes2048.c
       reference_lanes2048 random GAMES STREAM...
       reference_lanes2048 mc ITERATIONS DEPTH STREAMS MATCHES PLIES

   The arguments and results are those of reference_2048.c. Matches of Monte-Carlo are played at the same time, one in each
   lane. */

#define _POSIX_C_SOURCE 199309L
#include "lanes2048.h"
#include "matches2048.h"

/* --- Random games: a stream in each lane --- */

static Job *waiting, *last;

static Job *next_stream(Job *done) {
    (void)done;
    return waiting < last ? waiting++ : NULL;
}

static void play_random(uint64_t games, int count, char **words) {
    int width = count < 4 ? count : 4, streams = count / width;
    Job *jobs = calloc((size_t)streams, sizeof(Job));
    if (!jobs || count % width) exit(2);
    for (int i = 0; i < streams; i++) {
        Rng rng = stream_of(width, words + i * width);
        jobs[i] = (Job){.count = games, .depth = UINT64_MAX, .tiles = 2, .rng = rng};
    }
    waiting = jobs, last = jobs + streams;
    Totals sums = {0, 0, 0, 0};
    Time start = now();
    play_jobs(next_stream);
    for (int i = 0; i < streams; i++)
        sums.potential += jobs[i].sums.potential, sums.fours += jobs[i].sums.fours, sums.moves += jobs[i].sums.moves;
    print_time(start);
    printf(", \"games\": %" PRIu64 ", \"moves\": %" PRIu64 ", \"score\": %" PRIu64 "}\n", games * (uint64_t)streams,
           sums.moves, sums.potential - 4 * sums.fours);
    free(jobs);
}

/* --- Monte-Carlo: a match in each lane, whose jobs are the playouts of an action --- */

typedef struct {
    Job job; /* first, so that a pointer to it is one to its match */
    Rng chance;
    uint64_t board, fours, made;
    int action, best; /* being played out; the best so far */
    double best_value;
} Match;

static Match *matches;
static uint64_t iterations, depth, number_of_matches, begun, plies, decisions, score;

static int count_legal(uint64_t board) {
    int legal = 0;
    for (int action = 0; action < 4; action++) legal += after_action(board, action) != board;
    return legal;
}

static void play_action(Match *match, int action) {
    match->board = random_tile(after_action(match->board, action), &match->chance, &match->fours);
    match->made++;
}

/* Sets the match's job to the playouts of its next legal action; plays the best action after the last one. Returns 0 if
   the match is over. */
static int next_action(Match *match) {
    for (;;) {
        while (++match->action < 4) {
            uint64_t after = after_action(match->board, match->action);
            if (after == match->board) continue;
            Rng rng = match->job.rng;
            match->job = (Job){.board = after, .count = iterations, .depth = depth, .tiles = 1, .rng = rng};
            return 1;
        }
        if (match->best >= 0) play_action(match, match->best), decisions++;
        for (; match->made < plies && count_legal(match->board) == 1;) {
            int only = 0;
            while (after_action(match->board, only) == match->board) only++;
            play_action(match, only);
        }
        if (match->made >= plies || !count_legal(match->board)) {
            score += potential(match->board) - 4 * match->fours;
            return 0;
        }
        check_tiles(match->board);
        match->action = match->best = -1, match->best_value = -2.0;
    }
}

static void value_action(Match *match) {
    Totals sums = match->job.sums;
    double gained = (double)(sums.potential - 4 * sums.fours - iterations * 4 * match->fours);
    double value = (gained / MAX_SCORE - (double)sums.ended) / (double)iterations;
    if (value > match->best_value) match->best_value = value, match->best = match->action;
}

static Job *next_of_match(Job *done) {
    Match *match = (Match *)done;
    if (match) {
        value_action(match);
        if (next_action(match)) return &match->job;
    }
    while (begun < number_of_matches) {
        match = &matches[begun++];
        match->board = random_tile(random_tile(0, &match->chance, &match->fours), &match->chance, &match->fours);
        match->action = 3, match->best = -1;
        if (next_action(match)) return &match->job;
    }
    return NULL;
}

static void play_all_matches(const char *file, uint64_t count, uint64_t most_plies) {
    Rng *streams = malloc(2 * count * sizeof(Rng));
    matches = calloc(count, sizeof(Match));
    if (!streams || !matches) exit(1);
    read_file(file, streams, sizeof(Rng), 2 * count);
    for (uint64_t i = 0; i < count; i++) matches[i].chance = streams[2 * i], matches[i].job.rng = streams[2 * i + 1];
    number_of_matches = count, plies = most_plies;
    Time start = now();
    play_jobs(next_of_match);
    print_time(start);
    printf(", \"matches\": %" PRIu64 ", \"decisions\": %" PRIu64 ", \"score\": %" PRIu64 "}\n", count, decisions, score);
}

int main(int argc, char **argv) {
    build_tables();
    if (argc > 3 && strcmp(argv[1], "random") == 0) {
        play_random(number(argv[2]), argc - 3, argv + 3);
        return 0;
    }
    if (argc != 7 || strcmp(argv[1], "mc") != 0) {
        fprintf(stderr, "usage: reference_lanes2048 random GAMES STREAM...\n"
                        "       reference_lanes2048 mc ITERATIONS DEPTH STREAMS MATCHES PLIES\n");
        return 2;
    }
    iterations = number(argv[2]), depth = number(argv[3]);
    play_all_matches(argv[4], number(argv[5]), number(argv[6]));
    return 0;
}
