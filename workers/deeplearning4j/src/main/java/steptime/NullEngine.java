package steptime;

import java.util.Map;

/** Computes nothing: it proves that the worker keeps to the protocol where there is no framework. */
final class NullEngine implements Engine {
    private static final long NANOSECONDS = 200_000;

    @Override
    public void start(Job job) {}

    @Override
    public void build(Job job, Graph graph) {}

    /** Long enough for any clock. */
    @Override
    public void step() {
        long until = System.nanoTime() + NANOSECONDS;
        while (System.nanoTime() < until) {
            Thread.onSpinWait();
        }
    }

    @Override
    public Double loss() {
        return null;
    }

    @Override
    public String framework() {
        return "null";
    }

    @Override
    public String version() {
        return "0.1.0";
    }

    @Override
    public Integer threads() {
        return 1;
    }

    @Override
    public Map<String, Object> settings() {
        return Map.of();
    }
}
