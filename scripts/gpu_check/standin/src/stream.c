// Streams and recordings. The waiting thread does the work.
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "standin.h"

enum { STREAMS = 64, NOT_OPEN = -1 };

// Work is a queued call of a function.
typedef struct Work {
  struct Work *next;
  void (*run)(const void *argument);
  size_t size;
  _Alignas(16) char argument[];
} Work;

typedef struct {
  Work *first, **end;
  int count;
} Queue;

// A Graph is a recording.
typedef struct {
  Queue work;
  long started;
} Graph;

typedef struct {
  pthread_mutex_t mutex;  // guards the fields below; held while work runs
  int device;
  Queue waiting;
  Graph *recording;  // null: not recording
  bool spoilt;       // the recording is invalid
} Stream;

// The first streams are the devices' default streams.
static Stream streams[STREAMS];

__attribute__((constructor)) static void init(void) {
  for (int i = 0; i < STREAMS; i++) {
    streams[i] = (Stream){.device = i < DEVICES ? i : NOT_OPEN};
    pthread_mutex_init(&streams[i].mutex, NULL);
    streams[i].waiting.end = &streams[i].waiting.first;
  }
}

static void push(Queue *q, void (*run)(const void *), const void *argument, size_t size) {
  Work *w = malloc(sizeof *w + size);
  *w = (Work){.run = run, .size = size};
  memcpy(w->argument, argument, size);
  *q->end = w;
  q->end = &w->next;
  q->count++;
}

// drain removes all work from a queue, and runs it unless forget is set.
static void drain(Queue *q, bool forget) {
  for (Work *w = q->first, *next; w; w = next) {
    next = w->next;
    if (!forget) w->run(w->argument);
    free(w);
  }
  *q = (Queue){.end = &q->first};
}

// lock locks a stream of the current device. It reports other streams and returns
// null.
static Stream *lock(void *stream) {
  Stream *s = stream ? stream : &streams[standin_current() < 0 ? 0 : standin_current()];
  pthread_mutex_lock(&s->mutex);
  if (s->device == standin_current() || !stream) return s;
  standin_wrong("a stream of device %d is used where device %d is current", s->device, standin_current());
  pthread_mutex_unlock(&s->mutex);
  return NULL;
}

static int unlock(Stream *s, int code) {
  pthread_mutex_unlock(&s->mutex);
  return code;
}

int standin_open_stream(void **stream) {
  for (Stream *s = streams + DEVICES; s < streams + STREAMS; s++) {
    pthread_mutex_lock(&s->mutex);
    bool mine = s->device == NOT_OPEN;
    if (mine) s->device = standin_current();
    pthread_mutex_unlock(&s->mutex);
    if (!mine) continue;
    *stream = s;
    return SUCCESS;
  }
  return OUT_OF_MEMORY;
}

int standin_close_stream(void *stream) {
  Stream *s = lock(stream);
  if (!s) return INVALID_HANDLE;
  drain(&s->waiting, false);
  s->device = NOT_OPEN;
  return unlock(s, SUCCESS);
}

int standin_start(void *stream, void (*run)(const void *argument), const void *argument, size_t size) {
  Stream *s = lock(stream);
  if (!s) return INVALID_HANDLE;
  push(s->recording ? &s->recording->work : &s->waiting, run, argument, size);
  return unlock(s, SUCCESS);
}

// finish runs the work of a locked stream.
static int finish(Stream *s) {
  if (s->recording) {
    standin_wrong("somebody waits for a stream of device %d that records", s->device);
    s->spoilt = true;
    return CAPTURE_UNSUPPORTED;
  }
  drain(&s->waiting, false);
  return SUCCESS;
}

int standin_wait(void *stream) {
  Stream *s = lock(stream);
  return s ? unlock(s, finish(s)) : INVALID_HANDLE;
}

int standin_wait_device(void) {
  int code = SUCCESS;
  for (Stream *s = streams; s < streams + STREAMS; s++) {
    pthread_mutex_lock(&s->mutex);
    int failed = s->device == standin_current() ? finish(s) : SUCCESS;
    pthread_mutex_unlock(&s->mutex);
    if (failed) code = failed;
  }
  return code;
}

typedef struct {
  void *to;
  const void *from;
  size_t size;
} Copy;

static void copy(const void *argument) {
  const Copy *c = argument;
  void *to = standin_memory(standin_device(c->to), c->to, c->size, "copy");
  void *from = standin_memory(standin_device(c->from), c->from, c->size, "copy");
  if (to && from) memcpy(to, from, c->size);
}

int standin_copy(void *to, const void *from, size_t size, void *stream) {
  if (standin_device(to) < 0 || standin_device(from) < 0) {
    standin_wrong("an asynchronous copy with memory that is not page-locked");
    return INVALID_VALUE;
  }
  Copy c = {to, from, size};
  return standin_start(stream, copy, &c, sizeof c);
}

// standin_copy_now copies in the default stream, through page-locked memory.
int standin_copy_now(void *to, const void *from, size_t size) {
  void *between;
  int code = standin_reserve(HOST, size, &between);
  if (code) return code;
  bool up = standin_device(to) >= 0, down = standin_device(from) >= 0;
  if (!down) memcpy(between, from, size);
  code = standin_copy(up ? to : between, down ? from : between, size, NULL);
  if (!code) code = standin_wait(NULL);
  if (!up) memcpy(to, between, size);
  int failed = standin_release(HOST, between);
  return code ? code : failed;
}

int standin_begin_capture(void *stream) {
  Stream *s = lock(stream);
  if (!s) return INVALID_HANDLE;
  if (s->recording) return unlock(s, INVALID_VALUE);
  s->recording = calloc(1, sizeof *s->recording);
  s->recording->work.end = &s->recording->work.first;
  s->spoilt = false;
  return unlock(s, SUCCESS);
}

int standin_end_capture(void *stream, void **graph) {
  Stream *s = lock(stream);
  if (!s) return INVALID_HANDLE;
  Graph *g = s->recording;
  s->recording = NULL;
  if (!g) return unlock(s, INVALID_VALUE);
  if (!s->spoilt) *graph = g;
  else standin_free_graph(g);
  return unlock(s, s->spoilt ? CAPTURE_INVALIDATED : SUCCESS);
}

int standin_start_graph(void *graph, void *stream) {
  Graph *g = graph;
  Stream *s = lock(stream);
  if (!s) return INVALID_HANDLE;
  for (const Work *w = g->work.first; w; w = w->next) push(&s->waiting, w->run, w->argument, w->size);
  g->started++;
  return unlock(s, SUCCESS);
}

void standin_free_graph(void *graph) {
  Graph *g = graph;
  standin_log("graph", "%d pieces of work, started %ld times", g->work.count, g->started);
  drain(&g->work, true);
  free(g);
}
