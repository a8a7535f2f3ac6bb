package cputest

// #cgo CFLAGS: -O2 -std=gnu11 -Wall -I${SRCDIR}/../../onnxruntime/include
// #include "onnxruntime_c_api.h"
// static OrtStatus *add_domain(const OrtApi *api, void *options, void *domain) {
//   return api->AddCustomOpDomain((OrtSessionOptions *)options, (OrtCustomOpDomain *)domain);
// }
import "C"

import (
	"reflect"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	ort "github.com/yalue/onnxruntime_go"

	"dragoman/model/onnxruntime"
)

// Environment initializes onnxruntime_go, whose sessions allocate their outputs.
func Environment(t testing.TB) {
	t.Helper()
	Runtime(t)
	if !ort.IsInitialized() {
		ort.SetSharedLibraryPath(Library())
		require.NoError(t, ort.InitializeEnvironment(ort.WithLogLevelFatal()))
	}
}

// Register adds the operators and threads of a setup to the options of a session of onnxruntime_go.
func Register(t testing.TB, api *onnxruntime.API, options *ort.SessionOptions, setup onnxruntime.Setup) {
	t.Helper()
	for key, value := range setup.Config {
		require.NoError(t, options.AddSessionConfigEntry(key, value))
	}
	require.NoError(t, options.SetIntraOpNumThreads(setup.Threads))
	fields := reflect.TypeOf(*options)
	require.True(t, fields.NumField() == 1 && fields.Field(0).Type.Kind() == reflect.Pointer, "one pointer, to an OrtSessionOptions")
	handle := *(*unsafe.Pointer)(unsafe.Pointer(options))
	require.NoError(t, api.Err(unsafe.Pointer(C.add_domain((*C.OrtApi)(api.Pointer()), handle, setup.Domain))))
}
