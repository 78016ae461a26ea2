/* Ratings by the model of Bradley and Terry in plain C: the yardstick of `python -m benchmarks ratings_200`.

       gcc -O3 -march=native -o reference_ratings reference_ratings.c -lm
       reference_ratings AGENTS GAMES FILE ROUNDS

   FILE holds four columns of GAMES items: first and second agent (64-bit words), points of the first (doubles, 0 to 1),
   and clusters (words from 0): games of one cluster are not independent and stand together. Strengths are fitted by
   Newton's method, with a drawn game of each agent against one of mean strength; the covariance is clustered. Prints one
   JSON line: the clocks, the strongest and the weakest rating and the sum of the variances, all in Elo. */

#define _POSIX_C_SOURCE 199309L
#include "common.h"
#include <math.h>
#include <string.h>

static size_t agents, games;
static int64_t *first, *second, *clusters;
static double *points;

static double *room(size_t n) {
    double *items = calloc(n, sizeof(double));
    if (!items) exit(1);
    return items;
}

static double expected_points(double difference) { return 1 / (1 + exp(-difference)); }

static double log_points(double difference) {
    return difference < 0 ? difference - log1p(exp(difference)) : -log1p(exp(-difference));
}

/* Factors a positive definite matrix into L and its transpose; L replaces its lower half. */
static void factor(double *a) {
    for (size_t i = 0; i < agents; i++)
        for (size_t j = 0; j <= i; j++) {
            double sum = a[i * agents + j];
            for (size_t k = 0; k < j; k++) sum -= a[i * agents + k] * a[j * agents + k];
            a[i * agents + j] = i == j ? sqrt(sum) : sum / a[j * agents + j];
        }
}

/* Solves L L' x = x in place. */
static void solve(const double *l, double *x) {
    for (size_t i = 0; i < agents; i++) {
        for (size_t k = 0; k < i; k++) x[i] -= l[i * agents + k] * x[k];
        x[i] /= l[i * agents + i];
    }
    for (size_t i = agents; i-- > 0;) {
        x[i] /= l[i * agents + i];
        for (size_t k = 0; k < i; k++) x[k] -= l[i * agents + k] * x[i];
    }
}

static double log_likelihood(const double *played, const double *won, const double *strength) {
    double sum = 0;
    for (size_t i = 0; i < agents; i++) {
        sum += 0.5 * (log_points(strength[i]) + log_points(-strength[i]));
        for (size_t j = i + 1; j < agents; j++) {
            double n = played[i * agents + j], w = won[i * agents + j], difference = strength[i] - strength[j];
            if (n > 0) sum += w * log_points(difference) + (n - w) * log_points(-difference);
        }
    }
    return sum;
}

/* Adds a pairing's information to a matrix. */
static void add_edge(double *matrix, size_t i, size_t j, double weight) {
    matrix[i * agents + i] += weight, matrix[j * agents + j] += weight;
    matrix[i * agents + j] -= weight, matrix[j * agents + i] -= weight;
}

/* The information [agents, agents] in all games, those with the virtual agent included; slopes [agents] if wanted. */
static void curvature(const double *played, const double *won, const double *strength, double *matrix, double *slope) {
    memset(matrix, 0, agents * agents * sizeof(double));
    for (size_t i = 0; i < agents; i++) {
        double drawn = expected_points(strength[i]);
        matrix[i * agents + i] += drawn * (1 - drawn);
        if (slope) slope[i] += 0.5 - drawn;
        for (size_t j = i + 1; j < agents; j++) {
            double n = played[i * agents + j];
            if (n == 0) continue;
            double e = expected_points(strength[i] - strength[j]), surplus = won[i * agents + j] - n * e;
            add_edge(matrix, i, j, n * e * (1 - e));
            if (slope) slope[i] += surplus, slope[j] -= surplus;
        }
    }
}

