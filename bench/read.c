/* SPDX-License-Identifier: Apache-2.0 */
/*
 * bench/read: how fast a CSV file becomes columns of codes, and how much memory they take, through
 * the public interface. usage: bench-read FILE THREADS REPEATS; prints one JSON line.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <time.h>

#include "shoal/shoal.h"

static double seconds(void) {
  struct timespec now;
  (void)clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

int main(int argc, char **argv) {
  struct stat info;
  if (argc != 4 || stat(argv[1], &info) != 0) {
    fprintf(stderr, "usage: bench-read FILE THREADS REPEATS\n");
    return 2;
  }
  shoal_run run = {.n_threads = (unsigned)atoi(argv[2])};
  double best = 1e9;
  uint64_t rows = 0, bytes = 0;
  for (int i = atoi(argv[3]); i > 0; i--) {
    shoal_table *table;
    shoal_error error;
    double start = seconds();
    if (shoal_table_read(argv[1], NULL, SHOAL_FOR_RELEASE, NULL, &run, &table, &error) !=
        SHOAL_OK) {
      fprintf(stderr, "bench-read: %s\n", error.message);
      return 1;
    }
    double took = seconds() - start;
    if (took < best) best = took;
    rows = shoal_table_rows(table);
    bytes = shoal_table_bytes(table);
    shoal_table_free(table);
  }
  printf("{\"rows\": %llu, \"csv_bytes\": %lld, \"table_bytes\": %llu, \"seconds\": %.4f}\n",
         (unsigned long long)rows, (long long)info.st_size, (unsigned long long)bytes, best);
  return 0;
}
