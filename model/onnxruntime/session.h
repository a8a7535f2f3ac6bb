// Sessions, and tensors in the memory of a device, with ONNX Runtime's C API, whose function
// pointers Go cannot call.
#ifndef DRAGOMAN_SESSION_H
#define DRAGOMAN_SESSION_H

#include "onnxruntime_c_api.h"

// Pairs are named options.
typedef struct {
  const char *const *keys, *const *values;
  size_t count;
} Pairs;

// Setup configures a session.
typedef struct {
  const char *path;   // of the graph's file
  const void *graph;  // or the graph in memory
  size_t bytes;       // size of graph
  OrtCustomOpDomain *domain;
  int threads;
  Pairs config;
  Pairs provider;  // options of the CUDA provider; empty: the CPU provider
  void *stream;
} Setup;

OrtStatus *session_options(const OrtApi *api, const Setup *setup, OrtSessionOptions **options);
// session_provider adds the CUDA provider to options if setup has options for it.
OrtStatus *session_provider(const OrtApi *api, const Setup *setup, OrtSessionOptions *options);
// session_constant makes a constant of sessions use data. The caller must release the value.
OrtStatus *session_constant(const OrtApi *api, OrtSessionOptions *options, const char *name, int type, const int64_t *shape,
                            size_t rank, void *data, size_t bytes, OrtValue **value);
OrtStatus *session_new(const OrtApi *api, OrtEnv *env, const Setup *setup, const OrtSessionOptions *options, OrtSession **session);
// session_cancel interrupts the loading of a session with these options.
OrtStatus *session_cancel(const OrtApi *api, OrtSessionOptions *options);
OrtStatus *session_run_options(const OrtApi *api, OrtRunOptions **options);
OrtStatus *session_memory(const OrtApi *api, const char *name, int number, OrtMemoryInfo **memory);
OrtStatus *session_binding(const OrtApi *api, OrtSession *session, OrtIoBinding **binding);
OrtStatus *session_tensor(const OrtApi *api, const OrtMemoryInfo *memory, void *data, size_t bytes, const int64_t *shape,
                          size_t rank, int type, OrtValue **value);
OrtStatus *session_bind(const OrtApi *api, OrtIoBinding *binding, const char *name, const OrtValue *value, int output);
OrtStatus *session_run(const OrtApi *api, OrtSession *session, const OrtRunOptions *options, const OrtIoBinding *binding);

// These functions accept NULL.
void session_release_options(const OrtApi *api, OrtSessionOptions *options);
void session_release_value(const OrtApi *api, OrtValue *value);
void session_release_binding(const OrtApi *api, OrtIoBinding *binding);
void session_release(const OrtApi *api, OrtSession *session, OrtRunOptions *options, OrtMemoryInfo *memory);

#endif
