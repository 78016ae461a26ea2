package other.topology;

public final class Cell {
    private final String label;

    public Cell(final String label) { this.label = label; }
    public String label() { return label; }
}
