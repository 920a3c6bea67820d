package steptime;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** graph.json: the model as a list of operators in the order of computation. Shapes are those of one sample. */
final class Graph {
    final Map<String, Object> content;
    final List<Node> nodes = new ArrayList<>();

    record Node(String name, String operator, List<String> inputs, int[] shape, Map<String, Object> content) {
        Map<String, Object> attributes() {
            return Json.object(content.get("attributes"));
        }

        /** Of a convolution or a pool: resolved size, kernel, strides, dilation; padding is a pair of pairs. */
        int[] window(String key) {
            return ints(Json.list(Json.object(content.get("window")).get(key)));
        }

        int[][] padding() {
            List<Object> axes = Json.list(Json.object(content.get("window")).get("padding"));
            return new int[][] {ints(Json.list(axes.get(0))), ints(Json.list(axes.get(1)))};
        }
    }

    private Graph(Map<String, Object> content) {
        this.content = content;
        for (Object entry : Json.list(content.get("nodes"))) {
            Map<String, Object> node = Json.object(entry);
            List<String> inputs = new ArrayList<>();
            Json.list(node.get("inputs")).forEach(name -> inputs.add((String) name));
            nodes.add(new Node((String) node.get("name"), (String) node.get("operator"), inputs, ints(Json.list(node.get("shape"))), node));
        }
    }

    /** A job whose model steptime does not know has no graph. */
    static Graph read(Job job) throws IOException, Refusal {
        Path path = job.folder.resolve("graph.json");
        if (!Files.exists(path)) {
            throw new Refusal("no graph.json came with the model '" + job.text("model") + "': steptime does not know it");
        }
        return new Graph(Json.object(Json.parse(Files.readString(path))));
    }

    long number(String key) {
        return ((Number) content.get(key)).longValue();
    }

    double flopsPerSample(String phase) {
        return ((Number) Json.object(content.get("flops_per_sample")).get(phase)).doubleValue();
    }

    String loss() {
        return (String) content.get("loss");
    }

    static int[] ints(List<Object> values) {
        return values.stream().mapToInt(value -> ((Number) value).intValue()).toArray();
    }
}
