/* SPDX-License-Identifier: Apache-2.0 */
/*
 * python/streams: the linker's --wrap lets all code of the extension use these variables instead of
 * stdin, stdout and stderr of the C library. Static libraries that are not PIC cannot refer to
 * variables of another shared object.
 */
#include <stdio.h>

extern FILE *__real_stdin, *__real_stdout, *__real_stderr;
FILE *__wrap_stdin, *__wrap_stdout, *__wrap_stderr;

__attribute__((constructor)) static void take_streams(void) {
  __wrap_stdin = __real_stdin;
  __wrap_stdout = __real_stdout;
  __wrap_stderr = __real_stderr;
}
