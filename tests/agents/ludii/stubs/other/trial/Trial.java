package other.trial;

import game.Game;

public final class Trial {
    private final double[] ranking = new double[3];

    public Trial(final Game game) { }
    public boolean over() { return ranking[1] != 0; }
    public double[] ranking() { return ranking; }

    public void end(final int winner) {
        ranking[1] = winner == 0 ? 1.5 : winner == 1 ? 1 : 2;
        ranking[2] = winner == 0 ? 1.5 : winner == 2 ? 1 : 2;
    }
}
