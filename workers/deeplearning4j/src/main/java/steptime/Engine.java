package steptime;

import java.util.Map;

/** What a framework does for the worker. Everything else (job, events, timing, figures, record) is the worker's. */
interface Engine {
    /** Loads the framework. Called once, before {@link #build}. */
    void start(Job job) throws Exception;

    /** Builds the model with its batch; a {@link Refusal} where the framework cannot. */
    void build(Job job, Graph graph) throws Exception;

    /** Processes one batch; returns when that has really ended. */
    void step() throws Exception;

    /** Of the last step; null where there is none. */
    Double loss();

    String framework();

    String version();

    /** Threads in force, as the framework says; null where it does not. */
    Integer threads();

    Map<String, Object> settings();
}
