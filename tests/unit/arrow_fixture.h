/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Streams of the Arrow C data interface for tests: each buffer is a block of its own and of its
 * exact size, so that sanitizers see every byte that is read too many. Everything is counted: a
 * test can ask whether all was released.
 */
#ifndef SHOAL_TESTS_ARROW_FIXTURE_H
#define SHOAL_TESTS_ARROW_FIXTURE_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <shoal/shoal.h>

static int n_unreleased; /* schemas, arrays and streams */

static inline void *arrow_block(const void *bytes, size_t size) {
  void *block = malloc(size ? size : 1);
  if (size) memcpy(block, bytes, size);
  return block;
}

/* ------------------------------------------------------------ schemas */

static inline void release_schema(struct ArrowSchema *schema) {
  for (int64_t i = 0; i < schema->n_children; i++) {
    if (schema->children[i]->release) schema->children[i]->release(schema->children[i]);
    free(schema->children[i]);
  }
  free(schema->children);
  if (schema->dictionary) schema->dictionary->release(schema->dictionary);
  free(schema->dictionary);
  free((void *)(uintptr_t)schema->format);
  free((void *)(uintptr_t)schema->name);
  schema->release = NULL;
  n_unreleased--;
}

static inline struct ArrowSchema make_schema(const char *format, const char *name) {
  n_unreleased++;
  return (struct ArrowSchema){.format = arrow_block(format, strlen(format) + 1),
                              .name = arrow_block(name, strlen(name) + 1),
                              .release = release_schema};
}

static inline void schema_add(struct ArrowSchema *parent, struct ArrowSchema child) {
  size_t n = (size_t)parent->n_children;
  parent->children = realloc(parent->children, (n + 1) * sizeof *parent->children);
  parent->children[n] = arrow_block(&child, sizeof child);
  parent->n_children++;
}

/* ------------------------------------------------------------ arrays */

static inline void release_array(struct ArrowArray *array) {
  for (int64_t i = 0; i < array->n_children; i++) {
    if (array->children[i]->release) array->children[i]->release(array->children[i]);
    free(array->children[i]);
  }
  free(array->children);
  if (array->dictionary) array->dictionary->release(array->dictionary);
  free(array->dictionary);
  for (int64_t i = 0; i < array->n_buffers; i++) free((void *)(uintptr_t)array->buffers[i]);
  free(array->buffers);
  array->release = NULL;
  n_unreleased--;
}

static inline struct ArrowArray make_array(int64_t length) {
  n_unreleased++;
  return (struct ArrowArray){.length = length, .release = release_array};
}

static inline void array_add_buffer(struct ArrowArray *array, const void *bytes, size_t size) {
  size_t n = (size_t)array->n_buffers;
  array->buffers = realloc(array->buffers, (n + 1) * sizeof *array->buffers);
  array->buffers[n] = bytes ? arrow_block(bytes, size) : NULL;
  array->n_buffers++;
}

static inline void array_add(struct ArrowArray *parent, struct ArrowArray child) {
  size_t n = (size_t)parent->n_children;
  parent->children = realloc(parent->children, (n + 1) * sizeof *parent->children);
  parent->children[n] = arrow_block(&child, sizeof child);
  parent->n_children++;
}

/* A bitmap of the cells that are not NULL; nothing if all are. */
static inline void add_validity(struct ArrowArray *array, const char *const *cells, size_t n) {
  uint8_t *bits = calloc(n / 8 + 1, 1);
  for (size_t i = 0; i < n; i++) {
    if (cells[i]) bits[i / 8] |= (uint8_t)(1 << i % 8);
    else array->null_count++;
  }
  array_add_buffer(array, array->null_count ? bits : NULL, (n + 7) / 8);
  free(bits);
}

