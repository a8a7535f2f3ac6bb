#!/usr/bin/env python3
"""Makes model/cuda/kernels/kernels.ptx of the kernels' source, with NVIDIA's run-time
compiler, which needs no GPU:

    pip install nvidia-cuda-nvrtc-cu12==12.4.127
    scripts/gpu_check/ptx.py [path of libnvrtc.so.12]

The first line of the result names the sha256 of the source. PTX is an assembly
language that the driver translates for the card at hand. This compiler's is understood
by drivers from 550 (CUDA 12.4) on.
"""
import ctypes
import glob
import hashlib
import pathlib
import site
import sys

FOLDER = pathlib.Path(__file__).parents[2] / "model" / "cuda" / "kernels"
SOURCES = ["kernels.cu", "types.h", "kernels.h", "rows.h", "attention.h", "candidates.h", "warp.h"]  # in the order of kernels_test.go
OPTIONS = [b"--gpu-architecture=compute_70", b"--std=c++17", b"--extra-device-vectorization"]


def library():
    if len(sys.argv) > 1:
        return sys.argv[1]
    for folder in [*site.getsitepackages(), site.getusersitepackages()]:
        for path in glob.glob(folder + "/nvidia/cuda_nvrtc/lib/libnvrtc.so.1?"):
            return path
    return "libnvrtc.so.12"


def main():
    nvrtc = ctypes.CDLL(library())
    sources = {name: (FOLDER / name).read_bytes() for name in SOURCES}
    headers = SOURCES[1:]
    program = ctypes.c_void_p()
    array = ctypes.c_char_p * len(headers)
    check(nvrtc, nvrtc.nvrtcCreateProgram(ctypes.byref(program), sources["kernels.cu"], b"kernels.cu", len(headers),
                                          array(*[sources[h] for h in headers]), array(*[h.encode() for h in headers])))
    code = nvrtc.nvrtcCompileProgram(program, len(OPTIONS), (ctypes.c_char_p * len(OPTIONS))(*OPTIONS))
    log = text(nvrtc, program, "ProgramLog")
    if log.strip():
        print(log, file=sys.stderr)
    check(nvrtc, code)
    ptx = text(nvrtc, program, "PTX")
    total = hashlib.sha256(b"".join(sources[name] for name in SOURCES)).hexdigest()
    (FOLDER / "kernels.ptx").write_text(f"// made from {total}\n{ptx}")


def text(nvrtc, program, what):
    size = ctypes.c_size_t()
    check(nvrtc, getattr(nvrtc, f"nvrtcGet{what}Size")(program, ctypes.byref(size)))
    buffer = ctypes.create_string_buffer(size.value)
    check(nvrtc, getattr(nvrtc, f"nvrtcGet{what}")(program, buffer))
    return buffer.value.decode()


def check(nvrtc, code):
    if code:
        nvrtc.nvrtcGetErrorString.restype = ctypes.c_char_p
        sys.exit(f"ptx: {nvrtc.nvrtcGetErrorString(code).decode()}")


if __name__ == "__main__":
    main()