static void fit(const double *played, const double *won, double *strength) {
    double *matrix = room(agents * agents), *step = room(agents), *tried = room(agents);
    double reached = log_likelihood(played, won, strength), largest = 1;
    for (int round = 0; round < 100 && largest >= 1e-9; round++) {
        memset(step, 0, agents * sizeof(double));
        curvature(played, won, strength, matrix, step);
        factor(matrix);
        solve(matrix, step);
        for (double share = 1;; share /= 2) {
            for (size_t i = 0; i < agents; i++) tried[i] = strength[i] + share * step[i];
            double likelihood = log_likelihood(played, won, tried);
            if (likelihood < reached - fabs(reached) * 1e-12) continue;
            reached = likelihood, largest = 0;
            for (size_t i = 0; i < agents; i++) largest = fmax(largest, fabs(share * step[i]));
            memcpy(strength, tried, agents * sizeof(double));
            break;
        }
    }
    free(matrix), free(step), free(tried);
}

static size_t pairing_of(size_t game) {
    size_t i = (size_t)first[game], j = (size_t)second[game];
    return i < j ? i * agents + j : j * agents + i;
}

/* The points of the agent with the lower number. */
static double scored(size_t game) { return first[game] < second[game] ? points[game] : 1 - points[game]; }

static size_t end_of_cluster(size_t game) {
    size_t end = game;
    while (end < games && clusters[end] == clusters[game]) end++;
    return end;
}

/* Notes in `least` and `most` the mean points of each pairing by cluster: if they are equal, nothing has varied. */
static void compare_clusters(double *least, double *most) {
    double *sum = room(agents * agents), *count = room(agents * agents);
    for (size_t p = 0; p < agents * agents; p++) least[p] = 2, most[p] = -1;
    for (size_t begin = 0, end; begin < games; begin = end) {
        end = end_of_cluster(begin);
        for (size_t game = begin; game < end; game++) sum[pairing_of(game)] += scored(game), count[pairing_of(game)]++;
        for (size_t game = begin; game < end; game++) {
            size_t p = pairing_of(game);
            if (count[p] == 0) continue;
            least[p] = fmin(least[p], sum[p] / count[p]), most[p] = fmax(most[p], sum[p] / count[p]);
            sum[p] = count[p] = 0;
        }
    }
    free(sum), free(count);
}

static size_t count_clusters(void) {
    size_t number = 0;
    for (size_t begin = 0; begin < games; begin = end_of_cluster(begin)) number++;
    return number;
}

/* The share of the information of a cluster that the fit has taken from it, on average over its agents but one. */
static double leverage(size_t begin, size_t end, const double *strength, const double *inverse, char *seen) {
    double taken = 0;
    size_t members = 0;
    for (size_t game = begin; game < end; game++) {
        size_t i = (size_t)first[game], j = (size_t)second[game];
        double e = expected_points(strength[i] - strength[j]);
        taken += e * (1 - e) * (inverse[i * agents + i] + inverse[j * agents + j] - 2 * inverse[i * agents + j]);
        members += !seen[i], seen[i] = 1;
        members += !seen[j], seen[j] = 1;
    }
    for (size_t game = begin; game < end; game++) seen[first[game]] = seen[second[game]] = 0;
    return taken / (double)(members > 2 ? members - 1 : 1);
}

/* Adds to a matrix the products of the clusters' residuals, enlarged by their leverage; the information in those that
   tell nothing of their own. */
static void add_clusters(double *matrix, const double *strength, const double *least, const double *most,
                         const double *inverse) {
    size_t number = count_clusters();
    double *residual = room(agents);
    size_t *met = malloc(agents * sizeof(size_t));
    char *seen = calloc(agents, 1);
    if (!met || !seen) exit(1);
    for (size_t begin = 0, end; begin < games; begin = end) {
        size_t n = 0;
        end = end_of_cluster(begin);
        double share = leverage(begin, end, strength, inverse, seen);
        int tells = share <= 0.5 && number > 1;
        for (size_t game = begin; game < end; game++) {
            size_t p = pairing_of(game), ends[2] = {p / agents, p % agents};
            if (most[p] <= least[p]) continue;
            double e = expected_points(strength[ends[0]] - strength[ends[1]]), surplus = scored(game) - e;
            if (!tells) {
                add_edge(matrix, ends[0], ends[1], e * (1 - e));
                continue;
            }
            for (int side = 0; side < 2; side++) {
                size_t agent = ends[side];
                if (!seen[agent]) met[n++] = agent, seen[agent] = 1, residual[agent] = 0;
                residual[agent] += side ? -surplus : surplus;
            }
        }
        for (size_t i = 0; i < n; i++) {
            seen[met[i]] = 0;
            for (size_t j = 0; j < n; j++) matrix[met[i] * agents + met[j]] += residual[met[i]] * residual[met[j]] / (1 - share);
        }
    }
    free(residual), free(met), free(seen);
}

