// The part of ONNX Runtime's C API that onnxruntime_go has no call for: sessions on a
// stream of our own, and tensors in the memory of a device. C function pointers cannot
// be called from Go.
#ifndef DRAGOMAN_DEVICE_API_H
#define DRAGOMAN_DEVICE_API_H

#include "onnxruntime_c_api.h"

// Setup is how a session runs.
typedef struct {
  const char *model;  // path
  OrtCustomOpDomain *domain;
  int threads;
  // Options of the CUDA provider; no keys: the CPU provider.
  const char *const *keys, *const *values;
  size_t count;
  void *stream;
} Setup;

OrtStatus *device_env(const OrtApi *api, OrtEnv **env);
OrtStatus *device_options(const OrtApi *api, const Setup *setup, OrtSessionOptions **options);
// device_provider adds the CUDA provider to options, where setup asks for it.
OrtStatus *device_provider(const OrtApi *api, const Setup *setup, OrtSessionOptions *options);
OrtStatus *device_session(const OrtApi *api, OrtEnv *env, const Setup *setup, const OrtSessionOptions *options, OrtSession **session);
OrtStatus *device_run_options(const OrtApi *api, OrtRunOptions **options);
OrtStatus *device_memory(const OrtApi *api, const char *name, int number, OrtMemoryInfo **memory);
OrtStatus *device_tensor(const OrtApi *api, const OrtMemoryInfo *memory, void *data, size_t bytes, const int64_t *shape,
                         size_t rank, int type, OrtValue **value);
OrtStatus *device_binding(const OrtApi *api, OrtSession *session, OrtIoBinding **binding);
OrtStatus *device_bind(const OrtApi *api, OrtIoBinding *binding, const char *name, const OrtValue *value, int output);
OrtStatus *device_run(const OrtApi *api, OrtSession *session, const OrtRunOptions *options, const OrtIoBinding *binding);

void device_release_env(const OrtApi *api, OrtEnv *env);
void device_release_options(const OrtApi *api, OrtSessionOptions *options);
void device_release_session(const OrtApi *api, OrtSession *session);
void device_release_run_options(const OrtApi *api, OrtRunOptions *options);
void device_release_memory(const OrtApi *api, OrtMemoryInfo *memory);
void device_release_tensor(const OrtApi *api, OrtValue *value);
void device_release_binding(const OrtApi *api, OrtIoBinding *binding);

#endif
