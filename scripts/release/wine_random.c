// bcryptprimitives.dll, which Go's runtime needs and Wine has since version 9.
#include <windows.h>

BOOLEAN NTAPI SystemFunction036(PVOID p, ULONG n);

__declspec(dllexport) BOOL WINAPI ProcessPrng(PBYTE p, SIZE_T n) { return SystemFunction036(p, n); }
