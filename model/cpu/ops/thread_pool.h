// Threads that share the work of operators.
//
// ONNX Runtime has such threads, but they sleep between two operators: waking one takes longer than half of a small product. Or
// they spin for a fixed time, all threads of each session. Here all sessions share the threads; each helps the first caller, and
// spins for a moment before it sleeps. A caller never waits for a thread that has not begun yet: it does the work alone then.
#ifndef DRAGOMAN_THREAD_POOL_H
#define DRAGOMAN_THREAD_POOL_H

#include <stddef.h>
#include <stdint.h>

// threads_grow makes up to `threads` threads available, including the caller's. There may be fewer if the system has no more.
void threads_grow(int threads);

// threads_run calls item(data, i) for each i below items, on at most `threads` threads, including the caller's, and returns when
// all are done.
void threads_run(int threads, void (*item)(void *data, size_t i), void *data, size_t items);

// threads_await waits within an item until count has reached n, which other items in progress increment.
void threads_await(_Atomic int64_t *count, int64_t n);

// threads_end ends the threads. Nothing may be running.
void threads_end(void);

#endif
