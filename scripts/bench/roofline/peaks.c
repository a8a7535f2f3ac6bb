//go:build linux && (amd64 || arm64)

#include "peaks.h"

#include <time.h>

// LOOP is a function that repeats an instruction on 12 registers that do not depend on
// each other, more than any CPU works on at once. It returns the multiply-adds.
#define TWELVE(DO) DO(0) DO(1) DO(2) DO(3) DO(4) DO(5) DO(6) DO(7) DO(8) DO(9) DO(10) DO(11)
#define LOOP(NAME, VECTOR, EACH, DO)                              \
  static double NAME(int64_t n) {                                 \
    VECTOR x = {}, y = {}, t = {}, a[12] = {};                    \
    for (int64_t i = 0; i < n; i++) { TWELVE(DO) }                \
    (void)x, (void)y, (void)t;                                    \
    return (double)(EACH) * 12 * n;                               \
  }

typedef struct {
  const char *name;
  double (*loop)(int64_t);
} Kernel;

#if defined(__x86_64__)
typedef int32_t v8 __attribute__((vector_size(32)));
typedef int32_t v16 __attribute__((vector_size(64)));

#define VNNI(i) __asm__ volatile("vpdpbusd %1, %2, %0" : "+v"(a[i]) : "v"(x), "v"(y));
#define VEX_VNNI(i) __asm__ volatile("%{vex%} vpdpbusd %1, %2, %0" : "+x"(a[i]) : "x"(x), "x"(y));
#define FMA(i) __asm__ volatile("vfmadd231ps %1, %2, %0" : "+v"(a[i]) : "v"(x), "v"(y));
#define MADDUBS(i)                                                                              \
  __asm__ volatile("vpmaddubsw %2, %3, %1\n\tvpmaddwd %2, %1, %1\n\tvpaddd %1, %0, %0" \
                   : "+x"(a[i]), "=&x"(t) : "x"(x), "x"(y));
#define PMADDWD(i) __asm__ volatile("pmaddwd %2, %1\n\tpaddd %1, %0" : "+x"(a[i]), "+x"(t) : "x"(x));
#define MULPS(i) __asm__ volatile("mulps %2, %1\n\taddps %1, %0" : "+x"(a[i]), "+x"(t) : "x"(x));

typedef int32_t v4 __attribute__((vector_size(16)));
LOOP(sse_octets, v4, 8, PMADDWD)
LOOP(sse_floats, v4, 4, MULPS)
#pragma GCC push_options
#pragma GCC target("avx512f,avx512vnni")
LOOP(avx512_octets, v16, 64, VNNI)
LOOP(avx512_floats, v16, 16, FMA)
#pragma GCC pop_options
#pragma GCC push_options
#pragma GCC target("avx2,fma")
LOOP(avx2_vnni, v8, 32, VEX_VNNI)
LOOP(avx2_octets, v8, 32, MADDUBS)
LOOP(avx2_floats, v8, 8, FMA)
#pragma GCC pop_options

static Kernel octets(void) {
  if (__builtin_cpu_supports("avx512vnni")) return (Kernel){"vpdpbusd, 512 bits", avx512_octets};
  if (__builtin_cpu_supports("avxvnni")) return (Kernel){"vpdpbusd, 256 bits", avx2_vnni};
  if (__builtin_cpu_supports("avx2")) return (Kernel){"vpmaddubsw, vpmaddwd, vpaddd, 256 bits", avx2_octets};
  return (Kernel){"pmaddwd, paddd, 128 bits", sse_octets};
}

static Kernel floats(void) {
  if (__builtin_cpu_supports("avx512f")) return (Kernel){"vfmadd231ps, 512 bits", avx512_floats};
  if (__builtin_cpu_supports("fma")) return (Kernel){"vfmadd231ps, 256 bits", avx2_floats};
  return (Kernel){"mulps, addps, 128 bits", sse_floats};
}
#else
#include <sys/auxv.h>
typedef int32_t v4 __attribute__((vector_size(16)));

#define MMLA(i) __asm__ volatile(".arch armv8.6-a+i8mm\n\tsmmla %0.4s, %1.16b, %2.16b" : "+w"(a[i]) : "w"(x), "w"(y));
#define DOT(i) __asm__ volatile(".arch armv8.2-a+dotprod\n\tsdot %0.4s, %1.16b, %2.16b" : "+w"(a[i]) : "w"(x), "w"(y));
#define MULL(i) __asm__ volatile("smull %1.8h, %2.8b, %3.8b\n\tsadalp %0.4s, %1.8h" : "+w"(a[i]), "=&w"(t) : "w"(x), "w"(y));
#define FMLA(i) __asm__ volatile("fmla %0.4s, %1.4s, %2.4s" : "+w"(a[i]) : "w"(x), "w"(y));
LOOP(mmla, v4, 32, MMLA)
LOOP(dot, v4, 16, DOT)
LOOP(mull, v4, 8, MULL)
LOOP(fmla, v4, 4, FMLA)

static Kernel octets(void) {
  if (getauxval(AT_HWCAP2) & 1 << 13) return (Kernel){"smmla", mmla};
  if (getauxval(AT_HWCAP) & 1 << 20) return (Kernel){"sdot", dot};
  return (Kernel){"smull, sadalp", mull};
}

static Kernel floats(void) { return (Kernel){"fmla", fmla}; }
#endif

const char *instruction(Peak peak) { return peak == OCTETS ? octets().name : peak == FLOATS ? floats().name : "loads"; }

typedef int64_t line __attribute__((vector_size(64), aligned(64)));

#if defined(__x86_64__) && !defined(__clang__)
__attribute__((target_clones("arch=x86-64-v4", "arch=x86-64-v3", "default")))
#endif
static double read_all(const char *memory, int64_t size) {
  line a[8] = {};
  for (int64_t i = 0; i < size; i += sizeof a)
    for (int j = 0; j < 8; j++) a[j] ^= ((const line *)(memory + i))[j];
  __asm__ volatile("" : : "m"(a));
  return size;
}

static double now(clockid_t clock) {
  struct timespec t;
  clock_gettime(clock, &t);
  return t.tv_sec + t.tv_nsec * 1e-9;
}

double rate(Peak peak, double seconds, const char *memory, int64_t size) {
  if (peak == MEMORY) return read_all(memory, size);
  // Other programs may take the core, but not from the thread's own time.
  clockid_t clock = CLOCK_THREAD_CPUTIME_ID;
  Kernel k = peak == OCTETS ? octets() : floats();
  double begin = now(clock), work = 0, spent;
  do {
    work += k.loop(10000);
    spent = now(clock) - begin;
  } while (spent < seconds);
  return work / spent;
}
