"""A graph as an ONNX model, for every backend that runs one."""
