#include "cpu.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <stdint.h>

// saved returns the registers that the operating system saves (XCR0).
static uint32_t saved(void) {
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return low;
}

// __builtin_cpu_supports would answer this, but with the runtimes of some compilers every CPU is the oldest.
Features features(void) {
  enum { FMA = 1 << 12, OSXSAVE = 1 << 27, F16C = 1 << 29, AVX2 = 1 << 5, BMI2 = 1 << 8, VNNI = 1 << 11, AVX_VNNI = 1 << 4 };
  const uint32_t v4 = 1u << 16 | 1u << 17 | 1u << 28 | 1u << 30 | 1u << 31;  // F, DQ, CD, BW, VL
  const uint32_t vectors = 0x6, masks = 0xe0;
  uint32_t a, b, c, d, more = 0;
  Features f = {0};
  if (!__get_cpuid(1, &a, &b, &c, &d) || (c & (FMA | OSXSAVE | F16C)) != (FMA | OSXSAVE | F16C)) return f;
  uint32_t registers = saved();
  if ((registers & vectors) != vectors || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return f;
  if (a >= 1) __cpuid_count(7, 1, more, a, d, d);
  f.avx2 = (b & (AVX2 | BMI2)) == (AVX2 | BMI2);
  f.avx512 = f.avx2 && (b & v4) == v4 && (registers & masks) == masks;
  f.avx512vnni = f.avx512 && (c & VNNI) != 0;
  f.avxvnni = f.avx2 && (more & AVX_VNNI) != 0;
  return f;
}
#endif
