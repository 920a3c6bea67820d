package steptime;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;

/** job.json. The case goes into the record as it came, so it is kept whole. */
final class Job {
    final Path folder;
    final Map<String, Object> content;
    final Map<String, Object> data;

    private Job(Path folder, Map<String, Object> content) {
        this.folder = folder;
        this.content = content;
        this.data = Json.object(content.get("case"));
    }

    static Job read(Path folder) throws IOException {
        return new Job(folder, Json.object(Json.parse(Files.readString(folder.resolve("job.json")))));
    }

    String id() {
        return (String) content.get("id");
    }

    String kind() {
        return (String) content.getOrDefault("kind", "measure");
    }

    String sweep() {
        return (String) content.getOrDefault("sweep", "");
    }

    /** The machine's measured limit in FLOP/s; null if unknown. */
    Double peakFlops() {
        Object peak = content.get("peak_flops");
        return peak == null ? null : ((Number) peak).doubleValue();
    }

    String text(String key) {
        return (String) data.get(key);
    }

    int integer(String key) {
        return ((Number) data.get(key)).intValue();
    }

    double number(String key) {
        return ((Number) data.get(key)).doubleValue();
    }

    boolean training() {
        return text("phase").equals("training");
    }

    int effectiveBatch() {
        return integer("batch") * integer("devices") * integer("nodes");
    }

    Map<String, Object> budget() {
        return Json.object(data.get("budget"));
    }

    double budget(String key) {
        return ((Number) budget().get(key)).doubleValue();
    }
}
