package other.move;

public final class Move {
    private final int to;

    public Move(final int to) { this.to = to; }
    public int to() { return to; }
    public boolean isPass() { return false; }
    public boolean isSwap() { return false; }
}
