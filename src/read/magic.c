/* SPDX-License-Identifier: Apache-2.0 */
/* read/magic: one row for each kind of file. */
#include "read/magic.h"

#include <stdbool.h>
#include <string.h>

static const struct {
  const char *bytes;
  size_t size;
  bool binary; /* the bytes are no text; other files need a NUL, too: PAR1 may name a column */
  const char *advice;
} kinds[] = {
    {"PK\x03\x04", 4, true,
     "is an Excel workbook (.xlsx) or another ZIP archive: save the sheet as CSV"},
    {"\xd0\xcf\x11\xe0", 4, true, "is an old Excel workbook (.xls): save the sheet as CSV"},
    {"PAR1", 4, false, "is a Parquet file: convert it to CSV"},
    {"ARROW1", 6, false, "is an Arrow file: convert it to CSV"},
    {"FEA1", 4, false, "is a Feather file: convert it to CSV"},
    {"SQLite f", 8, false, "is an SQLite database: write sqlite:FILE, and --table NAME"},
    {"RDX", 3, false, "is an R workspace: write the data frame as CSV"},
    {"X\n", 2, false, "is an R object (.rds): write the data frame as CSV"},
    {"$FL", 3, false, "is an SPSS file, which cannot be read from a pipe: name the file"},
    {"<stata_d", 8, false, "is a Stata file, which cannot be read from a pipe: name the file"},
    {"%PDF-", 5, false, "is a PDF document: export its table as CSV"},
    {"\x89HDF\r\n", 6, true, "is an HDF5 file: convert it to CSV"},
    {"BZh", 3, false, "is compressed with bzip2: decompress it, or use gzip or zstd"},
    {"\xfd\x37zXZ", 5, true, "is compressed with xz: decompress it, or use gzip or zstd"},
};

const char *shoal_magic_advice(const char *bytes, size_t size_bytes) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (size_bytes >= kinds[i].size && memcmp(bytes, kinds[i].bytes, kinds[i].size) == 0 &&
        (kinds[i].binary || memchr(bytes, '\0', size_bytes)))
      return kinds[i].advice;
  return NULL;
}
