#include "api.h"

#include "operator.h"

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

void device_release_env(const OrtApi *api, OrtEnv *env) { api->ReleaseEnv(env); }
void device_release_options(const OrtApi *api, OrtSessionOptions *options) { api->ReleaseSessionOptions(options); }
void device_release_session(const OrtApi *api, OrtSession *session) { api->ReleaseSession(session); }
void device_release_run_options(const OrtApi *api, OrtRunOptions *options) { api->ReleaseRunOptions(options); }
void device_release_memory(const OrtApi *api, OrtMemoryInfo *memory) { api->ReleaseMemoryInfo(memory); }
void device_release_tensor(const OrtApi *api, OrtValue *value) { api->ReleaseValue(value); }
void device_release_binding(const OrtApi *api, OrtIoBinding *binding) { api->ReleaseIoBinding(binding); }
