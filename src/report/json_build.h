/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/json_build: putting JSON together without looking at every step. What jansson could not
 * add, for lack of memory, is remembered until the whole is written: a report that lacks a part is
 * none. Private to this folder.
 */
#ifndef SHOAL_REPORT_JSON_BUILD_H
#define SHOAL_REPORT_JSON_BUILD_H

#include <jansson.h>

/* Add a value, which is taken over; NULL counts as a failure. */
void shoal_json_set(json_t *object, const char *key, json_t *value);
void shoal_json_append(json_t *array, json_t *value);

#endif
