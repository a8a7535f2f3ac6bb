#!/usr/bin/env bash
# safetensors writes a transposed NumPy array with its numbers in the wrong places, and no reader can tell.
#
# Whoever converts a model between frameworks transposes its linear layers: TensorFlow, Marian and ONNX hold a weight as [in, out], PyTorch as
# [out, in]. In NumPy that is a view on the same memory. safetensors.numpy 0.7.0 wrote it as it reads; 0.8.0 writes the memory behind it, with
# the shape of the view, as it does for arrays in Fortran's order, which scikit-learn makes, and for a part of the columns. safetensors.torch
# refuses such tensors. The file is valid, sizes and sums are right, a quick look at minimum and mean finds nothing, and the model says
# nonsense. np.ascontiguousarray() before saving helps.
#
#   0.7.0: [[1, 3], [2, 4]] comes back as [[1, 3], [2, 4]]
#   0.8.0: [[1, 3], [2, 4]] comes back as [[1, 2], [3, 4]]
#
# The script fails if that changes. It needs Python 3.11 and PyPI.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
for version in 0.7.0 0.8.0; do
  python3 -m venv $version
  $version/bin/pip install --quiet --disable-pip-version-check numpy==2.4.6 safetensors==$version
  $version/bin/python - $version <<'PYTHON'
import sys

import numpy as np
from safetensors.numpy import load_file, save_file

weight = np.array([[1, 2], [3, 4]], np.float32)
save_file({"transposed": weight.T, "fortran": np.asfortranarray(weight.T), "contiguous": np.ascontiguousarray(weight.T)}, "model.safetensors")
back = {name: array.astype(int).tolist() for name, array in load_file("model.safetensors").items()}
print(f"{sys.argv[1]}: {weight.T.astype(int).tolist()} comes back as {back['transposed']}")
right, wrong = [[1, 3], [2, 4]], [[1, 2], [3, 4]]
seen = right if sys.argv[1] == "0.7.0" else wrong
assert back == {"transposed": seen, "fortran": seen, "contiguous": right}, f"other arrays than were seen: {back}"
PYTHON
done
