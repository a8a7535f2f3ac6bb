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

// trimHeap gives memory that C code has freed back to the system. glibc keeps it,
// all of what was packed at load, because small things lie behind it.
func trimHeap() { C.trim() }
