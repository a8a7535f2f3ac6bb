// Threads that share the work of operators.
//
// ONNX Runtime has such threads, but between two operators they sleep: to wake one takes
// longer than half of a small product. Or they spin for as long as they are told to, all
// of them, those of each session. Here the threads of all sessions are the same, each
// helps whoever comes first, and spins for a moment before it sleeps. A caller never waits
// for one that has not begun yet: it does the work alone then.
#ifndef DRAGOMAN_THREAD_POOL_H
#define DRAGOMAN_THREAD_POOL_H

#include <stddef.h>
#include <stdint.h>

// threads_grow sees to it that up to `threads` threads can share work, the caller's included.
// There may be fewer where the system has no more of them.
void threads_grow(int threads);

// threads_run calls item(data, i) for each i below items, on at most so many threads, the
// caller's included, and returns when all are done.
void threads_run(int threads, void (*item)(void *data, size_t i), void *data, size_t items);

// threads_await waits inside of an item until count has reached n, which other items that have begun are about to see to.
void threads_await(_Atomic int64_t *count, int64_t n);

// threads_end ends the threads. Nothing may run.
void threads_end(void);

#endif
