package search.mcts;

import game.Game;
import other.AI;
import other.context.Context;
import other.move.Move;

public final class MCTS extends AI {
    private int iterations = 0;

    public int getNumMctsIterations() { return iterations; }

    @Override
    public Move selectAction(final Game game, final Context context, final double seconds, final int most, final int depth) {
        iterations = Math.max(0, most);
        return game.moves(context).moves().get(0);
    }
}
