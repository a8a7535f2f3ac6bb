// The devices' memory, the faults and the log.
#define _GNU_SOURCE
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "standin.h"

#define GIB ((size_t)1 << 30)
#define REGION (64 * GIB)  // address space of a device; each address is used once
#define PAGE ((size_t)4096)
enum { LINE = 512, NAN_BYTE = 0xff };

// A Block is an allocation.
typedef struct Block {
  char *address;
  size_t size;
  struct Block *next;
} Block;

// A Region is the address space of a device. Its contents lie `shift` bytes
// further: the addresses themselves cannot be read or written, except for HOST's,
// whose shift is 0.
typedef struct {
  char *begin, *next;
  size_t shift, used;
  Block *blocks;
} Region;

static Region regions[DEVICES + 1];
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;  // guards regions
static _Thread_local int current = -1;
static atomic_int lost[DEVICES];  // the error that lost the device, or 0
static atomic_int matched;        // calls so far that match the fault

static void *map(size_t size, int protection) {
  void *p = mmap(NULL, size, protection, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (p == MAP_FAILED) abort();
  return p;
}

__attribute__((constructor)) static void init(void) {
  for (int i = 0; i <= DEVICES; i++) {
    Region *r = &regions[i];
    r->shift = i == HOST ? 0 : REGION;
    r->begin = r->next = map(REGION + r->shift, PROT_READ | PROT_WRITE);
    if (r->shift && mprotect(r->begin, REGION, PROT_NONE)) abort();
  }
}

void standin_log(const char *kind, const char *format, ...) {
  char text[LINE];
  va_list values;
  va_start(values, format);
  vsnprintf(text, sizeof text, format, values);
  va_end(values);
  const char *path = getenv("STANDIN_LOG");
  int file = path ? open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0644) : STDERR_FILENO;
  dprintf(file, "%s: %s\n", kind, text);
  if (path) close(file);
}

int standin_current(void) { return current; }
void standin_set_current(int device) { current = device; }

int standin_fault(const char *call) {
  int device = current < 0 ? 0 : current;
  if (lost[device]) return lost[device];
  const char *path = getenv("STANDIN_FAULT");
  FILE *file = path ? fopen(path, "re") : NULL;
  if (!file) return SUCCESS;
  char name[64];
  int code, which, after;
  bool meant = fscanf(file, "%63s %d %d %d", name, &code, &which, &after) == 4 && !strcmp(name, call) && which == device;
  fclose(file);
  if (!meant || matched++ < after) return SUCCESS;
  if (code >= LOST_FROM && code <= LOST_TO) lost[device] = code;
  return code;
}

int standin_devices(void) {
  const char *text = getenv("STANDIN_DEVICES");
  return text ? atoi(text) : DEVICES;
}

size_t standin_total(void) {
  const char *text = getenv("STANDIN_MEMORY");
  return text ? strtoull(text, NULL, 10) : 4 * GIB;
}

size_t standin_free(int device) {
  pthread_mutex_lock(&mutex);
  size_t used = regions[device].used;
  pthread_mutex_unlock(&mutex);
  return standin_total() - used;
}

int standin_reserve(int device, size_t size, void **address) {
  Region *r = &regions[device];
  // An unused page between blocks catches accesses past the end of a block.
  size_t taken = (size + PAGE - 1) / PAGE * PAGE, step = taken + PAGE;
  pthread_mutex_lock(&mutex);
  bool fits = device == HOST || r->used + taken <= standin_total();
  if (!fits || r->next + step > r->begin + REGION) {
    pthread_mutex_unlock(&mutex);
    return OUT_OF_MEMORY;
  }
  Block *b = malloc(sizeof *b);
  *b = (Block){r->next, size, r->blocks};
  r->blocks = b;
  r->next += step;
  r->used += taken;
  pthread_mutex_unlock(&mutex);
  memset(b->address + r->shift, NAN_BYTE, size);
  *address = b->address;
  return SUCCESS;
}

int standin_release(int device, void *address) {
  if (!address) return SUCCESS;
  int code = standin_wait_device();
  if (code) return code;
  Region *r = &regions[device];
  pthread_mutex_lock(&mutex);
  Block **b = &r->blocks;
  while (*b && (*b)->address != address) b = &(*b)->next;
  Block *found = *b;
  if (found) {
    size_t taken = (found->size + PAGE - 1) / PAGE * PAGE;
    *b = found->next;
    r->used -= taken;
    madvise(found->address + r->shift, taken, MADV_DONTNEED);
    free(found);
  }
  pthread_mutex_unlock(&mutex);
  if (found) return SUCCESS;
  standin_wrong("memory is given back that device %d has not reserved", device);
  return INVALID_VALUE;
}

int standin_device(const void *address) {
  for (int i = 0; i <= DEVICES; i++)
    if ((char *)address >= regions[i].begin && (char *)address < regions[i].begin + REGION) return i;
  return -1;
}

void *standin_memory(int device, const void *address, size_t size, const char *who) {
  const char *p = address;
  const Region *r = &regions[device];
  bool there = false;
  pthread_mutex_lock(&mutex);
  for (const Block *b = r->blocks; b && !there; b = b->next) there = p >= b->address && p + size <= b->address + b->size;
  pthread_mutex_unlock(&mutex);
  if (there) return (char *)address + r->shift;
  standin_wrong("%s: device %d has no %zu bytes reserved at %p", who, device, size, address);
  return NULL;
}

void standin_leftovers(int device) {
  int blocks = 0;
  pthread_mutex_lock(&mutex);
  for (const Block *b = regions[device].blocks; b; b = b->next) blocks++;
  pthread_mutex_unlock(&mutex);
  if (blocks && !lost[device]) standin_wrong("device %d is released with %d pieces of memory", device, blocks);
}
