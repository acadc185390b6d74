/* SPDX-License-Identifier: Apache-2.0 */
/* model/types: the models there are, each in the file of its name. Private to this folder. */
#ifndef SHOAL_MODEL_TYPES_H
#define SHOAL_MODEL_TYPES_H

#include "model/model.h"

extern const shoal_model_type shoal_model_k_anonymity;
extern const shoal_model_type shoal_model_p_sensitive;

#endif
