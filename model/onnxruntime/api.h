// ONNX Runtime's API consists of C function pointers, which Go cannot call.
#include "library.h"
#include "onnxruntime_c_api.h"

// load finds the API in a library. It returns null and a message if the library is
// missing or too old.
static const OrtApi *load(const char *library, const char **version, const char **message) {
  void *handle = library_open(library, 0, message);
  if (!handle) return NULL;
  // The handle is never closed: the library must stay loaded while its API is in use.
  const OrtApiBase *(*base)(void) = (const OrtApiBase *(*)(void))library_find(handle, "OrtGetApiBase");
  if (!base) {
    *message = "it has no OrtGetApiBase";
    return NULL;
  }
  *version = base()->GetVersionString();
  const OrtApi *api = base()->GetApi(ORT_API_VERSION);
  if (!api) *message = "its C API is older";
  return api;
}

static const char *message(const OrtApi *api, OrtStatus *status) { return api->GetErrorMessage(status); }
static void release(const OrtApi *api, OrtStatus *status) { api->ReleaseStatus(status); }

static OrtStatus *new_env(const OrtApi *api, OrtEnv **env) { return api->CreateEnv(ORT_LOGGING_LEVEL_FATAL, "dragoman", env); }
static void release_env(const OrtApi *api, OrtEnv *env) { api->ReleaseEnv(env); }
