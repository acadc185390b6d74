/* SPDX-License-Identifier: Apache-2.0 */
/* serve/assets: the files of web/, compressed; scripts/embed makes the table when shoal is built.
 */
#pragma once

#include <stddef.h>

typedef struct serve_asset {
  const char *path;           /* "/app.js" */
  const char *type;           /* NULL: an example, which is not part of the page */
  const unsigned char *bytes; /* gzip; of an example the text itself */
  size_t size;
} serve_asset;

/* The path of the last entry is NULL. */
extern const serve_asset serve_assets[];
