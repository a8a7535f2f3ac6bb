// The operators of the domain "dragoman", for ONNX Runtime's C API.
#ifndef DRAGOMAN_OPS_H
#define DRAGOMAN_OPS_H

#include "onnxruntime_c_api.h"

// dragoman_api finds the C API in ONNX Runtime's library, which is loaded already;
// null and a message where it is not there or too old.
const OrtApi *dragoman_api(const char *library, const char **message);
// dragoman_domain makes the domain with all operators. It must outlive every
// session that uses it.
OrtStatus *dragoman_domain(const OrtApi *api, OrtCustomOpDomain **domain);

// C function pointers cannot be called from Go.
OrtStatus *dragoman_add_domain(const OrtApi *api, OrtSessionOptions *options, OrtCustomOpDomain *domain);
// dragoman_cancel ends the loading of the session that options are in use for.
OrtStatus *dragoman_cancel(const OrtApi *api, OrtSessionOptions *options);
void dragoman_release_domain(const OrtApi *api, OrtCustomOpDomain *domain);
const char *dragoman_message(const OrtApi *api, OrtStatus *status);
void dragoman_release_status(const OrtApi *api, OrtStatus *status);

#endif
