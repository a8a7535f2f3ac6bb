// Memory of ONNX Runtime's sessions.
#ifndef DRAGOMAN_POOL_H
#define DRAGOMAN_POOL_H

#include <stdint.h>

#include "onnxruntime_c_api.h"

typedef struct Pool Pool;

// pool_new makes a pool and registers it with ONNX Runtime's environment.
OrtStatus *pool_new(const OrtApi *api, Pool **pool);
// pool_close releases the pool. No session may be left that uses it.
OrtStatus *pool_close(const OrtApi *api, Pool *pool);

// Between enter and leave, freed blocks are kept. The last one to leave gives them back, but
// for 4 MB.
void pool_enter(Pool *pool);
void pool_leave(Pool *pool);

// pool_kept is how many bytes of freed blocks are kept.
int64_t pool_kept(Pool *pool);
// pool_taken is what this thread has taken from pools and not freed, in bytes.
int64_t pool_taken(void);

#endif
