#define _GNU_SOURCE
#include "thread_pool.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <time.h>

// All in nanoseconds. Between two operators of a step some microseconds pass, between two steps a hundred. If a thread was held
// up, other processes need the cores: then all threads stop spinning for a period, which doubles if it happens again soon. The
// system preempts threads that never sleep in the middle of work. An item of work takes less time than that.
enum { SPIN = 50000, HELD_UP = 2000000, POLITE = 64000000, MOST_POLITE = 512000000 };

// A Job is shared work; it is on its caller's stack.
typedef struct {
  void (*item)(void *data, size_t i);
  void *data;
  size_t items;
  _Atomic size_t next;
} Job;

// A Helper is a thread of the pool. Its job is 0 while it has none; otherwise a Job, and BUSY is added once it has begun.
enum { BUSY = 1 };
typedef struct Helper {
  struct Helper *next;
  pthread_t thread;
  _Atomic uintptr_t job;
  // A thread that stops spinning sets asleep or awaited before it reads job for the last time; a thread that changes job reads
  // them afterwards.
  _Atomic int asleep, awaited;  // the helper; the caller whose job it does
  pthread_mutex_t lock;         // of both sleeps
  pthread_cond_t wake, done;
} Helper;

static struct {
  pthread_mutex_t lock;  // guards growth and end
  int size;
  _Atomic(Helper *) helpers;
  _Atomic int ending;
  _Atomic int64_t polite, period;  // the end of the period without spinning, and its length
} pool = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void work(Job *job) {
  for (size_t i; (i = job->next++) < job->items;) job->item(job->data, i);
}

static inline void relax(void) {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("isb");
#endif
}

static int64_t nanoseconds(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

// held_up records that a thread was held up.
static void held_up(int64_t now) {
  int64_t period = pool.period;
  if (now > pool.polite + period)
    period = POLITE;
  else if (now > pool.polite && period < MOST_POLITE)
    period *= 2;
  pool.period = period;
  pool.polite = now + period;
}

// spin waits for a moment until job is (or is not) `other`, and returns whether it is.
static int spin(_Atomic uintptr_t *job, uintptr_t other, int is) {
  enum { PAUSES = 32 };
  int64_t begin = nanoseconds(), now = begin, before;
  do {
    for (int i = 0; i < PAUSES; i++) {
      if ((*job == other) == is) return 1;
      if (begin < pool.polite) return 0;
      relax();
    }
    before = now, now = nanoseconds();
    if (now - before > HELD_UP) held_up(now);
  } while (now - begin < SPIN);
  return 0;
}

static void *help(void *data) {
  Helper *h = data;
  while (!pool.ending) {
    if (!spin(&h->job, 0, 0)) {
      pthread_mutex_lock(&h->lock);
      h->asleep = 1;
      while (!h->job && !pool.ending) pthread_cond_wait(&h->wake, &h->lock);
      h->asleep = 0;
      pthread_mutex_unlock(&h->lock);
    }
    uintptr_t job = h->job;
    if (!job || !atomic_compare_exchange_strong(&h->job, &job, job | BUSY)) continue;
    work((Job *)job);
    h->job = 0;
    if (!h->awaited) continue;
    pthread_mutex_lock(&h->lock);
    pthread_cond_broadcast(&h->done);
    pthread_mutex_unlock(&h->lock);
  }
  return NULL;
}

// wake wakes a helper if it sleeps.
static void wake(Helper *h) {
  if (!h->asleep) return;
  pthread_mutex_lock(&h->lock);
  pthread_cond_signal(&h->wake);
  pthread_mutex_unlock(&h->lock);
}

// finish returns once a helper does not work on a job, and never will.
static void finish(Helper *h, Job *job) {
  uintptr_t busy = (uintptr_t)job | BUSY, claimed = (uintptr_t)job;
  if (atomic_compare_exchange_strong(&h->job, &claimed, 0) || spin(&h->job, busy, 0)) return;
  int64_t begin = nanoseconds();
  pthread_mutex_lock(&h->lock);
  h->awaited++;
  while (h->job == busy) pthread_cond_wait(&h->done, &h->lock);
  h->awaited--;
  pthread_mutex_unlock(&h->lock);
  int64_t now = nanoseconds();
  if (now - begin > HELD_UP) held_up(now);
}

void threads_run(int threads, void (*item)(void *, size_t), void *data, size_t items) {
  enum { MOST = 256 };
  Job job = {.item = item, .data = data, .items = items};
  Helper *helpers[MOST];
  size_t n = 0, most = threads - 1 < MOST ? threads - 1 : MOST;
  if (most > items - 1) most = items - 1;
  for (Helper *h = pool.helpers; h && n < most; h = h->next) {
    uintptr_t none = 0;
    if (h->job || !atomic_compare_exchange_strong(&h->job, &none, (uintptr_t)&job)) continue;
    wake(h);
    helpers[n++] = h;
  }
  work(&job);
  for (size_t i = 0; i < n; i++) finish(helpers[i], &job);
}

void threads_await(_Atomic int64_t *count, int64_t n) {
  for (unsigned i = 1; *count < n; i++) {
    if (i % 256 == 0)
      sched_yield();
    else
      relax();
  }
}

// start starts a helper's thread, and returns the result of pthread_create.
static int start(pthread_t *thread, Helper *h) {
#if defined(_WIN32)
  return pthread_create(thread, NULL, help, h);
#else
  // Signals are for Go's threads, except those of a thread's own reads: see mapping.File.
  sigset_t all, old;
  sigfillset(&all);
  sigdelset(&all, SIGBUS);
  pthread_sigmask(SIG_SETMASK, &all, &old);
  int failed = pthread_create(thread, NULL, help, h);
  pthread_sigmask(SIG_SETMASK, &old, NULL);
  return failed;
#endif
}

// hire adds a helper; it returns 0 if no thread could be started.
static int hire(void) {
  Helper *h = calloc(1, sizeof *h);
  if (!h) return 0;
  pthread_mutex_init(&h->lock, NULL);
  pthread_cond_init(&h->wake, NULL);
  pthread_cond_init(&h->done, NULL);
  if (start(&h->thread, h)) {
    free(h);
    return 0;
  }
  h->next = pool.helpers;
  pool.helpers = h;
  return 1;
}

void threads_grow(int threads) {
  pthread_mutex_lock(&pool.lock);
  while (pool.size < threads - 1 && hire()) pool.size++;
  pthread_mutex_unlock(&pool.lock);
}

void threads_end(void) {
  pthread_mutex_lock(&pool.lock);
  pool.ending = 1;
  for (Helper *h = pool.helpers, *next; h; h = next) {
    next = h->next;
    wake(h);
    pthread_join(h->thread, NULL);
    pthread_cond_destroy(&h->wake);
    pthread_cond_destroy(&h->done);
    pthread_mutex_destroy(&h->lock);
    free(h);
  }
  pool.helpers = NULL;
  pool.size = 0;
  pool.ending = 0;
  pthread_mutex_unlock(&pool.lock);
}
