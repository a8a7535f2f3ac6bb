// The kernels as operators of ONNX Runtime, in the domain "dragoman".
#ifndef DRAGOMAN_DEVICE_OPS_H
#define DRAGOMAN_DEVICE_OPS_H

#include "kernels.h"
#include "onnxruntime_c_api.h"

#define NUMBER(name, args) KERNEL_##name,
enum { DRAGOMAN_KERNELS(NUMBER) KERNELS };
#undef NUMBER

// The kernels as C functions, each for half and for float.
extern void (*const dragoman_host_kernels[][2])(const void *args);
extern const char *const dragoman_kernel_names[KERNELS];

// A Family is the operators of one device, for the sessions that run on it.
typedef struct Family Family;

// dragoman_family makes the operators. launch is the driver's cuLaunchKernel and
// functions the kernels in a module of the device, half before float; without launch
// the operators are of the CPU.
OrtStatus *dragoman_family(const OrtApi *api, void *launch, void *const *functions, Family **family);
OrtCustomOpDomain *dragoman_family_domain(const Family *family);
void dragoman_release_family(Family *family);

#endif
