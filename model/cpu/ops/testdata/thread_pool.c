// Has a pool work for several callers at once, which pause now and then so that its threads sleep. It prints the total of items
// done, and its exit status is 0 if each item was done once before its caller continued, and saw the results of all items' common
// preparation.
#include <stdatomic.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "thread_pool.h"

enum { CALLERS = 3, THREADS = 4, ROUNDS = 300, MOST = 64, PARTS = 5 };

typedef struct {
  int done[MOST], prepared[PARTS];
  _Atomic int64_t next, ready;
} Round;

static _Atomic int all, wrong;

static void item(void *data, size_t i) {
  Round *r = data;
  for (int64_t part; (part = r->next++) < PARTS; r->ready++) r->prepared[part] = 1;
  threads_await(&r->ready, PARTS);
  for (int part = 0; part < PARTS; part++) wrong += r->prepared[part] != 1;
  r->done[i]++;
  all++;
}

static void *caller(void *data) {
  (void)data;
  for (int r = 0; r < ROUNDS; r++) {
    Round round = {0};
    size_t items = 1 + r % MOST;
    threads_run(THREADS, item, &round, items);
    for (size_t i = 0; i < MOST; i++) wrong += round.done[i] != (i < items);
    if (r % 10 == 0) usleep(100);
  }
  return NULL;
}

int main(void) {
  for (int again = 0; again < 2; again++) {
    threads_grow(THREADS);
    pthread_t callers[CALLERS];
    for (int i = 0; i < CALLERS; i++) pthread_create(&callers[i], NULL, caller, NULL);
    for (int i = 0; i < CALLERS; i++) pthread_join(callers[i], NULL);
    threads_end();
  }
  printf("%d items, %d wrong\n", all, wrong);
  return wrong != 0;
}
