// The kernels for x86 CPUs with AVX2 and half precision.
#if defined(__x86_64__)
#include <math.h>
#include <stdint.h>
#include <string.h>

// As a cross compiler clang is told by name which features other CPUs lack, which overrides a level.
#if defined(__clang__)
#pragma clang attribute push(__attribute__((target("avx2,bmi,bmi2,f16c,fma,lzcnt,movbe"))), apply_to = function)
#else
#pragma GCC target("arch=x86-64-v3")
#endif

#define GENERATION kernels_avx2
#define NATIVE 8
#include "generation.h"

#if defined(__clang__)
#pragma clang attribute pop
#endif
#endif
