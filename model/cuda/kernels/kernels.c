// The kernels as C functions, which the tests run without a GPU.
#include "ops.h"
#include "types.h"

#define RUN(name, type)                                                                   \
  static void run_##name##_f16(const void *args) {                                        \
    const struct type *a = args;                                                          \
    for (i64 unit = 0; unit < a->units; unit++) name##_f16(a, unit);                      \
  }                                                                                       \
  static void run_##name##_f32(const void *args) {                                        \
    const struct type *a = args;                                                          \
    for (i64 unit = 0; unit < a->units; unit++) name##_f32(a, unit);                      \
  }
DRAGOMAN_KERNELS(RUN)

#define ENTRY(name, type) {run_##name##_f16, run_##name##_f32},
void (*const dragoman_host_kernels[][2])(const void *args) = {DRAGOMAN_KERNELS(ENTRY)};
