/* SPDX-License-Identifier: Apache-2.0 */
/*
 * base/decimal: exact decimal numbers. 0.2 is 2 x 10^-1, never a rounded double: comparisons that
 * decide whether a model holds are made on integers (docs/reading-the-papers.md).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHOAL_MAX_SCALE = 18 };

/* mantissa x 10^-scale, with 0 <= scale <= 18. */
typedef struct shoal_decimal {
  int64_t mantissa;
  unsigned scale;
} shoal_decimal;

typedef enum shoal_number {
  SHOAL_NUMBER_OK,
  SHOAL_NUMBER_NOT,     /* not a number */
  SHOAL_NUMBER_TOO_LONG /* more digits than 18 */
} shoal_number;

/* Reads [+-]digits[e[+-]digits] with a point anywhere among the digits; nothing may follow. */
shoal_number shoal_decimal_parse(const char *bytes, size_t size_bytes, shoal_decimal *out);

/* The mantissa at a larger or equal scale; false if it does not fit into 64 bits. */
bool shoal_decimal_rescale(shoal_decimal number, unsigned scale, int64_t *mantissa);

/* Negative, 0 or positive: a is less than, equal to, greater than b; exact. */
int shoal_decimal_compare(shoal_decimal a, shoal_decimal b);

/* Writes mantissa x 10^-scale without trailing zeros; `out` holds at least 32 bytes. */
void shoal_decimal_print(int64_t mantissa, unsigned scale, char *out);

/* 10^exponent, for exponents up to 19. */
uint64_t shoal_power_of_ten(unsigned exponent);

double shoal_decimal_double(shoal_decimal number);

/* floor(whole x number / 100), for "1%": exact. UINT64_MAX: it does not fit. */
uint64_t shoal_decimal_percent(shoal_decimal number, uint64_t whole);

/* In every locale. */
static inline bool shoal_is_digit(char c) { return c >= '0' && c <= '9'; }

/* The greatest common divisor; that of 0 and b is b. */
static inline uint64_t shoal_gcd(uint64_t a, uint64_t b) {
  while (b) {
    uint64_t rest = a % b;
    a = b;
    b = rest;
  }
  return a;
}
