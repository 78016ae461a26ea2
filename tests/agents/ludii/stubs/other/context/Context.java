package other.context;

import game.Game;
import other.trial.Trial;

public final class Context {
    public final class State {
        public int mover() { return 1 + played % 2; }
        public int playerToAgent(final int player) { return player; }
    }

    public final int[] stones = new int[9];
    public int played = 0;
    private final Trial trial;

    public Context(final Game game, final Trial trial) { this.trial = trial; }
    public Trial trial() { return trial; }
    public State state() { return new State(); }
}
