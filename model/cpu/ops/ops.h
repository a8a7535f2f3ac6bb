// The operators of the domain "dragoman", for ONNX Runtime's C API.
#ifndef DRAGOMAN_OPS_H
#define DRAGOMAN_OPS_H

#include "chain.h"
#include "onnxruntime_c_api.h"

// THREADS is the session option that says how many threads share the work of an operator.
#define THREADS "dragoman.threads"

// A Domain is the operators of a graph: some of those that there are, and a chain.
typedef struct {
  OrtCustomOpDomain *domain;
  Chain *chain;
} Domain;

// dragoman_domain makes the domain with the operators of these names, a space behind each, and the chain of a program; of no
// nodes: none. It must outlive every session that uses it. Names that no operator has are left to the session to refuse.
OrtStatus *dragoman_domain(const OrtApi *api, const char *names, const Program *program, Domain *domain);

void dragoman_release_domain(const OrtApi *api, Domain *domain);

// dragoman_end ends the threads that share the work of operators.
void dragoman_end(void);

#endif
