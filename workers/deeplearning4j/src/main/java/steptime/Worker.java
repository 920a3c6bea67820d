package steptime;

import java.io.IOException;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A folder with job.json in, record.json out: docs/worker-protocol.md. Needs nothing but the JDK; frameworks are engines. */
final class Worker {
    private static final Map<String, String> ENGINES =
            Map.of("null", "steptime.NullEngine", "deeplearning4j", "steptime.Deeplearning4jEngine");
    private static final Map<String, Integer> BYTES = Map.of("fp64", 8, "bf16", 2, "fp16", 2, "int8", 1);
    private static final int LONGEST_MESSAGE = 500;

    private final Job job;
    private final Events events;
    private final Instant born = ProcessHandle.current().info().startInstant().orElse(Instant.now());

    private Worker(Job job, Events events) {
        this.job = job;
        this.events = events;
    }

    public static void main(String[] arguments) throws IOException {
        boolean chosen = arguments.length == 3 && arguments[0].equals("--engine") && ENGINES.containsKey(arguments[1]);
        if (!chosen && arguments.length != 1) {
            System.err.println("usage: java steptime.Worker [--engine null|deeplearning4j] JOB_DIR");
            System.exit(2);
        }
        Job job = Job.read(Path.of(arguments[arguments.length - 1]));
        if (!job.kind().equals("measure")) {
            System.err.println("this worker measures; it has no " + job.kind());
            System.exit(2);
        }
        Events events = Events.open();
        Map<String, Object> record = new Worker(job, events).record(ENGINES.get(chosen ? arguments[1] : "deeplearning4j"));
        try {
            put(job.folder, Json.write(record));
        } catch (IOException problem) {
            events.send("problem", Map.of("message", "cannot write record.json: " + problem.getMessage()));
            Runtime.getRuntime().halt(1);
        }
        events.send("end", Map.of());
        Runtime.getRuntime().halt(0); // a framework's threads must not turn a finished record into a crash
    }

    /** Whatever is thrown is this case's result. */
    private Map<String, Object> record(String engineClass) {
        try {
            return measured((Engine) Class.forName(engineClass).getDeclaredConstructor().newInstance());
        } catch (Refusal refusal) {
            return failure("unsupported", refusal.getMessage());
        } catch (OutOfMemoryError problem) {
            return failure("out_of_memory", String.valueOf(problem.getMessage()));
        } catch (ClassNotFoundException | NoClassDefFoundError problem) {
            return failure("launch_failed", "not on the class path: " + problem.getMessage());
        } catch (Throwable problem) {
            problem.printStackTrace();
            return failure("crash", problem.toString());
        }
    }

    private Map<String, Object> measured(Engine engine) throws Exception {
        double began = seconds();
        events.phase("import");
        engine.start(job);
        double imported = seconds();
        events.phase("build");
        Graph graph = Graph.read(job);
        engine.build(job, graph);
        double built = seconds();
        double startup = Math.max(ChronoUnit.NANOS.between(born, Instant.now()) * 1e-9, 0);
        events.phase("measure");
        double cpu = Machine.cpuSeconds();
        long switches = Machine.involuntarySwitches();
        Loop loop = new Loop();
        loop.run(engine, job, events);
        double wall = seconds() - built;
        cpu = Machine.cpuSeconds() - cpu;
        double[] steady = loop.steady();
        Map<String, Object> summary = Stats.summary(steady, job.effectiveBatch());

        Map<String, Object> record = ended("ok", "");
        record.put("steps", steps(loop));
        record.put("summary", summary);
        record.put("cost", cost(graph, (Double) summary.get("mean_seconds")));
        record.put("contention", contention(wall, cpu, loop.seconds.length, Machine.involuntarySwitches() - switches));
        Map<String, Object> resources = new LinkedHashMap<>();
        resources.put("peak_bytes", Machine.statusBytes("VmHWM"));
        resources.put("device_peak_bytes", null);
        resources.put("startup_seconds", startup);
        resources.put("import_seconds", imported - began);
        resources.put("build_seconds", built - imported);
        resources.put("first_step_seconds", loop.seconds[0]);
        resources.put("compile_seconds", null);
        record.put("resources", resources);
        record.put("software", software(engine));
        record.put("last_loss", engine.loss());
        if (engine.loss() != null && !Double.isFinite(engine.loss())) {
            record.put("last_loss", null);
            record.put("status", "wrong_result");
            record.put("message", "the loss is " + engine.loss() + " after step " + loop.seconds.length);
        }
        return record;
    }

