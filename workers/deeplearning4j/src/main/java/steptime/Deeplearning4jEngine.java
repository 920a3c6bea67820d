package steptime;

import java.util.List;
import java.util.Map;
import org.deeplearning4j.nn.conf.NeuralNetConfiguration;
import org.deeplearning4j.nn.conf.inputs.InputType;
import org.deeplearning4j.nn.conf.layers.ActivationLayer;
import org.deeplearning4j.nn.conf.layers.ConvolutionLayer;
import org.deeplearning4j.nn.conf.layers.DenseLayer;
import org.deeplearning4j.nn.conf.layers.DropoutLayer;
import org.deeplearning4j.nn.conf.layers.OutputLayer;
import org.deeplearning4j.nn.conf.layers.PoolingType;
import org.deeplearning4j.nn.conf.layers.SubsamplingLayer;
import org.deeplearning4j.nn.multilayer.MultiLayerNetwork;
import org.deeplearning4j.nn.weights.WeightInit;
import org.nd4j.linalg.activations.Activation;
import org.nd4j.linalg.api.buffer.DataType;
import org.nd4j.linalg.api.ndarray.INDArray;
import org.nd4j.linalg.factory.Nd4j;
import org.nd4j.linalg.learning.config.Adam;
import org.nd4j.linalg.learning.config.IUpdater;
import org.nd4j.linalg.learning.config.Sgd;
import org.nd4j.linalg.lossfunctions.LossFunctions;

/**
 * Deeplearning4j: chains of convolutions, pools and dense layers (mlp, lenet, mnist_cnn, ...) as a MultiLayerNetwork.
 * What is not a chain, or has another operator, is refused by name.
 */
final class Deeplearning4jEngine implements Engine {
    private static final Map<String, Activation> ACTIVATIONS =
            Map.of(
                    "relu", Activation.RELU,
                    "relu6", Activation.RELU6,
                    "tanh", Activation.TANH,
                    "sigmoid", Activation.SIGMOID,
                    "silu", Activation.SWISH);

    private MultiLayerNetwork network;
    private INDArray features;
    private INDArray labels;
    private boolean training;

    @Override
    public void start(Job job) throws Refusal {
        if (!job.text("device").equals("cpu") || job.integer("devices") * job.integer("nodes") != 1) {
            throw new Refusal("this worker runs Deeplearning4j on one CPU device");
        }
        Nd4j.getEnvironment().setMaxThreads(job.integer("threads"));
        Nd4j.getRandom().setSeed(job.integer("seed"));
    }

    @Override
    public void build(Job job, Graph graph) throws Refusal {
        training = job.training();
        DataType type = type(job.text("precision"));
        NeuralNetConfiguration.ListBuilder layers =
                new NeuralNetConfiguration.Builder()
                        .seed(job.integer("seed"))
                        .dataType(type)
                        .updater(updater(job))
                        .weightInit(WeightInit.RELU)
                        .list();
        List<Graph.Node> nodes = graph.nodes;
        for (int i = 1; i < nodes.size(); i++) {
            chained(nodes.get(i - 1), nodes.get(i));
            add(layers, graph, nodes.get(i), i == nodes.size() - 1);
        }
        int[] input = nodes.get(0).shape();
        layers.setInputType(input.length == 3 ? InputType.convolutional(input[0], input[1], input[2]) : InputType.feedForward(input[0]));
        network = new MultiLayerNetwork(layers.build());
        network.init();
        batch(job.integer("batch"), input, nodes.get(nodes.size() - 1).shape()[0], type);
    }

    private void batch(int count, int[] input, int classes, DataType type) {
        long[] shape = input.length == 3 ? new long[] {count, input[2], input[0], input[1]} : new long[] {count, input[0]};
        features = Nd4j.rand(type, shape).subi(0.5).muli(Math.sqrt(12)); // mean 0, variance 1
        labels = Nd4j.zeros(type, count, classes);
        for (int i = 0; i < count; i++) {
            labels.putScalar(i, i % classes, 1.0);
        }
    }

    private static DataType type(String precision) throws Refusal {
        return switch (precision) {
            case "fp32" -> DataType.FLOAT;
            case "fp64" -> DataType.DOUBLE;
            default -> throw new Refusal("this worker runs Deeplearning4j in fp32 and fp64, not in " + precision);
        };
    }

