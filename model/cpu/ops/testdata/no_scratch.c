// Runs a task whose parts get no scratch, on several threads. It prints the task's error, and its exit status is 0 if the task
// fails.
#include "call.h"

int posix_memalign(void **memory, size_t alignment, size_t size) {
  (void)memory, (void)alignment, (void)size;
  return 12; // ENOMEM
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
  OrtApi api = {.CreateStatus = status};
  Node node = {.threads = 4};
  threads_grow(node.threads);
  Task t = {.item = item, .items = 16, .scratch = 64};
  return run((Call){&api, NULL, &node}, &t, 1 << 20) == NULL;
}
