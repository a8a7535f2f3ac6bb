// The kernels for both types of activations: name_f16 and name_f32.
#include "kernels.h"

#define T u16
#define NAME(x) x##_f16
#define LOAD half_to_float
#define STORE float_to_half
#include "rows.h"
#include "attention.h"
#include "candidates.h"
#undef T
#undef NAME
#undef LOAD
#undef STORE

#define T float
#define NAME(x) x##_f32
#define LOAD(x) (x)
#define STORE(x) (x)
#include "rows.h"
#include "attention.h"
#include "candidates.h"
#undef T
#undef NAME
#undef LOAD
#undef STORE
