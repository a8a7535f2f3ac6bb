#define _GNU_SOURCE
#include "pieces.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

struct Pieces {
  pthread_mutex_t lock;  // guards the fields below
  pthread_cond_t changed;
  int running, ended, stopped;
  int64_t until;
};

static _Thread_local Pieces *mine;

static int64_t now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

Pieces *pieces_new(void) {
  Pieces *p = calloc(1, sizeof *p);
  if (!p) return NULL;
  pthread_mutex_init(&p->lock, NULL);
  pthread_cond_init(&p->changed, NULL);
  return p;
}

void pieces_free(Pieces *p) {
  pthread_cond_destroy(&p->changed);
  pthread_mutex_destroy(&p->lock);
  free(p);
}

// await returns when the run may continue, or is stopped.
static void await(Pieces *p) {
  while (!p->running && !p->stopped) pthread_cond_wait(&p->changed, &p->lock);
}

void pieces_begin(Pieces *p) {
  mine = p;
  pthread_mutex_lock(&p->lock);
  await(p);
  pthread_mutex_unlock(&p->lock);
}

void pieces_end(Pieces *p) {
  mine = NULL;
  pthread_mutex_lock(&p->lock);
  p->running = 0, p->ended = 1;
  pthread_cond_broadcast(&p->changed);
  pthread_mutex_unlock(&p->lock);
}

int pieces_divided(void) { return mine != NULL; }

int pieces_rest(void) {
  Pieces *p = mine;
  if (!p) return 1;
  pthread_mutex_lock(&p->lock);
  if (now() >= p->until) {
    p->running = 0;
    pthread_cond_broadcast(&p->changed);
    await(p);
  }
  int on = !p->stopped;
  pthread_mutex_unlock(&p->lock);
  return on;
}

int pieces_continue(Pieces *p, int64_t nanoseconds) {
  pthread_mutex_lock(&p->lock);
  p->until = now() + nanoseconds;
  if (!p->ended) p->running = 1;
  pthread_cond_broadcast(&p->changed);
  while (p->running) pthread_cond_wait(&p->changed, &p->lock);
  int ended = p->ended;
  pthread_mutex_unlock(&p->lock);
  return ended;
}

void pieces_stop(Pieces *p) {
  pthread_mutex_lock(&p->lock);
  p->stopped = 1;
  pthread_cond_broadcast(&p->changed);
  while (!p->ended) pthread_cond_wait(&p->changed, &p->lock);
  pthread_mutex_unlock(&p->lock);
}
