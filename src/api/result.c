/* SPDX-License-Identifier: Apache-2.0 */
/* api/result: the public functions of shoal_result. */
#include "report/result.h"

#include "api/arguments.h"

bool shoal_result_holds(const shoal_result *result) { return result && result->holds; }

shoal_publication shoal_result_verdict(const shoal_result *result) {
  return result ? shoal_safety_verdict(&result->safety) : SHOAL_NOT_JUDGED;
}

size_t shoal_result_open_risks(const shoal_result *result) {
  return result ? shoal_safety_open_risks(&result->safety) : 0;
}

shoal_status shoal_result_render(const shoal_result *result, shoal_format format, char **text,
                                 shoal_error *error) {
  SHOAL_BEGIN(error);
  if (text) *text = NULL;
  SHOAL_NEED(result && text, error);
  SHOAL_NEED_VALUE(format <= SHOAL_HTML, error);
  return shoal_answer(shoal_render(result, format, text, error), error);
}

void shoal_result_free(shoal_result *result) { shoal_result_delete(result); }
