/* MCTS-Expectimax (Kutsch 2017, 5 and 7.1) for 2048 in plain C: the yardstick of `make bench` for `mctse`.

       gcc -O3 -march=native -o reference_mctse2048 reference_mctse2048.c -lm
       reference_mctse2048 ITERATIONS DEPTH MAXNODES TREE_DEPTH STREAMS MATCHES PLIES

   Selection by UCTN, at most MAXNODES action nodes, paths of at most TREE_DEPTH actions, a random rollout of up to DEPTH
   moves an iteration, played is the action with the best mean. STREAMS is a file, see matches2048.h. Prints one JSON
   line. One core, no intrinsics, no vectors. */

#define _POSIX_C_SOURCE 199309L
#include "matches2048.h"
#include <math.h>

#define NONE (-1)
#define UNKNOWN (-1)
#define EXPLORATION 1.4142135623730951
#define NORMALISE_AFTER 100 /* iterations */

/* Decision nodes (the board is to be moved) and action nodes (a tile is to be placed) alternate; node 0 is the root. */
typedef struct {
    int parent, first_child, next_sibling;
    int label;   /* the action of an action node, the tile and its cell of a decision node */
    int untried; /* legal actions without a node yet, or UNKNOWN */
    int visits;
    double sum;  /* of the rollouts' values */
} Node;

static Node *nodes;
static int used, action_nodes, maxnodes, tree_depth;
static uint64_t iterations, depth;
static double largest; /* value of a rollout of this search */

static int add_child(int parent, int label) {
    nodes[used] = (Node){parent, NONE, nodes[parent].first_child, label, UNKNOWN, 0, 0.0};
    nodes[parent].first_child = used;
    return used++;
}

static int find_child(int parent, int label) {
    int child = nodes[parent].first_child;
    while (child != NONE && nodes[child].label != label) child = nodes[child].next_sibling;
    return child;
}

static int random_untried(int node, uint64_t board, Rng *rng) {
    int64_t skip = below(rng, nodes[node].untried);
    for (int action = 0; action < 4; action++)
        if (after_action(board, action) != board && find_child(node, action) == NONE && skip-- == 0) return action;
    return NONE; /* never: `untried` counts exactly these */
}

static int select_action(int node, uint64_t done) {
    double scale = done >= NORMALISE_AFTER && largest > 0 ? 1.0 / largest : 1.0;
    double log_parent = log((double)nodes[node].visits), best_score = -INFINITY;
    int best = NONE;
    for (int child = nodes[node].first_child; child != NONE; child = nodes[child].next_sibling) {
        double visits = nodes[child].visits, score = nodes[child].sum / visits * scale + EXPLORATION * sqrt(log_parent / visits);
        if (score > best_score) best_score = score, best = child;
    }
    return best;
}

static int decide_by_tree(uint64_t root_board, uint64_t points, Rng *rng) {
    uint64_t fours_before = potential(root_board) - points; /* 4 times those on the board */
    nodes[0] = (Node){NONE, NONE, NONE, 0, UNKNOWN, 0, 0.0};
    used = 1, action_nodes = 0, largest = 0;
    for (uint64_t done = 0; done < iterations; done++) {
        uint64_t board = root_board, fours = 0;
        int node = 0;
        for (int level = 0, fresh = 0; level < tree_depth && !fresh && !stuck(board); level++) {
            if (nodes[node].untried == UNKNOWN) {
                nodes[node].untried = 0;
                for (int action = 0; action < 4; action++) nodes[node].untried += after_action(board, action) != board;
            }
            fresh = nodes[node].untried > 0;
            if (fresh && action_nodes >= maxnodes) break;
            int chosen;
            if (fresh) {
                chosen = add_child(node, random_untried(node, board, rng));
                nodes[node].untried--;
                action_nodes++;
            } else {
                chosen = select_action(node, done);
            }
            uint64_t after = after_action(board, nodes[chosen].label);
            board = random_tile(after, rng, &fours);
            int bit = __builtin_ctzll(board ^ after); /* says which cell and which tile */
            node = find_child(chosen, bit);
            if (node == NONE) node = add_child(chosen, bit);
        }
        uint64_t score = potential(board) - 4 * fours - fours_before;
        if (!stuck(board)) {
            Totals rollout = playouts(board, 0, 1, depth, rng);
            score = rollout.potential - 4 * (rollout.fours + fours) - fours_before;
        }
        double value = (double)score / MAX_SCORE;
        for (; node != NONE; node = nodes[node].parent) nodes[node].sum += value, nodes[node].visits++;
        largest = value > largest ? value : largest;
    }
    int best = nodes[0].first_child;
    for (int child = best; child != NONE; child = nodes[child].next_sibling)
        if (nodes[child].sum / nodes[child].visits > nodes[best].sum / nodes[best].visits) best = child;
    return nodes[best].label;
}

int main(int argc, char **argv) {
    if (argc != 8) {
        fprintf(stderr, "usage: reference_mctse2048 ITERATIONS DEPTH MAXNODES TREE_DEPTH STREAMS MATCHES PLIES\n");
        return 2;
    }
    build_tables();
    iterations = number(argv[1]), depth = number(argv[2]);
    maxnodes = (int)number(argv[3]), tree_depth = (int)number(argv[4]);
    nodes = malloc((3 * iterations + 1) * sizeof(Node));
    if (!nodes) return 1;
    play_matches(decide_by_tree, argv[5], number(argv[6]), number(argv[7]));
    return 0;
}
