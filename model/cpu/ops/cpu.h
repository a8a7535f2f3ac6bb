// Optional features of this CPU that its operating system supports.
#ifndef DRAGOMAN_CPU_H
#define DRAGOMAN_CPU_H

typedef struct {
  int avx2;    // with FMA, BMI2 and conversion of half precision: the features of x86-64-v3
  int avx512;  // BW, CD, DQ and VL: the features of x86-64-v4
  int avx512vnni, avxvnni;
} Features;

// features returns the features of an x86 CPU.
Features features(void);

#endif
