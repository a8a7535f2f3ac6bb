#ifndef DRAGOMAN_GUARD_H
#define DRAGOMAN_GUARD_H

#include <stddef.h>

// Guard watches a mapping. If a page cannot be read, the process continues with zeros in place of
// the whole mapping. Ended guards are reused and never freed.
typedef struct Guard Guard;

// guard_begin watches the mapping at start. It returns NULL without memory or without a handler.
Guard *guard_begin(void *start, size_t size);

// guard_spoiled reports whether a read of the mapping has failed. It knows of every failed read
// that happened before the call (in C's sense of "happens before").
int guard_spoiled(Guard *g);

// guard_end stops watching. No thread may read the mapping any more.
void guard_end(Guard *g);

#endif
