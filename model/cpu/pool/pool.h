// Memory of ONNX Runtime's sessions.
#ifndef DRAGOMAN_POOL_H
#define DRAGOMAN_POOL_H

#include <stdint.h>

#include "onnxruntime_c_api.h"

// Use is what memory is used for.
typedef enum { LOADING, RUNNING, USES } Use;

typedef struct Pool Pool;

// pool_new makes a pool and registers it with ONNX Runtime's environment.
OrtStatus *pool_new(const OrtApi *api, Pool **pool);
// pool_close releases the pool. No session may be left that uses it.
OrtStatus *pool_close(const OrtApi *api, Pool *pool);

// Between enter and leave, freed blocks of a use are kept. The last one to leave gives
// them back, but for 4 MB of what runs have used.
void pool_enter(Pool *pool, Use use);
void pool_leave(Pool *pool, Use use);

// pool_kept is how many bytes of freed blocks are kept.
int64_t pool_kept(Pool *pool, Use use);
// pool_taken is what this thread has taken from pools and not freed, in bytes.
int64_t pool_taken(void);

#endif
