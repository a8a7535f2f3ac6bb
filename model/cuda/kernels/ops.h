// The kernels as operators of ONNX Runtime, in the domain "dragoman".
#ifndef DRAGOMAN_DEVICE_OPS_H
#define DRAGOMAN_DEVICE_OPS_H

#include "kernels.h"
#include "onnxruntime_c_api.h"

#define NUMBER(name, args) KERNEL_##name,
enum { DRAGOMAN_KERNELS(NUMBER) KERNELS };
#undef NUMBER

// The kernels as C functions, each for half and float.
extern void (*const dragoman_host_kernels[][2])(const void *args);
extern const char *const dragoman_kernel_names[KERNELS];

// A Family is the set of operators of one device, for all sessions on it.
typedef struct Family Family;

// dragoman_family makes the operators. launch is the driver's cuLaunchKernel;
// functions are the kernels of a module of the device, half before float. Without
// launch the operators run on the CPU.
OrtStatus *dragoman_family(const OrtApi *api, void *launch, void *const *functions, Family **family);
OrtCustomOpDomain *dragoman_family_domain(const Family *family);
void dragoman_release_family(Family *family);

#endif
