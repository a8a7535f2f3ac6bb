// The kernels for the compiler's target.
#define GENERATION kernels_built
#if defined(__AVX512BW__)
#define NATIVE 16
#elif defined(__AVX2__)
#define NATIVE 8
#else
#define NATIVE 4
#endif
#include "../cpu.c"
#include "../generation.h"

const Kernels *kernels = &kernels_built;