/* Text of n cells, as "u" or "U"; NULL is null. */
static inline struct ArrowArray make_texts(const char *const *cells, size_t n, bool large) {
  struct ArrowArray array = make_array((int64_t)n);
  add_validity(&array, cells, n);
  int32_t *narrow = calloc(n + 1, sizeof *narrow);
  int64_t *wide = calloc(n + 1, sizeof *wide);
  char *bytes = NULL;
  size_t size = 0;
  for (size_t i = 0; i < n; i++) {
    size_t more = cells[i] ? strlen(cells[i]) : 0;
    bytes = realloc(bytes, size + more + 1);
    if (more) memcpy(bytes + size, cells[i], more);
    size += more;
    narrow[i + 1] = (int32_t)size;
    wide[i + 1] = (int64_t)size;
  }
  if (large) array_add_buffer(&array, wide, (n + 1) * sizeof *wide);
  else array_add_buffer(&array, narrow, (n + 1) * sizeof *narrow);
  array_add_buffer(&array, size ? bytes : NULL, size);
  free(narrow);
  free(wide);
  free(bytes);
  return array;
}

/* The same as "vu": long texts are in two data buffers by turns. */
static inline struct ArrowArray make_views(const char *const *cells, size_t n) {
  struct ArrowArray array = make_array((int64_t)n);
  add_validity(&array, cells, n);
  char *views = calloc(n + 1, 16), *data[2] = {calloc(1, 1), calloc(1, 1)};
  int64_t sizes[2] = {0, 0};
  for (size_t i = 0; i < n; i++) {
    if (!cells[i]) continue;
    int32_t size = (int32_t)strlen(cells[i]), which = (int32_t)(i % 2);
    memcpy(views + 16 * i, &size, 4);
    memcpy(views + 16 * i + 4, cells[i], (size_t)(size < 12 ? size : 12));
    if (size <= 12) continue;
    int32_t offset = (int32_t)sizes[which];
    memcpy(views + 16 * i + 8, &which, 4);
    memcpy(views + 16 * i + 12, &offset, 4);
    data[which] = realloc(data[which], (size_t)(offset + size));
    memcpy(data[which] + offset, cells[i], (size_t)size);
    sizes[which] += size;
  }
  array_add_buffer(&array, views, 16 * n);
  for (unsigned i = 0; i < 2; i++) array_add_buffer(&array, data[i], (size_t)sizes[i]);
  array_add_buffer(&array, sizes, sizeof sizes);
  free(views);
  free(data[0]);
  free(data[1]);
  return array;
}

/* Values of a fixed width; `valid` may be NULL. */
static inline struct ArrowArray make_values(const void *values, size_t width, size_t n,
                                            const uint8_t *valid) {
  struct ArrowArray array = make_array((int64_t)n);
  for (size_t i = 0; valid && i < n; i++) array.null_count += !(valid[i / 8] >> i % 8 & 1);
  array_add_buffer(&array, valid, (n + 7) / 8);
  array_add_buffer(&array, values, n * width);
  return array;
}

/* ------------------------------------------------------------ streams */

/* Hands out what it was given, then ends; errors as asked. */
typedef struct arrow_source {
  struct ArrowSchema schema;
  struct ArrowArray chunks[8];
  size_t n_chunks, next;
  int schema_error, chunk_error; /* chunk_error: instead of the end */
} arrow_source;

static inline int source_schema(struct ArrowArrayStream *stream, struct ArrowSchema *out) {
  arrow_source *source = stream->private_data;
  if (source->schema_error) return source->schema_error;
  *out = source->schema;
  source->schema.release = NULL;
  return 0;
}

static inline int source_next(struct ArrowArrayStream *stream, struct ArrowArray *out) {
  arrow_source *source = stream->private_data;
  *out = (struct ArrowArray){0};
  if (source->next == source->n_chunks) return source->chunk_error;
  *out = source->chunks[source->next];
  source->chunks[source->next++].release = NULL;
  return 0;
}

static inline const char *source_error(struct ArrowArrayStream *stream) {
  (void)stream;
  return "cannot convert 'a secret'";
}

static inline void release_source(struct ArrowArrayStream *stream) {
  arrow_source *source = stream->private_data;
  if (source->schema.release) source->schema.release(&source->schema);
  for (size_t i = 0; i < source->n_chunks; i++)
    if (source->chunks[i].release) source->chunks[i].release(&source->chunks[i]);
  stream->release = NULL;
  n_unreleased--;
}

/* A stream of the source, which must outlive it. */
static inline struct ArrowArrayStream make_stream(arrow_source *source) {
  n_unreleased++;
  return (struct ArrowArrayStream){.get_schema = source_schema,
                                   .get_next = source_next,
                                   .get_last_error = source_error,
                                   .release = release_source,
                                   .private_data = source};
}

#endif
