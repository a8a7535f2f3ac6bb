// The operators of the domain "dragoman", for ONNX Runtime's C API.
#ifndef DRAGOMAN_OPS_H
#define DRAGOMAN_OPS_H

#include "chain.h"
#include "onnxruntime_c_api.h"

// THREADS is the session option with the number of threads that share the work of an operator.
#define THREADS "dragoman.threads"

// A Domain has the operators of a graph: some of the operators, and a chain.
typedef struct {
  OrtCustomOpDomain *domain;
  Chain *chain;
} Domain;

// dragoman_domain creates the domain with the named operators, each name followed by a space, and the chain of a program, unless
// it has no nodes. It must outlive every session that uses it. Unknown names are left to the session to refuse.
OrtStatus *dragoman_domain(const OrtApi *api, const char *names, const Program *program, Domain *domain);

void dragoman_release_domain(const OrtApi *api, Domain *domain);

// dragoman_end ends the threads that share the work of operators.
void dragoman_end(void);

#endif
