"""An exported graph in eight bits, by ONNX Runtime's quantizer; ONNX Runtime and OpenVINO both run the result."""

from __future__ import annotations

from typing import Any, Optional

from steptime.core.backends.base import Array
from steptime.core.backends.onnx_export.export import INPUT


def quantized(model: Any, x: Array) -> Any:
    """Static QDQ: 8-bit weights per channel and 8-bit activations, their ranges taken from the batch itself."""
    import tempfile
    from pathlib import Path

    import onnx
    from onnxruntime import quantization
    from onnxruntime.quantization.shape_inference import quant_pre_process

    class Batch(quantization.CalibrationDataReader):  # type: ignore[misc]
        def __init__(self) -> None:
            self._left = [{INPUT: x}]

        def get_next(self) -> Optional[dict[str, Array]]:
            return self._left.pop() if self._left else None

    with tempfile.TemporaryDirectory(prefix="steptime-int8-") as name:
        plain, ready, done = (Path(name) / f"{part}.onnx" for part in ("plain", "ready", "done"))
        onnx.save(model, plain)
        quant_pre_process(str(plain), str(ready), skip_symbolic_shape=True)  # folds batch normalisation into convolutions
        quantization.quantize_static(
            str(ready),
            str(done),
            Batch(),
            quant_format=quantization.QuantFormat.QDQ,
            per_channel=True,
            activation_type=quantization.QuantType.QUInt8,
            weight_type=quantization.QuantType.QInt8,
        )
        return onnx.load(done)
