"""Plain jitted JAX with donated state, written by hand, against steptime's JAX. Knows nothing of steptime's graphs.

Runs in JAX's own environment: bare_jax.py mnist_cnn|resnet50 training|inference.
"""

import functools
import sys

import numpy as np
from pairs import against_hand


def conv(x, kernel, stride=1, padding="SAME"):
    import jax

    return jax.lax.conv_general_dilated(x, kernel, (stride, stride), padding, dimension_numbers=("NHWC", "HWIO", "NHWC"))


def max_pool(x, size, stride, padding):
    import jax

    return jax.lax.reduce_window(x, -np.inf, jax.lax.max, (1, size, size, 1), (1, stride, stride, 1), padding)


class MnistCnn:
    """Deep MNIST, as a person would write it in plain JAX."""

    def __init__(self, seed=0):
        rng = np.random.RandomState(seed)
        shapes = ((5, 5, 1, 32), (5, 5, 32, 64), (3136, 1024), (1024, 10))
        kernels = [(rng.standard_normal(s) * np.sqrt(2 / np.prod(s[:-1]))).astype(np.float32) for s in shapes]
        self.params = [(k, np.zeros(k.shape[-1], np.float32)) for k in kernels]
        self.statistics = []

    @staticmethod
    def apply(params, statistics, x, key):
        """Logits and new statistics; with a key in training mode."""
        import jax
        import jax.numpy as jnp

        for kernel, bias in params[:2]:
            x = max_pool(jax.nn.relu(conv(x, kernel) + bias), 2, 2, "VALID")
        x = x.reshape(x.shape[0], -1)
        x = jax.nn.relu(x @ params[2][0] + params[2][1])
        if key is not None:
            x = jnp.where(jax.random.bernoulli(key, 0.5, x.shape), x / 0.5, 0)
        return x @ params[3][0] + params[3][1], statistics


class ResNet50:
    """v1.5: the stride is in the 3x3 convolution."""

    blocks = ((64, 3, 1), (128, 4, 2), (256, 6, 2), (512, 3, 2))

    def __init__(self, seed=0):
        self._rng = np.random.RandomState(seed)
        self.params, self.statistics = [], []
        self._add(7, 3, 64)
        channels = 64
        for width, count, _ in self.blocks:
            for i in range(count):
                self._add(1, channels, width)
                self._add(3, width, width)
                self._add(1, width, 4 * width)
                if i == 0:
                    self._add(1, channels, 4 * width)
                channels = 4 * width
        head = (self._rng.standard_normal((2048, 1000)) * 0.02).astype(np.float32)
        self.params.append((head, np.zeros(1000, np.float32)))

    def _add(self, size, before, after):
        kernel = self._rng.standard_normal((size, size, before, after)) * np.sqrt(2 / (size * size * before))
        self.params.append((kernel.astype(np.float32), np.ones(after, np.float32), np.zeros(after, np.float32)))
        self.statistics.append((np.zeros(after, np.float32), np.ones(after, np.float32)))

    @classmethod
    def apply(cls, params, statistics, x, key):
        import jax
        import jax.numpy as jnp

        layers = iter(zip(params, statistics))
        new = []

        def unit(x, stride=1, padding="SAME"):
            (kernel, gamma, beta), (mean, variance) = next(layers)
            x = conv(x, kernel, stride, padding)
            if key is not None:
                seen = x.mean((0, 1, 2))
                spread = jnp.maximum((x * x).mean((0, 1, 2)) - seen * seen, 0)
                count = x.size // x.shape[-1]
                new.append((0.9 * mean + 0.1 * seen, 0.9 * variance + 0.1 * spread * count / (count - 1)))
                mean, variance = seen, spread
            return (x - mean) * (gamma * jax.lax.rsqrt(variance + 1e-5)) + beta

        x = jax.nn.relu(unit(x, 2, ((3, 3), (3, 3))))
        x = max_pool(x, 3, 2, ((0, 0), (1, 1), (1, 1), (0, 0)))
        for _, count, stride in cls.blocks:
            for i in range(count):
                step = stride if i == 0 else 1
                y = jax.nn.relu(unit(x))
                y = unit(jax.nn.relu(unit(y, step, ((1, 1), (1, 1)))))
                x = jax.nn.relu(y + (unit(x, step) if i == 0 else x))
        kernel, bias = params[-1]
        return x.mean((1, 2)) @ kernel + bias, new or statistics


def by_hand(model, phase, inputs, labels):
    """A function that takes one step and returns when it has ended."""
    import jax
    import jax.numpy as jnp

    net = {"mnist_cnn": MnistCnn, "resnet50": ResNet50}[model]()
    x, y = jnp.asarray(inputs), jnp.asarray(labels)
    state = [jax.device_put(net.params), jax.device_put(net.statistics), jax.random.key(0)]

    def objective(params, statistics, key, x, y):
        logits, statistics = net.apply(params, statistics, x, key)
        picked = jnp.take_along_axis(jax.nn.log_softmax(logits), y[:, None], 1)
        return -picked.mean(), statistics

    @functools.partial(jax.jit, donate_argnums=(0, 1, 2))
    def train(params, statistics, key, x, y):
        key, now = jax.random.split(key)
        (loss, statistics), gradients = jax.value_and_grad(objective, has_aux=True)(params, statistics, now, x, y)
        return jax.tree.map(lambda p, g: p - 0.01 * g, params, gradients), statistics, key, loss

    infer = jax.jit(lambda params, statistics, x: net.apply(params, statistics, x, None)[0])

    def train_step():
        *state[:], loss = train(*state, x, y)
        loss.block_until_ready()

    def infer_step():
        infer(state[0], state[1], x).block_until_ready()

    return train_step if phase == "training" else infer_step


if __name__ == "__main__":
    model, phase = sys.argv[1:]
    against_hand("jax", model, phase, lambda weights, inputs, labels: by_hand(model, phase, inputs, labels))
