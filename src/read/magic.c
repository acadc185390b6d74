/* SPDX-License-Identifier: Apache-2.0 */
/* read/magic: one row for each kind of file. */
#include "read/magic.h"

#include <string.h>

static const struct {
  const char *bytes;
  size_t size;
  const char *advice;
} kinds[] = {
    {"PK\x03\x04", 4, "is an Excel workbook (.xlsx) or another ZIP archive: save the sheet as CSV"},
    {"\xd0\xcf\x11\xe0", 4, "is an old Excel workbook (.xls): save the sheet as CSV"},
    {"PAR1", 4, "is a Parquet file: convert it to CSV"},
    {"ARROW1", 6, "is an Arrow file: convert it to CSV"},
    {"FEA1", 4, "is a Feather file: convert it to CSV"},
    {"SQLite f", 8, "is an SQLite database: export the table as CSV"},
    {"RDX", 3, "is an R workspace: write the data frame as CSV"},
    {"X\n\0\0", 4, "is an R object (.rds): write the data frame as CSV"},
    {"$FL", 3, "is an SPSS file, which cannot be read from a pipe: name the file"},
    {"<stata_d", 8, "is a Stata file, which cannot be read from a pipe: name the file"},
    {"%PDF-", 5, "is a PDF document: get the table as CSV"},
    {"\x89HDF\r\n", 6, "is an HDF5 file: convert it to CSV"},
    {"BZh", 3, "is compressed with bzip2: decompress it, or use gzip or zstd"},
    {"\xfd"
     "7zXZ",
     5, "is compressed with xz: decompress it, or use gzip or zstd"},
};

const char *shoal_magic_advice(const char *bytes, size_t size_bytes) {
  for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
    if (size_bytes >= kinds[i].size && memcmp(bytes, kinds[i].bytes, kinds[i].size) == 0)
      return kinds[i].advice;
  return NULL;
}
