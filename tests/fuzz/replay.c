/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs files through a fuzz target, without any fuzzer: usage: replay_TARGET FILE|FOLDER ... Each
 * file is one test, told in TAP; what is found ends the process, as in the fuzzer.
 */
#include <dirent.h>
#include <sys/stat.h>

#include "fuzz.h"

static unsigned n_tests;

static void replay_file(const char *path) {
  FILE *file = fopen(path, "rb");
  MUST(file);
  struct stat info;
  MUST(fstat(fileno(file), &info) == 0);
  size_t size = (size_t)info.st_size;
  uint8_t *bytes = malloc(size ? size : 1);
  MUST(bytes && fread(bytes, 1, size, file) == size);
  (void)fclose(file);
  (void)LLVMFuzzerTestOneInput(bytes, size);
  free(bytes);
  const char *slash = strrchr(path, '/');
  (void)printf("ok %u - %s\n", ++n_tests, slash ? slash + 1 : path);
  (void)fflush(stdout);
}

static int by_name(const struct dirent **a, const struct dirent **b) { return alphasort(a, b); }

static void replay_folder(const char *folder) {
  struct dirent **entries;
  int n = scandir(folder, &entries, NULL, by_name);
  MUST(n >= 0);
  for (int i = 0; i < n; i++) {
    char path[4096];
    (void)snprintf(path, sizeof path, "%s/%s", folder, entries[i]->d_name);
    if (entries[i]->d_name[0] != '.') replay_file(path);
    free(entries[i]);
  }
  free(entries);
}

int main(int argc, char **argv) {
  for (int i = 1; i < argc; i++) {
    struct stat info;
    if (stat(argv[i], &info) != 0) continue;
    if (S_ISDIR(info.st_mode)) replay_folder(argv[i]);
    else replay_file(argv[i]);
  }
  return n_tests ? 0 : 1;
}
