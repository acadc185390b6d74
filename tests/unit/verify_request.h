/* SPDX-License-Identifier: Apache-2.0 */
/* A claim of one model, to begin with: the first column is the quasi-identifier, the second is
 * sensitive. */
#ifndef SHOAL_TESTS_VERIFY_REQUEST_H
#define SHOAL_TESTS_VERIFY_REQUEST_H

#include "verify/verify.h"

static inline shoal_verify_request request_on(const char *const *columns, size_t n_columns,
                                              const shoal_verify_model *model) {
  return (shoal_verify_request){.delimiter = ',',
                                .columns = columns,
                                .n_columns = n_columns,
                                .quasi = columns,
                                .n_quasi = 1,
                                .sensitive = columns + 1,
                                .n_sensitive = 1,
                                .guards_fd = -1,
                                .models = model,
                                .n_models = 1};
}

#endif