    private static IUpdater updater(Job job) throws Refusal {
        double rate = job.number("learning_rate");
        return switch (job.text("optimizer")) {
            case "sgd" -> new Sgd(rate);
            case "adam" -> new Adam(rate);
            case "momentum" -> throw new Refusal("deeplearning4j has no plain momentum, only Nesterov's");
            default -> throw new Refusal("deeplearning4j has no optimizer " + job.text("optimizer"));
        };
    }

    private static void chained(Graph.Node before, Graph.Node node) throws Refusal {
        if (!node.inputs().equals(List.of(before.name()))) {
            throw new Refusal("this worker builds chains of layers; '" + node.name() + "' (" + node.operator() + ") does not follow one");
        }
    }

    private static void add(NeuralNetConfiguration.ListBuilder layers, Graph graph, Graph.Node node, boolean last) throws Refusal {
        Map<String, Object> attributes = node.attributes();
        if (last) {
            layers.layer(output(graph, node));
            return;
        }
        switch (node.operator()) {
            case "Conv2d" -> layers.layer(convolution(node));
            case "MaxPool" -> layers.layer(pool(node));
            case "Flatten" -> { } // Deeplearning4j flattens between images and dense layers by itself
            case "Dense" -> layers.layer(
                    new DenseLayer.Builder().nOut(node.shape()[0]).hasBias((Boolean) attributes.get("bias")).activation(Activation.IDENTITY).build());
            case "Activation" -> layers.layer(new ActivationLayer(activation((String) attributes.get("kind"))));
            case "Dropout" -> layers.layer(new DropoutLayer(1 - ((Number) attributes.get("rate")).doubleValue())); // the share that is kept
            default -> throw new Refusal("deeplearning4j has no operator " + node.operator() + " in this worker");
        }
    }

    private static ConvolutionLayer convolution(Graph.Node node) throws Refusal {
        if (((Number) node.attributes().get("groups")).intValue() != 1) {
            throw new Refusal("deeplearning4j has no operator Conv2d with groups in this worker");
        }
        return new ConvolutionLayer.Builder(node.window("kernel"))
                .stride(node.window("strides"))
                .dilation(node.window("dilation"))
                .padding(even(node))
                .nOut(node.shape()[2])
                .hasBias((Boolean) node.attributes().get("bias"))
                .activation(Activation.IDENTITY)
                .build();
    }

    private static SubsamplingLayer pool(Graph.Node node) throws Refusal {
        if ((Boolean) node.attributes().get("ceil")) {
            throw new Refusal("deeplearning4j has no operator MaxPool that rounds up");
        }
        return new SubsamplingLayer.Builder(PoolingType.MAX, node.window("kernel"), node.window("strides")).padding(even(node)).build();
    }

    private static int[] even(Graph.Node node) throws Refusal {
        int[][] padding = node.padding();
        if (padding[0][0] != padding[0][1] || padding[1][0] != padding[1][1]) {
            throw new Refusal("deeplearning4j has no operator " + node.operator() + " with uneven padding");
        }
        return new int[] {padding[0][0], padding[1][0]};
    }

    private static Activation activation(String kind) throws Refusal {
        if (!ACTIVATIONS.containsKey(kind)) {
            throw new Refusal("deeplearning4j has no operator Activation " + kind + " in this worker");
        }
        return ACTIVATIONS.get(kind);
    }

    private static OutputLayer output(Graph graph, Graph.Node node) throws Refusal {
        if (!node.operator().equals("Dense") || !graph.loss().equals("cross_entropy")) {
            throw new Refusal("this worker ends Deeplearning4j's networks in a Dense layer and cross entropy, not in " + node.operator());
        }
        return new OutputLayer.Builder(LossFunctions.LossFunction.MCXENT)
                .nOut(node.shape()[0])
                .hasBias((Boolean) node.attributes().get("bias"))
                .activation(Activation.SOFTMAX)
                .build();
    }

    @Override
    public void step() {
        if (training) {
            network.fit(features, labels);
        } else {
            network.output(features, false);
        }
    }

    @Override
    public Double loss() {
        return training ? network.score() : null;
    }

    @Override
    public String framework() {
        return "deeplearning4j";
    }

    @Override
    public String version() {
        String version = MultiLayerNetwork.class.getPackage().getImplementationVersion();
        return version == null ? "" : version;
    }

    @Override
    public Integer threads() {
        return Nd4j.getEnvironment().maxThreads();
    }

    @Override
    public Map<String, Object> settings() {
        return Map.of("layout", "NCHW", "nd4j", Nd4j.getBackend().getClass().getSimpleName());
    }
}
