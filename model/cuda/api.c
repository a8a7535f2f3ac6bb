#include "api.h"

#include <dlfcn.h>

#define TRY(call)                   \
  do {                              \
    OrtStatus *status_ = (call);    \
    if (status_) return status_;    \
  } while (0)

static const OrtApiBase *base_of(const char *library, const char **message) {
  void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
  if (!handle) handle = dlopen(library, RTLD_LAZY);
  if (!handle) {
    *message = dlerror();
    return NULL;
  }
  // The handle is kept: the library stays loaded as long as its API is in use.
  const OrtApiBase *(*base)(void) = (const OrtApiBase *(*)(void))dlsym(handle, "OrtGetApiBase");
  if (!base) *message = "it has no OrtGetApiBase";
  return base ? base() : NULL;
}

const OrtApi *device_api(const char *library, const char **message) {
  const OrtApiBase *base = base_of(library, message);
  if (!base) return NULL;
  const OrtApi *api = base->GetApi(ORT_API_VERSION);
  if (!api) *message = "it does not offer the C API of version 1.24 or newer";
  return api;
}

const char *device_version(const char *library) {
  const char *message;
  const OrtApiBase *base = base_of(library, &message);
  return base ? base->GetVersionString() : "";
}

OrtStatus *device_env(const OrtApi *api, OrtEnv **env) { return api->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "dragoman", env); }

OrtStatus *device_options(const OrtApi *api, const Setup *s, OrtSessionOptions **options) {
  TRY(api->CreateSessionOptions(options));
  TRY(api->AddCustomOpDomain(*options, s->domain));
  TRY(api->DisableMemPattern(*options));
  TRY(api->SetIntraOpNumThreads(*options, s->threads));
  TRY(api->AddSessionConfigEntry(*options, "session.intra_op.allow_spinning", "0"));
  // Weights take what they need, and nothing of what the arena may grow to.
  TRY(api->AddSessionConfigEntry(*options, "session.use_device_allocator_for_initializers", "1"));
  if (s->count) TRY(api->AddSessionConfigEntry(*options, "session.disable_cpu_ep_fallback", "1"));
  return NULL;
}

OrtStatus *device_provider(const OrtApi *api, const Setup *s, OrtSessionOptions *options) {
  if (!s->count) return NULL;
  OrtCUDAProviderOptionsV2 *cuda;
  TRY(api->CreateCUDAProviderOptions(&cuda));
  OrtStatus *status = api->UpdateCUDAProviderOptions(cuda, s->keys, s->values, s->count);
  if (!status) status = api->UpdateCUDAProviderOptionsWithValue(cuda, "user_compute_stream", s->stream);
  if (!status) status = api->SessionOptionsAppendExecutionProvider_CUDA_V2(options, cuda);
  api->ReleaseCUDAProviderOptions(cuda);
  return status;
}

OrtStatus *device_session(const OrtApi *api, OrtEnv *env, const Setup *s, const OrtSessionOptions *options, OrtSession **session) {
  return api->CreateSession(env, s->model, options, session);
}

OrtStatus *device_cancel(const OrtApi *api, OrtSessionOptions *options) {
  return api->SessionOptionsSetLoadCancellationFlag(options, true);
}

OrtStatus *device_run_options(const OrtApi *api, OrtRunOptions **options) {
  TRY(api->CreateRunOptions(options));
  // Who runs a session waits for the stream when it needs the results.
  return api->AddRunConfigEntry(*options, "disable_synchronize_execution_providers", "1");
}

OrtStatus *device_memory(const OrtApi *api, const char *name, int number, OrtMemoryInfo **memory) {
  return api->CreateMemoryInfo(name, OrtDeviceAllocator, number, OrtMemTypeDefault, memory);
}

OrtStatus *device_tensor(const OrtApi *api, const OrtMemoryInfo *memory, void *data, size_t bytes, const int64_t *shape,
                         size_t rank, int type, OrtValue **value) {
  return api->CreateTensorWithDataAsOrtValue(memory, data, bytes, shape, rank, (ONNXTensorElementDataType)type, value);
}

OrtStatus *device_binding(const OrtApi *api, OrtSession *session, OrtIoBinding **binding) {
  return api->CreateIoBinding(session, binding);
}

OrtStatus *device_bind(const OrtApi *api, OrtIoBinding *binding, const char *name, const OrtValue *value, int output) {
  return output ? api->BindOutput(binding, name, value) : api->BindInput(binding, name, value);
}

OrtStatus *device_run(const OrtApi *api, OrtSession *session, const OrtRunOptions *options, const OrtIoBinding *binding) {
  return api->RunWithBinding(session, options, binding);
}

const char *device_message(const OrtApi *api, const OrtStatus *status) { return api->GetErrorMessage(status); }
void device_release_status(const OrtApi *api, OrtStatus *status) { api->ReleaseStatus(status); }
void device_release_env(const OrtApi *api, OrtEnv *env) { api->ReleaseEnv(env); }
void device_release_options(const OrtApi *api, OrtSessionOptions *options) { api->ReleaseSessionOptions(options); }
void device_release_session(const OrtApi *api, OrtSession *session) { api->ReleaseSession(session); }
void device_release_run_options(const OrtApi *api, OrtRunOptions *options) { api->ReleaseRunOptions(options); }
void device_release_memory(const OrtApi *api, OrtMemoryInfo *memory) { api->ReleaseMemoryInfo(memory); }
void device_release_tensor(const OrtApi *api, OrtValue *value) { api->ReleaseValue(value); }
void device_release_binding(const OrtApi *api, OrtIoBinding *binding) { api->ReleaseIoBinding(binding); }
