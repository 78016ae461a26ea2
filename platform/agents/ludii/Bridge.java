import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

import game.Game;
import main.Constants;
import other.AI;
import other.GameLoader;
import other.context.Context;
import other.move.Move;
import other.topology.Cell;
import other.trial.Trial;
import search.mcts.MCTS;
import utils.AIFactory;

/**
 * Lets another program play with Ludii's agents: it reads a command per line and answers with a line.
 *
 * Start it with a Ludii.jar of your own: java -cp Ludii.jar Bridge.java. Fields are separated by tabs. An answer is
 * "ok" with its fields, or "error" with a sentence. A move is the site where it ends, "pass" or "swap".
 * docs/other_libraries.md of Turnier describes the commands.
 */
public final class Bridge {
    private static final String PROTOCOL = "1";

    /** A command that cannot be obeyed, as a sentence. */
    private static final class Refusal extends RuntimeException {
        private static final long serialVersionUID = 1;

        Refusal(final String sentence) {
            super(sentence);
        }
    }

    /** A game in progress, and the agent that plays one of its players. */
    private static final class Match {
        final Game game;
        final Context context;
        final AI agent;

        Match(final Game game, final AI agent, final int player) {
            this.game = game;
            this.agent = agent;
            context = new Context(game, new Trial(game));
            game.start(context);
            agent.initAI(game, player);
        }
    }

    private final Map<String, Game> games = new HashMap<>();
    private Game game; // of the next matches
    private Match match; // the current one

    public static void main(final String[] arguments) throws IOException {
        final PrintStream answers = new PrintStream(System.out, false, StandardCharsets.UTF_8);
        System.setOut(System.err); // what Ludii itself prints is no answer
        final BufferedReader commands = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        final Bridge bridge = new Bridge();
        for (String line = commands.readLine(); line != null && !line.equals("quit"); line = commands.readLine()) {
            String answer;
            try {
                answer = "ok\t" + String.join("\t", bridge.answer(line.split("\t", -1)));
            } catch (final Exception | LinkageError failure) {
                answer = "error\t" + sentenceOf(failure).replaceAll("\\s+", " ");
            }
            answers.print(answer + "\n");
            answers.flush();
        }
    }

    private static String sentenceOf(final Throwable failure) {
        if (failure instanceof Refusal) {
            return failure.getMessage();
        }
        final StackTraceElement[] places = failure.getStackTrace();
        return failure + (places.length > 0 ? " at " + places[0] : "");
    }

    private List<String> answer(final String[] command) {
        switch (command[0]) {
            case "hello":
                return List.of("turnier-ludii", PROTOCOL, Constants.LUDEME_VERSION, System.getProperty("java.version"));
            case "game":
                return load(command[1], command[2].equals("swap"), Arrays.asList(command).subList(3, command.length));
            case "match":
                return begin(Integer.parseInt(command[2]), command[3]);
            case "moves":
                return play(Arrays.asList(command).subList(1, command.length));
            case "think":
                return think(Double.parseDouble(command[1]), Integer.parseInt(command[2]));
            default:
                throw new Refusal("a command must be one of the protocol, got " + command[0]);
        }
    }

    /** Loads a game, once for a process, and returns the number of players and every site's label. */
    private List<String> load(final String file, final boolean swap, final List<String> options) {
        final String key = file + swap + options;
        if (!games.containsKey(key)) {
            final Game loaded = GameLoader.loadGameFromName(file, options);
            loaded.metaRules().setUsesSwapRule(swap); // which is no option of some games
            games.put(key, loaded);
        }
        game = games.get(key);
        final List<String> found = new ArrayList<>();
        found.add(String.valueOf(game.players().count()));
        for (final Cell cell : game.board().topology().cells()) {
            found.add(cell.label());
        }
        return found;
    }

    private List<String> begin(final int player, final String agentName) {
        if (match != null) {
            match.agent.closeAI();
        }
        final AI agent = AIFactory.createAI(agentName);
        if (agent == null) {
            throw new Refusal("Ludii has no agent named " + agentName);
        }
        if (!agent.supportsGame(game)) {
            throw new Refusal("Ludii's agent " + agentName + " cannot play " + game.name());
        }
        match = new Match(game, agent, player);
        return situation();
    }

    private List<String> play(final List<String> moves) {
        for (final String text : moves) {
            Move found = null;
            for (final Move move : match.game.moves(match.context).moves()) {
                if (text.equals(textOf(move))) {
                    found = move;
                    break;
                }
            }
            if (found == null) {
                throw new Refusal("a move must be legal in Ludii, got " + text);
            }
            match.game.apply(match.context, found);
        }
        return situation();
    }

    /** Returns "over" and all ranks, or the player to move and its moves; swapped players keep their numbers. */
    private List<String> situation() {
        final Context context = match.context;
        final int players = match.game.players().count();
        final List<String> found = new ArrayList<>();
        if (context.trial().over()) {
            final String[] ranks = new String[players];
            for (int player = 1; player <= players; player++) {
                ranks[context.state().playerToAgent(player) - 1] = String.valueOf(context.trial().ranking()[player]);
            }
            found.add("over");
            found.addAll(Arrays.asList(ranks));
            return found;
        }
        found.add(String.valueOf(context.state().playerToAgent(context.state().mover())));
        for (final Move move : match.game.moves(context).moves()) {
            found.add(textOf(move));
        }
        return found;
    }

    /** Returns the agent's move, which is not played yet, and its iterations, 0 where it counts none. */
    private List<String> think(final double seconds, final int iterations) {
        final AI agent = match.agent;
        final double mostSeconds = seconds > 0 ? seconds : -1;
        final int mostIterations = iterations > 0 ? iterations : -1;
        final Context copy = agent.copyContext(match.context);
        final Move move = agent.selectAction(match.game, copy, mostSeconds, mostIterations, -1);
        final int done = agent instanceof MCTS ? ((MCTS) agent).getNumMctsIterations() : 0;
        return List.of(textOf(move), String.valueOf(done));
    }

    private static String textOf(final Move move) {
        return move.isPass() ? "pass" : move.isSwap() ? "swap" : String.valueOf(move.to());
    }
}
