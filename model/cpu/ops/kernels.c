#include "kernels.h"

#include "cpu.h"

extern const Kernels kernels_any;
const Kernels *kernels = &kernels_any;

#if defined(__x86_64__)
extern const Kernels kernels_avx2, kernels_avx512;

__attribute__((constructor)) static void choose(void) {
  Features f = features();
  if (f.avx2) kernels = f.avx512 ? &kernels_avx512 : &kernels_avx2;
}
#endif
