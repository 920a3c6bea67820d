package steptime;

import java.util.Arrays;
import java.util.Map;

/** The timed loop: one step, one reading of the clock. Events and the stopping rule come between blocks of steps. */
final class Loop {
    private static final double BLOCK_SECONDS = 0.25;
    private static final int LONGEST_BLOCK_STEPS = 1000;
    private static final double GROWTH = 1.2;

    double[] seconds = new double[0];
    String stoppedBy = "";
    private int nextLook;
    private boolean metBefore;

    void run(Engine engine, Job job, Events events) throws Exception {
        double spent = 0;
        while (stoppedBy.isEmpty()) {
            double[] block = timed(engine, blockSteps((int) job.budget("max_steps")));
            spent += seconds.length == 0 ? 0 : Arrays.stream(block).sum(); // the first step may compile for longer than all others
            int before = seconds.length;
            seconds = Arrays.copyOf(seconds, before + block.length);
            System.arraycopy(block, 0, seconds, before, block.length);
            report(events, job, spent);
            stoppedBy = reason(job, spent);
        }
    }

    private static double[] timed(Engine engine, int steps) throws Exception {
        long[] marks = new long[steps + 1];
        marks[0] = System.nanoTime();
        for (int i = 1; i <= steps; i++) {
            engine.step();
            marks[i] = System.nanoTime();
        }
        double[] found = new double[steps];
        for (int i = 0; i < steps; i++) {
            found[i] = (marks[i + 1] - marks[i]) * 1e-9;
        }
        return found;
    }

    private int blockSteps(int most) {
        if (seconds.length == 0) {
            return 1;
        }
        double recent = Stats.percentile(Arrays.copyOfRange(seconds, Math.max(0, seconds.length - 5), seconds.length), 50);
        int fitting = (int) Math.min(BLOCK_SECONDS / recent, LONGEST_BLOCK_STEPS);
        return Math.max(1, Math.min(Math.min(fitting, seconds.length), most - seconds.length));
    }

    private String reason(Job job, double spent) {
        if (seconds.length >= job.budget("max_steps")) {
            return "steps";
        }
        if (seconds.length < Stats.MINIMUM_WARMUP_STEPS + 2) {
            return "";
        }
        if (spent >= job.budget("max_seconds")) {
            return "seconds";
        }
        if (seconds.length < Math.max(nextLook, job.budget("min_steps"))) {
            return "";
        }
        nextLook = (int) (seconds.length * GROWTH) + 1;
        double[] steady = steady();
        boolean met = steady.length >= job.budget("min_steps") && Stats.halfWidth(steady) / Stats.mean(steady) <= job.budget("target");
        boolean twice = met && metBefore;
        metBefore = met;
        return twice ? "target" : "";
    }

    double[] steady() {
        return Arrays.copyOfRange(seconds, Stats.steadyStart(seconds), seconds.length);
    }

    private void report(Events events, Job job, double spent) {
        if (seconds.length < 2) {
            return;
        }
        double[] recent = Arrays.copyOfRange(seconds, Math.max(1, seconds.length - 2000), seconds.length);
        Map<String, Object> figures = Stats.summary(recent, job.effectiveBatch());
        double done = Math.max(spent / job.budget("max_seconds"), seconds.length / job.budget("max_steps"));
        events.send(
                "progress",
                Map.of(
                        "step", seconds.length,
                        "done", Math.min(done, 1.0),
                        "mean_speed", figures.get("mean_speed"),
                        "uncertainty", figures.get("uncertainty"),
                        "jitter", figures.get("jitter")));
    }
}
