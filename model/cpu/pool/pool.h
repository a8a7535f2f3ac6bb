// Memory of ONNX Runtime's sessions.
#ifndef DRAGOMAN_POOL_H
#define DRAGOMAN_POOL_H

#include <stdint.h>

#include "onnxruntime_c_api.h"

typedef struct Pool Pool;

// pool_new makes a pool and registers it with ONNX Runtime's environment.
OrtStatus *pool_new(const OrtApi *api, Pool **pool);
// pool_close releases the pool. All sessions that use it must be closed before.
OrtStatus *pool_close(const OrtApi *api, Pool *pool);

// Between enter and leave, the pool keeps freed blocks. The last call of leave releases all
// but 4 MB.
void pool_enter(Pool *pool);
void pool_leave(Pool *pool);

// pool_kept returns the bytes of the kept blocks.
int64_t pool_kept(Pool *pool);
// pool_taken returns the bytes that this thread has allocated from pools and not freed.
int64_t pool_taken(void);

#endif
