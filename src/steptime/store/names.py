"""Vocabularies: the many spellings of models, processors, precisions and frameworks, each as one.

Spelling only: `resnet50` is whatever its source calls so. What was written stays in the record (`source.raw`).
"""

from __future__ import annotations

import re

MAX = 200
"""characters of a name; what is longer is none, and patterns would take long to say so"""

MODELS = (
    (r"(?:vgg|oxfordnet)[-_ \[]*(?:model)?[-_ \[]*a\]?", "vgg11"),
    (r"(?:vgg|oxfordnet)[-_ ]?(\d+)", r"vgg\1"),
    (r"alexnet[-_ ]?owt(?:bn)?", "alexnet_owt"),
    (r"overfeat(?:[-_ ]?\[?fast\]?)?", "overfeat"),
    (r"(?:googlenet|googlenet[-_ ]?v1|inception[-_ ]?v?1|bvlc_googlenet)", "googlenet"),
    (r"inception[-_ ]?v?3", "inception3"),
    (r"inception[-_ ]?v?4", "inception4"),
    (r"inception[-_ ]?resnet[-_ ]?v?2", "inception_resnet_v2"),
    (r"resnet[-_ ]?(\d+)(?:[-_ ]?v1\.5|[-_ ]?v15)?", r"resnet\1"),
    (r"resnet[-_ ]?(\d+)[-_ ]?v?([12])", r"resnet\1_v\2"),
    (r"resnet", "resnet50"),
    (r"densenet[-_ ]?(\d+)", r"densenet\1"),
    (r"mobilenet(?:[-_ ]?v?1)?", "mobilenet_v1"),
    (r"mobilenet[-_ ]?v?2", "mobilenet_v2"),
    (r"squeezenet(?:[-_ ]?1[._]0)?", "squeezenet"),
    (r"nasnet(?:[-_ ]?mobile)?", "nasnet"),
    (r"nasnet[-_ ]?large", "nasnetlarge"),
    (r"(?:google[-_]?bert[-_/])?bert[-_ ]?base(?:[-_ ]?(?:un)?cased)?", "bert_base"),
    (r"(?:openai[-_/]+)?gpt[-_ ]?2(?:[-_ ]?small)?", "gpt2_small"),
    (r"vit[-_ ]?b(?:ase)?[-_ ]?(?:patch)?16(?:_224)?", "vit_b16"),
    (r"efficientnet[-_ ]?b(\d)", r"efficientnet_b\1"),
    (r"(?:deep[-_ ]?mnist[-_ ]?(?:for[-_ ]experts)?|mnist[-_ ]?cnn|cnn[-_ ]?mnist)", "mnist_cnn"),
)
_MODELS = tuple((re.compile(pattern), name) for pattern, name in MODELS)


def model(raw: str) -> str:
    text = raw[:MAX].strip().lower()
    for pattern, name in _MODELS:
        found = pattern.fullmatch(text)
        if found:
            return found.expand(name)
    return re.sub(r"[^a-z0-9.]+", "_", text).strip("_")


PRECISIONS = {
    "fp64": ("fp64", "float64", "double", "64"),
    "fp32": ("fp32", "float32", "float", "single", "32", "32-bit", "full"),
    "tf32": ("tf32",),
    "bf16": ("bf16", "bfloat16"),
    "fp16": ("fp16", "float16", "half", "16", "16-bit"),
    "int8": ("int8", "uint8", "8-bit"),
    "mixed": ("mixed", "amp", "mixed precision", "mixed_float16"),
}
_PRECISIONS = {spelling: name for name, spellings in PRECISIONS.items() for spelling in spellings}


def precision(raw: str) -> str:
    """Also where the word stands within others: `torch.float16`, `single (FP32)`."""
    text = raw[:MAX].strip().lower()
    if text in _PRECISIONS:
        return _PRECISIONS[text]
    for word in re.findall(r"[a-z]+\d+|[a-z]+", text):
        if word in _PRECISIONS:
            return _PRECISIONS[word]
    return ""


FRAMEWORKS = {
    "tensorflow": ("tensorflow", "tf", "nvtfcnn", "nvcnn", "tensorpack", "intel tensorflow"),
    "pytorch": ("pytorch", "torch", "fastai"),
    "torch7": ("torch7", "cltorch", "cutorch"),
    "caffe": ("caffe", "bvlc_caffe", "nvidia_caffe", "intel_caffe", "intelcaffe", "intel caffe", "nvcaffe"),
    "caffe2": ("caffe2",),
    "mxnet": ("mxnet",),
    "jax": ("jax", "flax"),
    "keras": ("keras",),
    "onnxruntime": ("onnxruntime", "onnx runtime", "ort"),
    "openvino": ("openvino",),
    "tensorrt": ("tensorrt", "trt"),
    "theano": ("theano",),
    "neon": ("neon", "nervana"),
    "paddle": ("paddle", "paddlepaddle"),
    "bigdl": ("bigdl",),
    "llama.cpp": ("llama.cpp",),
}
_FRAMEWORKS = {spelling: name for name, spellings in FRAMEWORKS.items() for spelling in spellings}


