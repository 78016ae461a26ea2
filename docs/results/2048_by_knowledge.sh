#!/usr/bin/env bash
# Plays the games of docs/results/2048_by_knowledge.md into a store; repeat the command to resume it.
# Usage: docs/results/2048_by_knowledge.sh [OPTIONS OF turnier tournament], such as --executor threads
set -euo pipefail
published="empty_method=1,empty1=0.7214,corner=0.4807,row_method=0,row0=0.4779,merge=0.8080"
tuned="rows2048(empty=1073.5,merges=48.96,monotonicity=291.1,monotonicity_power=2.355,sum=24.2,sum_power=3.107,corner=162.6)"
agents=(random)
for matrix in left corner snake corners; do
    agents+=("greedy(evaluator=matrix2048(matrix=$matrix,difference=0,transforms=false))")
    agents+=("greedy(evaluator=matrix2048(matrix=$matrix,difference=0,transforms=true))")
done
agents+=("greedy(evaluator=matrix2048)" "expectimax(depth=2,evaluator=matrix2048)")
for depth in 1 2; do
    agents+=("expectimax(depth=$depth,evaluator=heuristics2048($published,use_rollout=false))")
done
for depth in 1 2 3; do
    agents+=("expectimax(depth=$depth,evaluator=rows2048)" "expectimax(depth=$depth,evaluator=$tuned)")
done
for rows in rows2048 "$tuned"; do
    agents+=("expectimax(depth=4,cutoff=0.0001,evaluator=$rows)")
done
turnier tournament 2048 "${agents[@]}" --games 100 --seed 2048 --store sqlite:///2048_by_knowledge.db "$@"
