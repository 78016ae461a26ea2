package game;

import java.util.ArrayList;
import java.util.List;
import other.context.Context;
import other.move.Move;
import other.topology.Cell;

/** Tic-tac-toe with the signatures that the bridge uses. */
public final class Game {
    public static final class Players {
        public int count() { return 2; }
    }

    public static final class Topology {
        public List<Cell> cells() {
            final List<Cell> cells = new ArrayList<>();
            for (int site = 0; site < 9; site++) cells.add(new Cell("" + "ABC".charAt(site % 3) + (site / 3 + 1)));
            return cells;
        }
    }

    public static final class Board {
        public Topology topology() { return new Topology(); }
    }

    public static final class MetaRules {
        public void setUsesSwapRule(final boolean swap) { }
    }

    public static final class Moves {
        private final List<Move> moves = new ArrayList<>();
        public List<Move> moves() { return moves; }
    }

    private static final int[][] LINES = {
        {0, 1, 2}, {3, 4, 5}, {6, 7, 8}, {0, 3, 6}, {1, 4, 7}, {2, 5, 8}, {0, 4, 8}, {2, 4, 6}};

    public String name() { return "Tic-Tac-Toe"; }
    public Players players() { return new Players(); }
    public Board board() { return new Board(); }
    public MetaRules metaRules() { return new MetaRules(); }
    public void start(final Context context) { System.out.println("Ludii prints what it likes."); }

    public Moves moves(final Context context) {
        final Moves found = new Moves();
        for (int site = 0; site < 9; site++) if (context.stones[site] == 0) found.moves().add(new Move(site));
        return found;
    }

    public Move apply(final Context context, final Move move) {
        final int mover = context.state().mover();
        context.stones[move.to()] = mover;
        context.played++;
        for (final int[] line : LINES) {
            if (context.stones[line[0]] == mover && context.stones[line[1]] == mover && context.stones[line[2]] == mover) {
                context.trial().end(mover);
            }
        }
        if (context.played == 9 && !context.trial().over()) context.trial().end(0);
        return move;
    }
}
