#include "session.h"

#include "library.h"
#include "operator.h"

OrtStatus *session_options(const OrtApi *api, const Setup *s, OrtSessionOptions **options) {
  TRY(api->CreateSessionOptions(options));
  if (s->domain) TRY(api->AddCustomOpDomain(*options, s->domain));
  // Shapes change from step to step, so ONNX Runtime could not reuse its memory
  // plans.
  TRY(api->DisableMemPattern(*options));
  TRY(api->SetIntraOpNumThreads(*options, s->threads));
  for (size_t i = 0; i < s->config.count; i++) TRY(api->AddSessionConfigEntry(*options, s->config.keys[i], s->config.values[i]));
  return NULL;
}

OrtStatus *session_provider(const OrtApi *api, const Setup *s, OrtSessionOptions *options) {
  if (!s->provider.count) return NULL;
  OrtCUDAProviderOptionsV2 *cuda;
  TRY(api->CreateCUDAProviderOptions(&cuda));
  OrtStatus *status = api->UpdateCUDAProviderOptions(cuda, s->provider.keys, s->provider.values, s->provider.count);
  if (!status) status = api->UpdateCUDAProviderOptionsWithValue(cuda, "user_compute_stream", s->stream);
  if (!status) status = api->SessionOptionsAppendExecutionProvider_CUDA_V2(options, cuda);
  api->ReleaseCUDAProviderOptions(cuda);
  return status;
}

OrtStatus *session_constant(const OrtApi *api, OrtSessionOptions *options, const char *name, int type, const int64_t *shape,
                            size_t rank, void *data, size_t bytes, OrtValue **value) {
  OrtMemoryInfo *memory;
  TRY(api->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &memory));
  OrtStatus *status = session_tensor(api, memory, data, bytes, shape, rank, type, value);
  api->ReleaseMemoryInfo(memory);
  return status ? status : api->AddInitializer(options, name, *value);
}

OrtStatus *session_new(const OrtApi *api, OrtEnv *env, const Setup *s, const OrtSessionOptions *options, OrtSession **session) {
  if (s->graph) return api->CreateSessionFromArray(env, s->graph, s->bytes, options, session);
#if defined(_WIN32)
  wchar_t *path = wide(s->path);
  OrtStatus *status = path ? api->CreateSession(env, path, options, session) : api->CreateStatus(ORT_FAIL, "out of memory");
  free(path);
  return status;
#else
  return api->CreateSession(env, s->path, options, session);
#endif
}

OrtStatus *session_cancel(const OrtApi *api, OrtSessionOptions *options) {
  return api->SessionOptionsSetLoadCancellationFlag(options, true);
}

OrtStatus *session_run_options(const OrtApi *api, OrtRunOptions **options) {
  TRY(api->CreateRunOptions(options));
  // The caller waits for the session's stream when it needs the results.
  return api->AddRunConfigEntry(*options, "disable_synchronize_execution_providers", "1");
}

OrtStatus *session_memory(const OrtApi *api, const char *name, int number, OrtMemoryInfo **memory) {
  return api->CreateMemoryInfo(name, OrtDeviceAllocator, number, OrtMemTypeDefault, memory);
}

OrtStatus *session_binding(const OrtApi *api, OrtSession *session, OrtIoBinding **binding) {
  return api->CreateIoBinding(session, binding);
}

OrtStatus *session_tensor(const OrtApi *api, const OrtMemoryInfo *memory, void *data, size_t bytes, const int64_t *shape,
                          size_t rank, int type, OrtValue **value) {
  return api->CreateTensorWithDataAsOrtValue(memory, data, bytes, shape, rank, (ONNXTensorElementDataType)type, value);
}

OrtStatus *session_bind(const OrtApi *api, OrtIoBinding *binding, const char *name, const OrtValue *value, int output) {
  return output ? api->BindOutput(binding, name, value) : api->BindInput(binding, name, value);
}

OrtStatus *session_run(const OrtApi *api, OrtSession *session, const OrtRunOptions *options, const OrtIoBinding *binding) {
  return api->RunWithBinding(session, options, binding);
}

void session_release_options(const OrtApi *api, OrtSessionOptions *options) { api->ReleaseSessionOptions(options); }
void session_release_value(const OrtApi *api, OrtValue *value) { api->ReleaseValue(value); }
void session_release_binding(const OrtApi *api, OrtIoBinding *binding) { api->ReleaseIoBinding(binding); }

void session_release(const OrtApi *api, OrtSession *session, OrtRunOptions *options, OrtMemoryInfo *memory) {
  api->ReleaseSession(session);
  api->ReleaseRunOptions(options);
  api->ReleaseMemoryInfo(memory);
}
