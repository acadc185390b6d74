/* SPDX-License-Identifier: Apache-2.0 */
/* api/release: the public functions of shoal_release. */
#include "job/release.h"

#include "api/arguments.h"

shoal_status shoal_anonymize(const shoal_table *table, const shoal_policy *policy,
                             const shoal_run *run, shoal_release **release, shoal_error *error) {
  SHOAL_BEGIN(error);
  if (release) *release = NULL;
  SHOAL_NEED(table && policy && release, error);
  SHOAL_NEED_SIZE(run, error);
  return shoal_answer(shoal_job_anonymize(table, policy, NULL, run, release, error), error);
}

shoal_status shoal_anonymize_inside(const char *source, const char *output,
                                    const shoal_policy *policy, const shoal_write_options *options,
                                    const shoal_run *run, shoal_release **release,
                                    shoal_error *error) {
  static const shoal_write_options defaults = {0};
  SHOAL_BEGIN(error);
  if (release) *release = NULL;
  if (!options) options = &defaults;
  SHOAL_NEED(source && output && policy && release, error);
  SHOAL_NEED_SIZE(options, error);
  SHOAL_NEED_SIZE(run, error);
  return shoal_answer(
      shoal_job_anonymize_inside(source, output, policy, options, run, release, error), error);
}

shoal_status shoal_release_write_beside(shoal_release *release, const char *path,
                                        const shoal_avoided *avoided,
                                        const shoal_write_options *options, const shoal_run *run,
                                        shoal_error *error) {
  static const shoal_write_options defaults = {0};
  static const shoal_avoided none = {0};
  SHOAL_BEGIN(error);
  if (!options) options = &defaults;
  if (!avoided) avoided = &none;
  SHOAL_NEED(release && path && (avoided->paths || !avoided->n), error);
  SHOAL_NEED_VALUE(options->detail <= SHOAL_DETAIL_HTML, error);
  SHOAL_NEED_SIZE(options, error);
  SHOAL_NEED_SIZE(run, error);
  return shoal_answer(shoal_job_write(release, path, avoided, options, run, error), error);
}

shoal_status shoal_release_write(shoal_release *release, const char *path,
                                 const shoal_write_options *options, const shoal_run *run,
                                 shoal_error *error) {
  return shoal_release_write_beside(release, path, NULL, options, run, error);
}

shoal_status shoal_release_write_to(shoal_release *release, shoal_write_fn write, void *user,
                                    const shoal_write_options *options, const shoal_run *run,
                                    shoal_error *error) {
  SHOAL_BEGIN(error);
  static const shoal_write_options defaults = {0};
  SHOAL_NEED(release && write, error);
  if (!options) options = &defaults;
  SHOAL_NEED_VALUE(options->detail <= SHOAL_DETAIL_HTML, error);
  SHOAL_NEED_SIZE(options, error);
  SHOAL_NEED_SIZE(run, error);
  return shoal_answer(shoal_job_write_to(release, write, user, options, run, error), error);
}

shoal_status shoal_release_to_arrow(shoal_release *release, const shoal_arrow_options *options,
                                    const shoal_run *run, struct ArrowArrayStream *out,
                                    shoal_error *error) {
  SHOAL_BEGIN(error);
  static const shoal_arrow_options defaults = {0};
  SHOAL_NEED(release && out, error);
  SHOAL_NEED_SIZE(options, error);
  SHOAL_NEED_SIZE(run, error);
  *out = (struct ArrowArrayStream){0};
  if (!options) options = &defaults;
  SHOAL_NEED_VALUE(options->detail <= SHOAL_DETAIL_HTML, error);
  return shoal_answer(shoal_job_to_arrow(release, options, run, out, error), error);
}

shoal_status shoal_release_row_numbers(shoal_release *release, const uint64_t **rows, uint64_t *n,
                                       shoal_error *error) {
  SHOAL_BEGIN(error);
  if (rows) *rows = NULL;
  if (n) *n = 0;
  SHOAL_NEED(release && rows && n, error);
  return shoal_answer(shoal_job_row_numbers(release, rows, n, error), error);
}

shoal_status shoal_release_compare(shoal_release *release, const shoal_table *masked,
                                   const shoal_table *const *previous, size_t n_previous,
                                   const shoal_run *run, shoal_error *error) {
  SHOAL_BEGIN(error);
  SHOAL_NEED(release && masked && shoal_tables_given(previous, n_previous), error);
  SHOAL_NEED_SIZE(run, error);
  if (!n_previous) return SHOAL_OK;
  return shoal_answer(shoal_job_compare(release, masked, previous, n_previous, run, error), error);
}

const shoal_result *shoal_release_result(const shoal_release *release) {
  return release ? release->result : NULL;
}

void shoal_release_free(shoal_release *release) { shoal_release_delete(release); }
