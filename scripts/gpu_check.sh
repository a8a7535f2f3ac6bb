#!/usr/bin/env bash
# Checks and measures dragoman on an NVIDIA GPU, beside PyTorch and CTranslate2:
#
#   scripts/gpu_check.sh --libraries DIR [--cuda DIR]... [options]
#
#   --libraries DIR   libonnxruntime.so, libonnxruntime_providers_shared.so and
#                     libonnxruntime_providers_cuda.so (of the archive
#                     onnxruntime-linux-x64-gpu, or of the package onnxruntime-gpu), each
#                     whole or in pieces: NAME.part-* are joined in the order of their
#                     names, and NAME.gz or NAME.xz unpacked, into WORK
#   --cuda DIR        a folder with libraries of CUDA and cuDNN; may come again. Those of
#                     Python packages (nvidia-...) are found without
#   --checkpoint DIR  checkpoint to measure speed with; default: random weights in the
#                     418M shape, made once
#   --work DIR        folder for what is made (default: build/gpu_check; 5 GB)
#   --out FILE        the report, as Go's tests and benchmarks write it (default: WORK/report.txt)
#   --gpu N           number of the GPU (default: 0)
#   --bandwidth GB/s  of the card's memory (default: known for some cards)
#   --most N          most sentences at once (default: 512)
#   --seconds TIME    least time of each measurement (default: 3s)
#   --no-peers        dragoman alone
#
# It needs build/dragoman, build/gpu_check.bin and build/random_checkpoint.bin, which
#   make build
#   go test -c -o build/gpu_check.bin ./scripts/gpu_check
#   go build -o build/random_checkpoint.bin ./scripts/random_checkpoint
# make on any machine, this repository's files, and for peers a python3 with torch and
# transformers, or ctranslate2. Without a GPU its tests fail and say why.
set -euo pipefail
cd "$(dirname "$0")/.."

# die prints an error with a remedy in one line, and exits.
die() {
  echo "gpu_check: $*" >&2
  exit 1
}

libraries='' checkpoint='' work=build/gpu_check out='' gpu=0 bandwidth='' peers=yes
cuda=() flags=(-test.benchtime 3s)
while [[ $# -gt 0 ]]; do
  case $1 in
    --no-peers) peers=no && shift && continue ;;
    -h | --help) sed -n '2,/^set -/p' "$0" | sed '$d; s/^# \{0,1\}//' && exit ;;
  esac
  [[ $# -ge 2 ]] || die "$1 needs a value, or is unknown: see --help"
  case $1 in
    --libraries) libraries=$2 ;;
    --cuda) cuda+=("$2") ;;
    --checkpoint) checkpoint=$2 ;;
    --work) work=$2 ;;
    --out) out=$2 ;;
    --gpu) gpu=$2 ;;
    --bandwidth) bandwidth=$2 ;;
    --most) flags+=(-most "$2") ;;
    --seconds) flags+=(-test.benchtime "$2") ;;
    *) die "unknown option $1: see --help" ;;
  esac
  shift 2
done
[[ -n $libraries ]] || die "--libraries is missing: name the folder of ONNX Runtime for CUDA"
for binary in gpu_check random_checkpoint; do
  [[ -x build/$binary.bin ]] || die "build/$binary.bin is not there: see --help"
done
[[ -x build/dragoman ]] || die "build/dragoman is not there: make build"
mkdir -p "$work/lib"
work=$(cd "$work" && pwd)

# gather puts a library into $work/lib, under its plain name.
gather() {
  local name=$1 to=$work/lib/$1 whole
  local parts=("$libraries/$name".part-*) zipped=("$libraries/$name".gz.part-* "$libraries/$name".xz.part-*)
  whole=$(find -L "$libraries" -maxdepth 1 -name "$name*" ! -name '*.part-*' ! -name '*.gz' ! -name '*.xz' | sort | head -n 1)
  if [[ -n $whole ]]; then
    ln -sf "$(realpath "$whole")" "$to"
  elif [[ -e ${parts[0]} ]]; then
    cat "${parts[@]}" >"$to.tmp" && mv "$to.tmp" "$to"
  elif [[ -e ${zipped[0]} ]]; then
    cat "$libraries/$name".gz.part-* | gzip -dc >"$to.tmp" && mv "$to.tmp" "$to"
  elif [[ -e ${zipped[1]} ]]; then
    cat "$libraries/$name".xz.part-* | xz -dc >"$to.tmp" && mv "$to.tmp" "$to"
  elif [[ -e $libraries/$name.gz ]]; then
    gzip -dc "$libraries/$name.gz" >"$to.tmp" && mv "$to.tmp" "$to"
  elif [[ -e $libraries/$name.xz ]]; then
    xz -dc "$libraries/$name.xz" >"$to.tmp" && mv "$to.tmp" "$to"
  else
    die "$name is not in $libraries: it needs ONNX Runtime for CUDA, whole or in pieces (see --help)"
  fi
}
for name in libonnxruntime.so libonnxruntime_providers_shared.so libonnxruntime_providers_cuda.so; do
  gather "$name"
done

# CUDA's libraries of Python packages lie in folders of their own.
if command -v python3 >/dev/null; then
  while read -r folder; do cuda+=("$folder"); done < <(python3 - <<'PYTHON'
import glob, site
for folder in {*site.getsitepackages(), site.getusersitepackages()}:
    for path in glob.glob(folder + "/nvidia/*/lib"):
        print(path)
PYTHON
  )
fi
path=$work/lib
for folder in "${cuda[@]}"; do path+=:$folder; done
export LD_LIBRARY_PATH=$path${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}

if [[ -z $bandwidth ]] && command -v nvidia-smi >/dev/null; then
  case $(nvidia-smi --query-gpu=name --format=csv,noheader --id="$gpu") in
    *H200*) bandwidth=4800 ;;
    *"H100 PCIe"*) bandwidth=2000 ;;
    *H100*) bandwidth=3350 ;;
    *A100*80GB*) bandwidth=2039 ;;
    *A100*) bandwidth=1555 ;;
    *L40S*) bandwidth=864 ;;
    *"L4"*) bandwidth=300 ;;
    *A10*) bandwidth=600 ;;
    *T4*) bandwidth=320 ;;
    *V100*) bandwidth=900 ;;
  esac
fi

if [[ -z $checkpoint ]]; then
  checkpoint=$work/418M
  if [[ ! -f $checkpoint/model.safetensors ]]; then
    build/random_checkpoint.bin --shape 418M --dtype f16 --out "$checkpoint"
    # Any tokenizer that fits will do: sentences are ids.
    cp model/bundled/{sentencepiece.bpe.model,vocab.json,tokenizer_config.json} "$checkpoint"
  fi
fi
if [[ $peers == yes ]]; then
  flags+=(-peer "transformers fp16=python3 scripts/gpu_check/transformers_gpu.py $checkpoint")
  if python3 -c 'import ctranslate2' 2>/dev/null; then
    flags+=(-peer "CTranslate2 fp16=python3 scripts/gpu_check/ctranslate2_gpu.py $checkpoint $work")
  fi
fi

# Go measures nothing where a test fails, so measuring is a run of its own.
{
  status=0
  for part in '-test.run .' '-test.run ^$ -test.bench .'; do
    # shellcheck disable=SC2086 # a list
    build/gpu_check.bin -test.v $part -library "$work/lib/libonnxruntime.so" -checkpoint "$checkpoint" -work "$work" \
      -gpu "$gpu" -bandwidth "${bandwidth:-0}" "${flags[@]}" || status=1
  done
  exit "$status"
} | tee "${out:-$work/report.txt}"