/* Subtracts the means of rows and of columns. */
static void centre(double *matrix) {
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < agents; i++) {
            double mean = 0;
            for (size_t j = 0; j < agents; j++) mean += matrix[side ? j * agents + i : i * agents + j] / (double)agents;
            for (size_t j = 0; j < agents; j++) matrix[side ? j * agents + i : i * agents + j] -= mean;
        }
}

/* Replaces a symmetric matrix M by B M B, where B is the inverse of the matrix factored into L. */
static void sandwich(const double *l, double *matrix) {
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < agents; i++) solve(l, matrix + i * agents);
        for (size_t i = 0; i < agents; i++)
            for (size_t j = 0; j < i; j++) {
                double swap = matrix[i * agents + j];
                matrix[i * agents + j] = matrix[j * agents + i], matrix[j * agents + i] = swap;
            }
    }
}

/* Fills strengths [agents] and their covariance [agents, agents], not yet in Elo. */
static void rate(double *strength, double *covariance) {
    size_t pairs = agents * agents;
    double *played = room(pairs), *won = room(pairs), *bread = room(pairs), *least = room(pairs), *most = room(pairs);
    double *inverse = room(pairs);
    for (size_t game = 0; game < games; game++) played[pairing_of(game)]++, won[pairing_of(game)] += scored(game);
    fit(played, won, strength);
    curvature(played, won, strength, bread, NULL);
    factor(bread);
    for (size_t i = 0; i < agents; i++) inverse[i * agents + i] = 1, solve(bread, inverse + i * agents);
    compare_clusters(least, most);
    for (size_t p = 0; p < pairs; p++) /* if nothing varied, the variance is that of the model */
        if (most[p] > least[p]) played[p] = 0;
    curvature(played, won, strength, covariance, NULL);
    add_clusters(covariance, strength, least, most, inverse);
    sandwich(bread, covariance);
    centre(covariance);
    double mean = 0;
    for (size_t i = 0; i < agents; i++) mean += strength[i] / (double)agents;
    for (size_t i = 0; i < agents; i++) strength[i] -= mean;
    free(played), free(won), free(bread), free(least), free(most), free(inverse);
}

int main(int argc, char **argv) {
    if (argc != 5) {
        fprintf(stderr, "usage: reference_ratings AGENTS GAMES FILE ROUNDS\n");
        return 2;
    }
    agents = number(argv[1]), games = number(argv[2]);
    int64_t *columns = malloc(4 * games * sizeof(int64_t));
    if (!columns) return 1;
    read_file(argv[3], columns, sizeof(int64_t), 4 * games);
    first = columns, second = columns + games, points = (double *)(columns + 2 * games), clusters = columns + 3 * games;
    double elo = 400 / log(10), *strength = room(agents), *covariance = room(agents * agents);
    uint64_t rounds = number(argv[4]);
    Time start = now();
    for (uint64_t i = 0; i < rounds; i++) {
        memset(strength, 0, agents * sizeof(double));
        rate(strength, covariance);
    }
    print_time(start);
    double highest = -INFINITY, lowest = INFINITY, variance = 0;
    for (size_t i = 0; i < agents; i++) {
        highest = fmax(highest, elo * strength[i]), lowest = fmin(lowest, elo * strength[i]);
        variance += elo * elo * covariance[i * agents + i];
    }
    printf(", \"fits\": %" PRIu64 ", \"highest\": %.12g, \"lowest\": %.12g, \"variance\": %.12g}\n", rounds, highest,
           lowest, variance);
    return 0;
}
