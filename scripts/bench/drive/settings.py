"""What the drivers take from the environment. run.sh lists the knobs."""
import os

ROOT = os.path.normpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", ".."))
QUICK = os.environ.get("BENCH_QUICK", "") not in ("", "0")


def knob(name, default, quick=None):
    """BENCH_name as what default is: a number, a text, or a list of one of them."""
    default = quick if QUICK and quick is not None else default
    value = os.environ.get("BENCH_" + name)
    if value is None:
        return default
    if isinstance(default, list):
        return [type(default[0])(word) for word in value.split()]
    return type(default)(value)


def path(*parts):
    """A path below the project."""
    return os.path.join(ROOT, *parts)


BUILD = os.path.abspath(knob("DIR", path("build", "bench")))
OUT = os.path.abspath(knob("OUT", path("docs", "benchmarks")))
PYTHON = knob("PYTHON", os.path.join(BUILD, "venv", "bin", "python"))
LIBRARY = path("build", "onnxruntime", "libonnxruntime.so")
DRAGOMAN = path("build", "dragoman")
SHAPE = knob("SHAPE", "418M")
THREADS = knob("THREADS", 2)
ADD = knob("ADD", 0)
REPETITIONS = knob("REPS", 5, quick=1)


def built(*parts):
    """A path in the benchmarks' build folder."""
    return os.path.join(BUILD, *parts)


def of_shape(*parts):
    """A path in the folder of the shape's models."""
    return built(*([] if SHAPE == "418M" else [SHAPE]), *parts)


def peer(script):
    """The command line that runs a script of a peer."""
    return [PYTHON, path("scripts", "bench", "peers", script)]