    private static Map<String, Object> steps(Loop loop) {
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("seconds", Arrays.stream(loop.seconds).boxed().toList());
        found.put("steady_start", Stats.steadyStart(loop.seconds));
        found.put("steady_rule", Stats.STEADY_RULE);
        found.put("stopped_by", loop.stoppedBy);
        return found;
    }

    private Map<String, Object> cost(Graph graph, double stepSeconds) {
        long bytes = BYTES.getOrDefault(job.text("precision"), 4);
        double flops = graph.flopsPerSample(job.text("phase")) * job.effectiveBatch();
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("parameters", graph.number("parameters"));
        found.put("parameter_bytes", graph.number("parameters") * bytes);
        found.put("activation_bytes", graph.number("activation_elements") * job.integer("batch") * bytes);
        found.put("flops_per_step", flops);
        found.put("achieved_flops", flops / stepSeconds);
        found.put("peak_flops", job.peakFlops());
        found.put("limit_share", job.peakFlops() == null ? null : flops / stepSeconds / job.peakFlops());
        return found;
    }

    private static Map<String, Object> contention(double wall, double cpu, int steps, long switches) {
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("verdict", "unknown");
        found.put("reason", "this worker does not read the kernel's counters of other processes");
        found.put("wall_seconds", wall);
        found.put("cpu_seconds", cpu);
        found.put("cpu_seconds_per_step", cpu / steps);
        found.put("involuntary_switches", switches);
        return found;
    }

    private Map<String, Object> software(Engine engine) {
        Map<String, Object> found = new LinkedHashMap<>();
        found.put("python", "");
        found.put("interpreter", "Java " + Runtime.version());
        found.put("framework", engine.framework());
        found.put("framework_version", engine.version());
        found.put("steptime", "0.1.0");
        found.put("environment", job.content.getOrDefault("environment", Map.of()));
        found.put("threads", engine.threads());
        found.put("precision", job.text("precision"));
        found.put("settings", engine.settings());
        return found;
    }

    private Map<String, Object> failure(String status, String message) {
        String line = message.lines().findFirst().orElse(status);
        Map<String, Object> record = ended(status, line.substring(0, Math.min(line.length(), LONGEST_MESSAGE)));
        record.put("failure", Map.of());
        return record;
    }

    private Map<String, Object> ended(String status, String message) {
        Map<String, Object> record = new LinkedHashMap<>();
        record.put("id", job.id());
        record.put("status", status);
        record.put("case", job.data);
        record.put("started", born.truncatedTo(ChronoUnit.MILLIS).toString());
        record.put("message", message);
        record.put("sweep", job.sweep());
        record.put("machine", Machine.describe());
        record.put("schema", 1);
        return record;
    }

    /** Under another name, synced, renamed, and the folder synced: it is whole or not there. */
    private static void put(Path folder, String text) throws IOException {
        Path temporary = folder.resolve(".record.json." + ProcessHandle.current().pid());
        Files.writeString(temporary, text);
        for (Path path : List.of(temporary, folder)) {
            try (FileChannel channel = FileChannel.open(path, StandardOpenOption.READ)) {
                channel.force(true);
            }
            if (path.equals(temporary)) {
                Files.move(temporary, folder.resolve("record.json"), StandardCopyOption.ATOMIC_MOVE);
            }
        }
    }

    private static double seconds() {
        return System.nanoTime() * 1e-9;
    }
}
