#ifndef DRAGOMAN_GUARD_H
#define DRAGOMAN_GUARD_H

#include <stddef.h>

// Guard watches a mapping: a page of it that cannot be read becomes zeros, with all others, instead
// of the end of the process. Guards are kept for the next mapping, and never freed.
typedef struct Guard Guard;

// guard_begin watches the mapping at start; NULL if there is no memory or no handler.
Guard *guard_begin(void *start, size_t size);

// guard_spoiled says whether a read of the mapping has failed. Whoever asks after a read, with what
// orders threads in between, knows of every failure that the read has seen.
int guard_spoiled(Guard *g);

// guard_end stops watching; nothing may read the mapping any more.
void guard_end(Guard *g);

#endif
