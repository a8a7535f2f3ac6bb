// Many nodes as one: ONNX Runtime takes some microseconds for each node of a graph, which for small models and few rows is
// more than a tenth of a step.
#ifndef DRAGOMAN_CHAIN_H
#define DRAGOMAN_CHAIN_H

#include <stdint.h>

#include "onnxruntime_c_api.h"

// A Program is the nodes of a chain, in the order in which they run. Values have numbers: first the inputs of the chain,
// then its outputs, then those between its nodes.
typedef struct {
  const char *names;      // of the operators, a space behind each
  const int32_t *values;  // of each node how many inputs and outputs it has, and which; -1: left out
  int32_t nodes, count, inputs, outputs, total;
} Program;

typedef struct Chain Chain;

// chain_new makes an operator of a program, of which it keeps nothing. An attribute "a" of the n-th node is "n.a" of the chain.
OrtStatus *chain_new(const OrtApi *api, const Program *program, Chain **chain);
const OrtCustomOp *chain_operator(const Chain *chain);
void chain_free(Chain *chain);

#endif
