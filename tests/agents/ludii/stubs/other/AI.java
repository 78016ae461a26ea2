package other;

import game.Game;
import other.context.Context;
import other.move.Move;

public abstract class AI {
    public abstract Move selectAction(Game game, Context context, double maxSeconds, int maxIterations, int maxDepth);
    public final Context copyContext(final Context context) { return context; }
    public void initAI(final Game game, final int player) { }
    public void closeAI() { }
    public boolean supportsGame(final Game game) { return true; }
}
