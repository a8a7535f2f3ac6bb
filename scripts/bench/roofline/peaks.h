// What this CPU can do at most, measured with nothing but the instruction in question.
#ifndef ROOFLINE_PEAKS_H
#define ROOFLINE_PEAKS_H

#include <stdint.h>

// What is measured.
typedef enum { OCTETS, FLOATS, MEMORY } Peak;

// instruction is the name of what octets_peak or floats_peak repeat on this CPU.
const char *instruction(Peak peak);
// rate is how many multiply-adds of 8 bits or of floats the calling thread does a second of
// its CPU time, in at least `seconds`. Of MEMORY it reads `size` bytes, a multiple of 512, once.
double rate(Peak peak, double seconds, const char *memory, int64_t size);

#endif
