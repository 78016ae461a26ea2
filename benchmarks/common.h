/* Shared by the programs of this folder: random numbers as Turnier draws them, and the clocks. */
#ifndef COMMON_H
#define COMMON_H

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

/* --- Random numbers: xoshiro256++ (Blackman and Vigna 2021), seeded by splitmix64 --- */

typedef struct {
    uint64_t s0, s1, s2, s3;
} Rng;

static inline uint64_t rotate(uint64_t x, int k) { return x << k | x >> (64 - k); }

static inline uint64_t next_word(Rng *r) {
    uint64_t word = rotate(r->s0 + r->s3, 23) + r->s0, shifted = r->s1 << 17;
    r->s2 ^= r->s0;
    r->s3 ^= r->s1;
    r->s1 ^= r->s2;
    r->s0 ^= r->s3;
    r->s2 ^= shifted;
    r->s3 = rotate(r->s3, 45);
    return word;
}

/* An integer from 0 to n - 1. */
static inline int64_t below(Rng *rng, int64_t n) { return (int64_t)((next_word(rng) >> 32) * (uint64_t)n >> 32); }

/* A number from [0, 1) with 53 random bits. */
static inline double uniform(Rng *rng) { return (double)(next_word(rng) >> 11) / 9007199254740992.0; }

static inline Rng seeded(uint64_t seed) {
    uint64_t word[4];
    for (int i = 0; i < 4; i++) {
        uint64_t z = seed += UINT64_C(0x9E3779B97F4A7C15);
        z = (z ^ z >> 30) * UINT64_C(0xBF58476D1CE4E5B9);
        z = (z ^ z >> 27) * UINT64_C(0x94D049BB133111EB);
        word[i] = z ^ z >> 31;
    }
    return (Rng){word[0], word[1], word[2], word[3]};
}

/* --- Vectors, for the programs that play many boards side by side --- */

#ifdef __AVX512BW__
#define VECTOR 64 /* bytes: gcc takes wider vectors apart, element by element */
#else
#define VECTOR 32
#endif
#define WIDTH (VECTOR / 8) /* words in a vector */

/* --- Arguments --- */

static inline uint64_t number(const char *text) {
    char *end;
    uint64_t value = strtoull(text, &end, 10);
    if (*text >= '0' && *text <= '9' && *end == 0) return value;
    fprintf(stderr, "a whole number is needed, got %s\n", text);
    exit(2);
}

/* A stream from the last arguments: a seed, or the four words of a stream in Turnier. */
static inline Rng stream_of(int count, char **words) {
    if (count == 1) return seeded(number(words[0]));
    if (count == 4) return (Rng){number(words[0]), number(words[1]), number(words[2]), number(words[3])};
    fprintf(stderr, "a seed or the four words of a stream are needed at the end, got %d words\n", count);
    exit(2);
}

/* A file that holds at least `count` items of a size; exits if it does not. */
static inline void read_file(const char *name, void *items, size_t size, size_t count) {
    FILE *file = fopen(name, "rb");
    if (!file || fread(items, size, count, file) != count) {
        fprintf(stderr, "a file of %zu items of %zu bytes is needed, got %s\n", count, size, name);
        exit(2);
    }
    fclose(file);
}

/* --- Clocks --- */

typedef struct {
    double cpu, wall;
} Time;

static inline double seconds_of(clockid_t id) {
    struct timespec t;
    clock_gettime(id, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static inline Time now(void) { return (Time){seconds_of(CLOCK_PROCESS_CPUTIME_ID), seconds_of(CLOCK_MONOTONIC)}; }

/* Prints the first two members of the JSON object that a program answers with. */
static inline void print_time(Time began) {
    Time ended = now();
    printf("{\"cpu_seconds\": %.9f, \"wall_seconds\": %.9f", ended.cpu - began.cpu, ended.wall - began.wall);
}

#endif
