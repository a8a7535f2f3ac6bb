//go:build unix

#define _GNU_SOURCE
#include "guard.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

// The handler of SIGBUS runs on the reading thread, anywhere in its code. So it takes no lock and
// allocates nothing: the guards are a list that only grows, and an odd turn marks a guard in use.
// Another thread may change a guard meanwhile, so find reads its turn twice. The guard of the
// thread's own mapping cannot change, since a mapping must not be unmapped during a read.
struct Guard {
  Guard *next;
  atomic_uint turn; // odd while in use
  atomic_uintptr_t start, end;
  atomic_int spoiled;
};

static _Atomic(Guard *) guards;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; // held by guard_begin and guard_end
static struct sigaction before;                          // Go's handler, for all other faults

static Guard *find(uintptr_t at) {
  for (Guard *g = atomic_load(&guards); g; g = g->next) {
    unsigned turn = atomic_load(&g->turn);
    if (turn % 2 == 0) continue;
    int within = at >= atomic_load(&g->start) && at < atomic_load(&g->end);
    if (within && atomic_load(&g->turn) == turn) return g;
  }
  return NULL;
}

// on_fault replaces an unreadable mapping by zeros, and the thread repeats the read. It sets the mark
// before, so a thread that reads zeros also finds the mark. It replaces all pages at once, so a
// mapping has one such fault, or one per thread.
static void on_fault(int number, siginfo_t *info, void *context) {
  int saved = errno;
  Guard *g = info->si_code > 0 ? find((uintptr_t)info->si_addr) : NULL;
  if (g) {
    atomic_store(&g->spoiled, 1);
    void *start = (void *)atomic_load(&g->start);
    size_t size = atomic_load(&g->end) - atomic_load(&g->start);
    if (mmap(start, size, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0) == start) {
      errno = saved;
      return;
    }
  }
  errno = saved;
  if (before.sa_flags & SA_SIGINFO) {
    before.sa_sigaction(number, info, context);
  } else if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN) {
    before.sa_handler(number);
  } else {
    sigaction(number, &before, NULL); // the fault recurs
  }
}

// install puts the handler before Go's. It must run on the signal stack of Go's threads.
static int install(void) {
  static int installed;
  if (installed) return 1;
  struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
  sigfillset(&action.sa_mask);
  if (sigaction(SIGBUS, NULL, &before) || sigaction(SIGBUS, &action, NULL)) return 0;
  installed = 1;
  return 1;
}

Guard *guard_begin(void *start, size_t size) {
  pthread_mutex_lock(&lock);
  int ready = install();
  Guard *g = ready ? atomic_load(&guards) : NULL;
  while (g && atomic_load(&g->turn) % 2) g = g->next;
  if (!g && ready && (g = calloc(1, sizeof *g))) {
    g->next = atomic_load(&guards);
    atomic_store(&guards, g);
  }
  if (g) {
    atomic_store(&g->start, (uintptr_t)start);
    atomic_store(&g->end, (uintptr_t)start + size);
    atomic_store(&g->spoiled, 0);
    atomic_fetch_add(&g->turn, 1);
  }
  pthread_mutex_unlock(&lock);
  return g;
}

int guard_spoiled(Guard *g) { return atomic_load(&g->spoiled); }

void guard_end(Guard *g) {
  pthread_mutex_lock(&lock);
  atomic_fetch_add(&g->turn, 1);
  pthread_mutex_unlock(&lock);
}
