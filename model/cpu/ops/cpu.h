// What this CPU has that not every one of its architecture has, and that its operating system saves.
#ifndef DRAGOMAN_CPU_H
#define DRAGOMAN_CPU_H

typedef struct {
  int avx2;    // with FMA, BMI2 and conversion of half precision: what x86-64-v3 adds
  int avx512;  // BW, CD, DQ and VL: what x86-64-v4 adds
  int avx512vnni, avxvnni;
} Features;

// features says what an x86 CPU has.
Features features(void);

#endif