def framework(raw: str) -> tuple[str, str]:
    """Name and version: `custom MXNet 1.3.1` is ('mxnet', '1.3.1')."""
    text = raw[:MAX].strip().lower()
    found = re.search(r"(?:^|[ -])v?(\d+(?:\.\d+)+[\w.+-]*)", text)
    version = found.group(1) if found else ""
    words = re.sub(r"[ -]?v?\d+(?:\.\d+)+.*", "", text).strip()
    if words in _FRAMEWORKS:
        return _FRAMEWORKS[words], version
    for word in re.findall(r"[a-z_]+\d?", words):
        if word in _FRAMEWORKS:
            return _FRAMEWORKS[word], version
    return re.sub(r"[^a-z0-9]+", "_", words).strip("_"), version


GPUS = (
    (r"(?:geforce )?gtx ?titan ?x", "GeForce GTX TITAN X"),
    (r"titan ?xp", "TITAN Xp"),
    (r"titan ?x(?: ?\(?pascal\)?)", "TITAN X (Pascal)"),
    (r"titan ?v", "TITAN V"),
    (r"(?:tesla )?([kpvt]\d{1,3}[cmx]?)(-\S+| .*)?", r"Tesla \1\2"),
    (r"([ahlb]\d{2,3}s?)(-\S+| .*)?", r"\1\2"),
    (r"(?:geforce )?(gtx|rtx) ?(\d{3,4})( ?ti| ?super)?( ?(?:with )?max-q(?: design)?)?", r"GeForce \1 \2\3\4"),
    (r"(?:quadro )?rtx ?([568]000)", r"Quadro RTX \1"),
    (r"(?:quadro )?rtx ?(a\d{4})", r"RTX \1"),
)
_GPUS = tuple((re.compile(pattern), name) for pattern, name in GPUS)
_CAPITALS = {"ti": "Ti", "super": "SUPER", "with": "with", "design": "Design", "max-q": "Max-Q", "geforce": "GeForce"}


def device(raw: str) -> tuple[str, str]:
    """A processor's name in one spelling, and its kind: cpu, gpu, tpu, or empty where the name does not tell."""
    text = re.sub(r"\((?:r|tm)\)|[_\xa0]|\s+", " ", raw[:MAX], flags=re.IGNORECASE)
    text = re.sub(r"\s+", " ", text).strip()
    low = re.sub(r"^(?:nvidia corporation|nvidia|amd|graphics card:?) ", "", text.lower())
    if low in ("cpu", "cpus"):
        return "", "cpu"
    if low in ("gpu", "gpus", "cuda"):
        return "", "gpu"
    if "tpu" in low:
        return text, "tpu"
    for pattern, name in _GPUS:
        found = pattern.fullmatch(low)
        if found:
            words = re.sub(r"(\d)(ti|super)\b", r"\1 \2", found.expand(name)).split()
            return " ".join(_CAPITALS.get(word.lower(), _capital(word)) for word in words), "gpu"
    if re.search(r"radeon|vega|instinct|geforce|tesla|quadro|titan|\bgpu\b|\bmi\d{2,3}", low):
        return re.sub(r"^NVIDIA ", "", text, flags=re.IGNORECASE), "gpu"
    if re.search(r"\bcpu\b|xeon|core|ryzen|epyc|threadripper|\bi[3579]-|cortex|power ?\d|skylake|amd fx", text.lower()):
        return text, "cpu"
    return text, ""


def _capital(word: str) -> str:
    """`gtx`, `a100-sxm4-40gb` and `xp` as their makers write them."""
    if re.fullmatch(r"[kpv]\d+[cmx]", word):
        return word.capitalize()
    return word if any(c.isupper() for c in word) else word.upper()


OPTIMIZERS = {"sgd": "sgd", "momentum": "momentum", "sgd with momentum": "momentum", "adam": "adam"}


def optimizer(raw: str) -> str:
    return OPTIMIZERS.get(raw[:MAX].strip().lower(), raw.strip().lower())


PHASES = {
    "training": ("training", "train", "forward-backward", "training + evaluation"),
    "inference": (
        "inference",
        "infer",
        "inferencing",
        "evaluation",
        "eval",
        "forward",
        "forward only",
        "forward_only",
        "predict",
    ),
}
_PHASES = {spelling: name for name, spellings in PHASES.items() for spelling in spellings}


def phase(raw: str) -> str:
    return _PHASES.get(raw[:MAX].strip().lower(), "")
