/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read/encoding: bytes of any encoding -> UTF-8, as a stream. Without a name, the encoding is
 * detected: UTF-16 by a byte-order mark or zeros among the first bytes; otherwise the first
 * character that is not ASCII decides between UTF-8 and Windows-1252, of which Latin-1 text is a
 * part. UTF-8 is passed on unchanged.
 */
#pragma once

#include "base/error.h"

/* Does iconv know an encoding of that name? */
bool shoal_encoding_exists(const char *name);

typedef struct shoal_decoder shoal_decoder;

/* Where the decoder's bytes come from; *size_bytes = 0 is the end. */
typedef shoal_status (*shoal_decoder_read_fn)(void *user, char *bytes, size_t capacity,
                                              size_t *size_bytes, shoal_error *error);

/*
 * `encoding`: NULL: detected; `or_utf8`: the file may be UTF-8 too, detected in the same way. Both
 * strings are borrowed; messages call the file `file`. NULL: no memory.
 */
shoal_decoder *shoal_decoder_new(const char *encoding, bool or_utf8, const char *file);
void shoal_decoder_free(shoal_decoder *decoder); /* NULL: nothing */

/*
 * Reads and decodes up to `capacity` bytes; *size_bytes = 0 is the end. SHOAL_BAD_INPUT: a sequence
 * that the encoding does not have.
 */
shoal_status shoal_decoder_read(shoal_decoder *decoder, shoal_decoder_read_fn read, void *user,
                                char *bytes, size_t capacity, size_t *size_bytes,
                                shoal_error *error) SHOAL_MUST_CHECK;

/* The encoding, where it is not UTF-8 and was detected: "Windows-1252"; else NULL. */
const char *shoal_decoder_detected(const shoal_decoder *decoder);
