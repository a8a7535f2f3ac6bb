// Package standin tests DEVICE=cuda without a GPU. Its tests run the service and gpu_check with ONNX Runtime's CUDA provider, the
// same as on GPUs, on stand-ins for NVIDIA's libraries: src/standin.h describes their behaviour.
//
// scripts/cuda_test.sh builds everything needed and runs the tests. Without the variable DRAGOMAN_STANDIN, the folder of the
// stand-ins, they are skipped.
package standin
