// Shared libraries, by paths in UTF-8. They are never unloaded.
#ifndef DRAGOMAN_LIBRARY_H
#define DRAGOMAN_LIBRARY_H

#if defined(_WIN32)
#include <stdio.h>
#include <stdlib.h>
#include <windows.h>

// wide converts a text to UTF-16, for Windows. The caller must free it. It returns null without memory.
static inline wchar_t *wide(const char *text) {
  int n = MultiByteToWideChar(CP_UTF8, 0, text, -1, NULL, 0);
  wchar_t *w = calloc(n + 1, sizeof *w);
  if (w) MultiByteToWideChar(CP_UTF8, 0, text, -1, w, n);
  return w;
}

// library_open loads a library and the libraries beside it that it needs. If global is set, other libraries can use
// its symbols. It returns null and a message on failure.
static inline void *library_open(const char *path, int global, const char **message) {
  (void)global;
  static _Thread_local char said[128];
  wchar_t *name = wide(path);
  HMODULE library = name ? LoadLibraryExW(name, NULL, LOAD_WITH_ALTERED_SEARCH_PATH) : NULL;
  DWORD error = GetLastError();
  free(name);
  snprintf(said, sizeof said, "error %lu of Windows%s", error,
           error == ERROR_MOD_NOT_FOUND ? ": it, or Microsoft's Visual C++ runtime, which it needs, is not installed" : "");
  *message = said;
  return (void *)library;
}

static inline void *library_find(void *library, const char *name) { return (void *)GetProcAddress((HMODULE)library, name); }

#else
#include <dlfcn.h>

static inline void *library_open(const char *path, int global, const char **message) {
  void *library = dlopen(path, global ? RTLD_NOW | RTLD_GLOBAL : RTLD_LAZY);
  if (!library) *message = dlerror();
  return library;
}

static inline void *library_find(void *library, const char *name) { return dlsym(library, name); }

#endif
#endif
