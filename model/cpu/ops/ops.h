// The operators of the domain "dragoman", for ONNX Runtime's C API.
#ifndef DRAGOMAN_OPS_H
#define DRAGOMAN_OPS_H

#include "onnxruntime_c_api.h"

// THREADS is the session option that says how many threads share the work of an operator.
#define THREADS "dragoman.threads"

// dragoman_domain makes the domain with the operators of these names, each of which is between
// spaces. It must outlive every session that uses it.
OrtStatus *dragoman_domain(const OrtApi *api, const char *names, OrtCustomOpDomain **domain);

// C function pointers cannot be called from Go.
void dragoman_release_domain(const OrtApi *api, OrtCustomOpDomain *domain);

// dragoman_end ends the threads that share the work of operators.
void dragoman_end(void);

#endif
