/* SPDX-License-Identifier: Apache-2.0 */
/* api/file: shoal_file, a text file that is written as a whole or not at all. */
#include <stdlib.h>
#include <string.h>

#include "api/arguments.h"
#include "base/memory.h"
#include "job/release_table.h"
#include "shoal/program.h"
#include "write/atomic_file.h"
#include "write/database.h"
#include "write/sink.h"

struct shoal_file {
  shoal_atomic_file atomic_file;
  bool committed;
};

shoal_status shoal_file_begin(const char *path, shoal_file **file, shoal_error *error) {
  SHOAL_BEGIN(error);
  if (file) *file = NULL;
  SHOAL_NEED(path && file, error);
  shoal_file *made = shoal_alloc_zero(1, sizeof *made);
  if (!made) return shoal_answer(shoal_fail_memory(error), error);
  shoal_status status = shoal_atomic_file_open(&made->atomic_file, path, error);
  if (status == SHOAL_OK) *file = made;
  else free(made);
  return shoal_answer(status, error);
}

static shoal_status commit(shoal_file *file, const char *text, shoal_error *error) {
  shoal_atomic_file *atomic_file = &file->atomic_file;
  if (file->committed)
    return shoal_fail(error, SHOAL_BAD_INPUT, "the file was committed already: begin a new one");
  file->committed = true; /* also if it fails: part of the text may be written */
  size_t size = strlen(text);
  SHOAL_TRY(shoal_write_all(atomic_file->fd, atomic_file->path, text, size, error));
  if (!size || text[size - 1] != '\n')
    SHOAL_TRY(shoal_write_all(atomic_file->fd, atomic_file->path, "\n", 1, error));
  return shoal_atomic_file_commit(atomic_file, error);
}

shoal_status shoal_file_commit(shoal_file *file, const char *text, shoal_error *error) {
  SHOAL_BEGIN(error);
  SHOAL_NEED(file && text, error);
  return shoal_answer(commit(file, text, error), error);
}

void shoal_file_free(shoal_file *file) {
  if (!file) return;
  shoal_atomic_file_close(&file->atomic_file);
  free(file);
}

shoal_status shoal_path_try_table(const char *address, bool replace, const shoal_run *run,
                                  shoal_error *error) {
  SHOAL_BEGIN(error);
  SHOAL_NEED(address && shoal_is_database(address), error);
  shoal_table_sink sink;
  shoal_status status =
      shoal_table_sink_open(&sink, address, replace, NULL, shoal_run_patience(run), error);
  shoal_table_sink_close(&sink);
  return shoal_answer(status, error);
}
