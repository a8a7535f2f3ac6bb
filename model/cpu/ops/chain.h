// Many nodes as one: ONNX Runtime takes some microseconds for each node of a graph, more than a tenth of a step for small models
// and few rows.
#ifndef DRAGOMAN_CHAIN_H
#define DRAGOMAN_CHAIN_H

#include <stdint.h>

#include "onnxruntime_c_api.h"

// A Program has the nodes of a chain, in the order of execution. Values are numbered: first the inputs of the chain, then its
// outputs, then the values between its nodes.
typedef struct {
  const char *names;      // of the operators, each followed by a space
  const int32_t *values;  // for each node its number of inputs and of outputs, and their value numbers; -1: left out
  int32_t nodes, count, inputs, outputs, total;
} Program;

typedef struct Chain Chain;

// chain_new creates the operator of a program, which it copies. An attribute "a" of the n-th node is "n.a" of the chain.
OrtStatus *chain_new(const OrtApi *api, const Program *program, Chain **chain);
const OrtCustomOp *chain_operator(const Chain *chain);
void chain_free(Chain *chain);

#endif
