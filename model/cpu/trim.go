package cpu

/*
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
static void trim(void) { malloc_trim(0); }
#else
static void trim(void) {}
#endif
*/
import "C"

// trimHeap gives memory freed by C code back to the system. glibc would keep all packed weights of a load, because small
// allocations lie after them.
func trimHeap() { C.trim() }
