package utils;

import other.AI;
import search.mcts.MCTS;

public final class AIFactory {
    public static AI createAI(final String name) { return name.equals("None") ? null : new MCTS(); }
}
