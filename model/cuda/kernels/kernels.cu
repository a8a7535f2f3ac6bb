// The kernels for a GPU: one warp per unit, four warps per block.
// scripts/gpu_check/ptx.py compiles this file to kernels.ptx.
#include "types.h"

#define BOTH(name, args)                                                                      \
  extern "C" __global__ void __launch_bounds__(128) dragoman_##name##_f16(const args a) {     \
    const i64 unit = (i64)blockIdx.x * 4 + (threadIdx.x >> 5);                                \
    if (unit < a.units) name##_f16(&a, unit);                                                 \
  }                                                                                           \
  extern "C" __global__ void __launch_bounds__(128) dragoman_##name##_f32(const args a) {     \
    const i64 unit = (i64)blockIdx.x * 4 + (threadIdx.x >> 5);                                \
    if (unit < a.units) name##_f32(&a, unit);                                                 \
  }
DRAGOMAN_KERNELS(BOTH)
