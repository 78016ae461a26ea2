package main;

public final class Constants {
    public static final String LUDEME_VERSION = "1.3.14";
}
