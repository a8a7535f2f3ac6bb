#include "onnxruntime_c_api.h"

// add_constant has sessions take a constant from data. The value belongs to the caller.
static OrtStatus *add_constant(const OrtApi *api, OrtSessionOptions *options, const char *name, ONNXTensorElementDataType type,
                               const int64_t *shape, size_t rank, void *data, size_t bytes, OrtValue **value) {
  OrtMemoryInfo *memory;
  OrtStatus *status = api->CreateCpuMemoryInfo(OrtDeviceAllocator, OrtMemTypeDefault, &memory);
  if (status) return status;
  status = api->CreateTensorWithDataAsOrtValue(memory, data, bytes, shape, rank, type, value);
  api->ReleaseMemoryInfo(memory);
  return status ? status : api->AddInitializer(options, name, *value);
}

static void release_value(const OrtApi *api, OrtValue *value) { api->ReleaseValue(value); }
