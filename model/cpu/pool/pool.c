#define _GNU_SOURCE
#include "pool.h"

#include <pthread.h>
#include <stdlib.h>

#include "memory.h"

enum {
  ALIGNMENT = 64,      // of allocations; a block's head lies this far before its allocation
  SMALL = 1 << 16,     // allocations below this size come from malloc
  CLASSES = 64,        // size classes, by the logarithm of the size
  MUCH_LARGER = 2,     // a request may reuse a block this many classes above its own
  KEPT = 1 << 22,      // bytes kept while no session runs, so that a short sentence needs no new pages
};

// Block is the head of a block of memory.
typedef struct Block {
  struct Block *next;  // next kept block of the class
  size_t mapped;       // size in bytes, including the head; 0: from malloc
  size_t size;         // requested bytes
} Block;
_Static_assert(sizeof(Block) <= ALIGNMENT, "the head of a block fits before it");

// Kept holds the freed blocks that the pool keeps.
typedef struct {
  Block *blocks[CLASSES];
  int64_t bytes;
} Kept;

struct Pool {
  OrtAllocator base;  // first: ONNX Runtime passes the pool as its OrtAllocator
  OrtMemoryInfo *info;
  OrtEnv *env;
  pthread_mutex_t lock;  // guards the fields below
  Kept kept;
  int users;
};

static _Thread_local int64_t taken;
int64_t pool_taken(void) { return taken; }

// class_of returns the class of the smallest blocks that hold size bytes.
static int class_of(size_t size) { return CLASSES - __builtin_clzll(size - 1); }

static Block *map(size_t bytes) {
  Block *b = pages_take(bytes);
  if (b) b->mapped = bytes;
  return b;
}

// keep adds a block to the kept ones. It returns false, and keeps nothing, if the pool has
// no users.
static int keep(Pool *pool, Block *b) {
  pthread_mutex_lock(&pool->lock);
  int kept = pool->users > 0;
  if (kept) {
    Block **list = &pool->kept.blocks[class_of(b->mapped)];
    b->next = *list;
    *list = b;
    pool->kept.bytes += b->mapped;
  }
  pthread_mutex_unlock(&pool->lock);
  return kept;
}

// reuse takes a kept block of the class or a little above; NULL if there is none.
static Block *reuse(Pool *pool, int class) {
  Block *b = NULL;
  pthread_mutex_lock(&pool->lock);
  for (int c = class; c <= class + MUCH_LARGER && c < CLASSES && !b; c++) {
    b = pool->kept.blocks[c];
    if (b) {
      pool->kept.blocks[c] = b->next;
      pool->kept.bytes -= b->mapped;
    }
  }
  pthread_mutex_unlock(&pool->lock);
  return b;
}

static void *take(OrtAllocator *base, size_t size) {
  Pool *pool = (Pool *)base;
  if (size == 0 || size > SIZE_MAX / 4) return NULL;
  Block *b = NULL;
  if (size < SMALL) {
    b = aligned_take(ALIGNMENT, size + ALIGNMENT);
    if (!b) return NULL;
    b->mapped = 0;
  } else {
    int class = class_of(size + ALIGNMENT);
    b = reuse(pool, class);
    if (!b) b = map((size_t)1 << class);
    if (!b) return NULL;
  }
  b->size = size;
  taken += size;
  return (char *)b + ALIGNMENT;
}

static void give(OrtAllocator *pool, void *p) {
  if (!p) return;
  Block *b = (Block *)((char *)p - ALIGNMENT);
  taken -= b->size;
  if (!b->mapped)
    aligned_give(b);
  else if (!keep((Pool *)pool, b))
    pages_give(b, b->mapped);
}

static const OrtMemoryInfo *info_of(const OrtAllocator *pool) { return ((const Pool *)pool)->info; }

void pool_enter(Pool *pool) {
  pthread_mutex_lock(&pool->lock);
  pool->users++;
  pthread_mutex_unlock(&pool->lock);
}

// rest removes kept blocks and returns them. Blocks of `most` bytes in all stay, small
// blocks first.
static Kept rest(Kept *kept, int64_t most) {
  Kept unneeded = {0};
  int64_t bytes = 0;
  for (int c = 0; c < CLASSES; c++)
    for (Block **at = &kept->blocks[c], *b = *at; b; b = *at) {
      if (bytes + (int64_t)b->mapped <= most) {
        bytes += b->mapped;
        at = &b->next;
        continue;
      }
      *at = b->next;
      b->next = unneeded.blocks[c];
      unneeded.blocks[c] = b;
    }
  kept->bytes = bytes;
  return unneeded;
}

static void unmap(Kept unneeded) {
  for (int c = 0; c < CLASSES; c++)
    for (Block *b = unneeded.blocks[c]; b;) {
      Block *next = b->next;
      pages_give(b, b->mapped);
      b = next;
    }
}

void pool_leave(Pool *pool) {
  Kept unneeded = {0};
  pthread_mutex_lock(&pool->lock);
  if (--pool->users == 0) unneeded = rest(&pool->kept, KEPT);
  pthread_mutex_unlock(&pool->lock);
  unmap(unneeded);
}

int64_t pool_kept(Pool *pool) {
  pthread_mutex_lock(&pool->lock);
  int64_t bytes = pool->kept.bytes;
  pthread_mutex_unlock(&pool->lock);
  return bytes;
}

// set_up fills in a pool. On error the fields that it has set stay for release.
static OrtStatus *set_up(const OrtApi *api, Pool *pool) {
  // The process's environment exists already: this only counts one more user.
  OrtStatus *status = api->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "dragoman", &pool->env);
  if (!status) status = api->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &pool->info);
  return status ? status : api->RegisterAllocator(pool->env, &pool->base);
}

static void release(const OrtApi *api, Pool *pool) {
  unmap(rest(&pool->kept, 0));
  if (pool->info) api->ReleaseMemoryInfo(pool->info);
  if (pool->env) api->ReleaseEnv(pool->env);
  pthread_mutex_destroy(&pool->lock);
  free(pool);
}

OrtStatus *pool_new(const OrtApi *api, Pool **out) {
  Pool *pool = calloc(1, sizeof *pool);
  if (!pool) return api->CreateStatus(ORT_FAIL, "out of memory");
  pool->base = (OrtAllocator){
      .version = ORT_API_VERSION, .Alloc = take, .Reserve = take, .Free = give, .Info = info_of};
  pthread_mutex_init(&pool->lock, NULL);
  OrtStatus *status = set_up(api, pool);
  if (status)
    release(api, pool);
  else
    *out = pool;
  return status;
}

OrtStatus *pool_close(const OrtApi *api, Pool *pool) {
  OrtStatus *status = api->UnregisterAllocator(pool->env, pool->info);
  release(api, pool);
  return status;
}
