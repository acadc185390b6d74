/* SPDX-License-Identifier: Apache-2.0 */
/* serve/yaml: a policy as JSON, for the forms of the page. */
#pragma once

#include <jansson.h>
#include <stddef.h>

/* The document as JSON; plain numbers, true, false and null get their types. NULL: the text is no
 * YAML, is nested deeper than 64, has aliases, or there is no memory. */
json_t *serve_yaml_to_json(const char *text, size_t size);
