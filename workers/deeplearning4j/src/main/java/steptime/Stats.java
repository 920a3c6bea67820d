package steptime;

import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.Map;

/** The figures of a case, as docs/architecture.md defines them. */
final class Stats {
    static final int MINIMUM_WARMUP_STEPS = 3;
    static final String STEADY_RULE = "MSER (first half), at least " + MINIMUM_WARMUP_STEPS + " steps";
    static final String CI_METHOD = "batch means (at least 8 batches)";
    private static final double LEVEL = 0.95;
    private static final int FEWEST_BATCHES = 8;

    private Stats() {}

    /** The cut that makes the standard error of the mean of the rest least; at the most half of the steps. */
    static int steadyStart(double[] seconds) {
        int least = Math.min(MINIMUM_WARMUP_STEPS, Math.max(seconds.length - 1, 0));
        int best = least;
        double lowest = Double.POSITIVE_INFINITY;
        double sum = 0;
        double squares = 0;
        double shift = seconds[seconds.length - 1];
        for (int i = seconds.length - 1; i >= least; i--) {
            double value = seconds[i] - shift;
            sum += value;
            squares += value * value;
            int n = seconds.length - i;
            double score = Math.max(squares - sum * sum / n, 0) / ((double) n * n);
            if (i <= least + (seconds.length - least) / 2 && score <= lowest) {
                lowest = score;
                best = i;
            }
        }
        return best;
    }

    /** Half the width of the interval of the mean: the widest of batches of 1, 2, 4, ... steps. */
    static double halfWidth(double[] values) {
        if (values.length < 2) {
            return Double.POSITIVE_INFINITY;
        }
        double widest = 0;
        for (int width = 1; width == 1 || values.length / width >= FEWEST_BATCHES; width *= 2) {
            int count = values.length / width;
            double[] means = new double[count];
            int begin = values.length - count * width;
            for (int i = 0; i < count; i++) {
                means[i] = mean(Arrays.copyOfRange(values, begin + i * width, begin + (i + 1) * width));
            }
            double error = deviation(means, 1) / Math.sqrt(count);
            widest = Math.max(widest, quantile(count - 1) * error);
        }
        return widest;
    }

    static Map<String, Object> summary(double[] seconds, int effectiveBatch) {
        double[] speeds = Arrays.stream(seconds).map(t -> effectiveBatch / t).toArray();
        double middle = percentile(speeds, 50);
        double[] away = Arrays.stream(speeds).map(s -> Math.abs(s - middle)).toArray();
        double mean = mean(seconds);
        double half = halfWidth(seconds);
        double shortest = Arrays.stream(seconds).min().orElseThrow();
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("n", seconds.length);
        found.put("effective_batch", effectiveBatch);
        found.put("mean_seconds", mean);
        found.put("mean_speed", effectiveBatch / mean);
        found.put("uncertainty", deviation(speeds, 0) / Math.sqrt(seconds.length));
        found.put("jitter", 1.4826 * percentile(away, 50));
        found.put("ci_level", LEVEL);
        found.put("ci_low", effectiveBatch / (mean + half));
        found.put("ci_high", effectiveBatch / (mean - half > 0 ? mean - half : shortest));
        found.put("ci_method", CI_METHOD);
        for (int p : new int[] {50, 90, 95, 99}) {
            found.put("p" + p + "_seconds", percentile(seconds, p));
        }
        found.put("min_seconds", shortest);
        found.put("max_seconds", Arrays.stream(seconds).max().orElseThrow());
        return found;
    }

    static double mean(double[] values) {
        return Arrays.stream(values).sum() / values.length;
    }

    private static double deviation(double[] values, int less) {
        double mean = mean(values);
        double squares = Arrays.stream(values).map(v -> (v - mean) * (v - mean)).sum();
        return Math.sqrt(squares / Math.max(values.length - less, 1));
    }

    /** Linear between the two nearest values. */
    static double percentile(double[] values, double percent) {
        double[] sorted = values.clone();
        Arrays.sort(sorted);
        double place = percent / 100 * (sorted.length - 1);
        int below = (int) place;
        int above = Math.min(below + 1, sorted.length - 1);
        return sorted[below] + (place - below) * (sorted[above] - sorted[below]);
    }

    /** Of Student's t at 97.5%, by its expansion around the normal one (exact to 1% from 3 degrees of freedom on). */
    private static double quantile(int freedom) {
        if (freedom < 3) {
            return freedom == 2 ? 4.303 : 12.706;
        }
        double z = 1.959964;
        double n = freedom;
        double first = (Math.pow(z, 3) + z) / 4;
        double second = (5 * Math.pow(z, 5) + 16 * Math.pow(z, 3) + 3 * z) / 96;
        double third = (3 * Math.pow(z, 7) + 19 * Math.pow(z, 5) + 17 * Math.pow(z, 3) - 15 * z) / 384;
        return z + first / n + second / (n * n) + third / (n * n * n);
    }
}
