// Package standin tests DEVICE=cuda without a GPU. Its tests run the service and
// gpu_check with ONNX Runtime's CUDA provider, the one that GPUs are served with, on
// stand-ins for NVIDIA's libraries: src/standin.h says what these model.
//
// scripts/cuda_test.sh builds all that is needed and runs the tests. Without the
// variable DRAGOMAN_STANDIN, the folder of the stand-ins, they are skipped.
package standin
