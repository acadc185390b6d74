/* SPDX-License-Identifier: Apache-2.0 */
/*
 * report/certificate: data of the public certificate, in the result's arena. Everything in it
 * follows from the release, the policy in canonical form and the rounded number of suppressed rows;
 * the rest of the result's figures are those of the release too.
 */
#pragma once

#include "base/sha256.h"
#include "report/result.h"

/* Suppressed rows as they may be published. */
typedef enum shoal_left_out_kind {
  SHOAL_LEFT_OUT_NONE,
  SHOAL_LEFT_OUT_FEW,    /* 1 to unit - 1 */
  SHOAL_LEFT_OUT_ROUNDED /* `rows` or somewhat more */
} shoal_left_out_kind;

typedef struct shoal_left_out {
  shoal_left_out_kind kind;
  uint64_t rows; /* ROUNDED: down to a multiple of `unit`, then to two significant digits */
  uint64_t unit; /* max(k, 10) */
} shoal_left_out;

shoal_left_out shoal_left_out_of(uint64_t n_rows, uint64_t k);

/* Parses "none", "few" or a number of rows, which is rounded; false: it is none of them. */
bool shoal_left_out_parse(const char *text, uint64_t k, shoal_left_out *left_out);

/*
 * The argument of --left-out that gives this value again. It is `rows`, or the next multiple of
 * the unit, because rounding twice can go further down.
 */
enum { SHOAL_LEFT_OUT_BYTES = 24 };
void shoal_left_out_argument(const shoal_left_out *left_out, char out[SHOAL_LEFT_OUT_BYTES]);

/* A model that cannot be judged without the original. */
typedef struct shoal_stated_model {
  const char *model, *attribute; /* attribute NULL: every sensitive one */
  shoal_over over;
  const char *summary, *parameters;
} shoal_stated_model;

/* A column of the release, or one that the policy removes. */
typedef struct shoal_certificate_column {
  const char *name, *role, *done;
  const char *example; /* a frequent label of a generalized column; NULL: none */
  bool stated;         /* `done` is the publisher's statement */
  bool quasi;
  double loss; /* quasi-identifiers: 0 nothing lost .. 1 everything; NAN: not known */
} shoal_certificate_column;

/* A sentence about what the release alone does not show. */
typedef struct shoal_certificate_note {
  const char *words;
  bool stated; /* the publisher says so; else nobody does */
} shoal_certificate_note;

typedef struct shoal_certificate_report {
  char sha256[SHOAL_SHA256_TEXT]; /* of the release */
  uint64_t size_bytes;
  shoal_left_out left_out;
  shoal_model_outcomes models; /* judged on the release */
  shoal_stated_model *stated;
  size_t n_stated;
  shoal_class_sizes sizes;
  bool people_stated;            /* k counts people: the publisher states it, and sizes are rows */
  shoal_attack_outcomes attacks; /* that need nothing but release and policy */
  shoal_certificate_column *columns;
  size_t n_columns;
  double loss; /* mean over quasi-identifiers; NAN: not known */
  shoal_certificate_note *notes;
  size_t n_notes;
  const char *policy; /* in canonical form */
} shoal_certificate_report;

/* The certificate as a self-contained page. */
void shoal_render_certificate(const shoal_result *result, shoal_text *text);
