// Runs a task whose parts get no scratch, each on a thread of its own. It prints how the
// task fails, and its exit status is 0 where it does.
#include <pthread.h>

#include "call.h"

int posix_memalign(void **memory, size_t alignment, size_t size) {
  (void)memory, (void)alignment, (void)size;
  return 12; // ENOMEM
}

typedef struct {
  void (*part)(void *, size_t);
  void *task;
  size_t i;
} Part;

static void *on_thread(void *p) {
  Part *x = p;
  x->part(x->task, x->i);
  return NULL;
}

static OrtStatus *parallel_for(const OrtKernelContext *context, void (*part)(void *, size_t), size_t n, size_t batches, void *task) {
  pthread_t threads[n];
  Part parts[n];
  (void)context, (void)batches;
  for (size_t i = 0; i < n; i++) {
    parts[i] = (Part){part, task, i};
    if (pthread_create(&threads[i], NULL, on_thread, &parts[i])) abort();
  }
  for (size_t i = 0; i < n; i++) pthread_join(threads[i], NULL);
  return NULL;
}

static OrtStatus *status(OrtErrorCode code, const char *message) {
  (void)code;
  puts(message);
  return (OrtStatus *)message;
}

static void item(Task *t, int64_t i, void *scratch) {
  (void)t, (void)i, (void)scratch;
  abort(); // it has no scratch
}

int main(void) {
  OrtApi api = {.CreateStatus = status, .KernelContext_ParallelFor = parallel_for};
  Task t = {.item = item, .items = 16, .scratch = 64};
  return run((Call){&api, NULL, NULL}, &t, 1 << 20) == NULL;
}
