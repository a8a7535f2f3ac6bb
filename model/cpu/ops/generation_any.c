// The kernels for all CPUs of an architecture.
#define GENERATION kernels_any
#define NATIVE 4
#include "generation.h"
