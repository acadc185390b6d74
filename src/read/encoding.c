/* SPDX-License-Identifier: Apache-2.0 */
/*
 * read/encoding: a decoder starts undecided and passes ASCII on. What follows the ASCII decides:
 *
 *     undecided -> UTF-8         from then on bytes are passed on
 *               -> Windows-1252  iconv; bytes that it does not define become control characters,
 *                                as in browsers
 *               -> UTF-16        iconv
 *
 * Undecided bytes wait in `input` only if a character may continue in the next bytes.
 */
#include "read/encoding.h"

#include <errno.h>
#include <iconv.h>
#include <string.h>
#include <strings.h>

#include "base/memory.h"
#include "base/text.h"

enum { INPUT_BYTES = 1 << 16, LONGEST_CHARACTER = 4, SPILL_BYTES = 16 };

typedef enum decoding { UNDECIDED, PASS, CONVERT } decoding;

struct shoal_decoder {
  const char *file;
  const char *fallback; /* if it is not UTF-8; NULL: Windows-1252 */
  decoding state;
  const char *detected; /* NULL: given, or UTF-8 */
  bool fills_gaps;      /* undefined bytes become control characters */
  bool begun;           /* something was read */
  bool ended;
  iconv_t converter; /* if has_converter */
  bool has_converter;
  char input[INPUT_BYTES]; /* at .. end are not decoded yet */
  size_t at, end;
  char spill[SPILL_BYTES]; /* decoded bytes that the caller had no room for */
  size_t spill_at, spill_end;
};

static bool is_utf8(const char *name) {
  return strcasecmp(name, "utf-8") == 0 || strcasecmp(name, "utf8") == 0;
}

bool shoal_encoding_exists(const char *name) {
  iconv_t converter = iconv_open("UTF-8", name);
  if (converter == (iconv_t)-1) return false; /* NOLINT(performance-no-int-to-ptr) */
  (void)iconv_close(converter);
  return *name != '\0';
}

static bool open_converter(shoal_decoder *decoder, const char *encoding) {
  decoder->state = CONVERT;
  decoder->converter = iconv_open("UTF-8", encoding);
  decoder->has_converter = decoder->converter != (iconv_t)-1; /* NOLINT */
  return decoder->has_converter;
}

shoal_decoder *shoal_decoder_new(const char *encoding, bool or_utf8, const char *file) {
  shoal_decoder *decoder = shoal_alloc_zero(1, sizeof *decoder);
  if (!decoder) return NULL;
  decoder->file = file;
  decoder->fallback = encoding;
  if (!encoding || (or_utf8 && !is_utf8(encoding))) return decoder;
  if (is_utf8(encoding)) {
    decoder->state = PASS;
  } else if (!open_converter(decoder, encoding)) {
    shoal_decoder_free(decoder);
    return NULL;
  }
  return decoder;
}

void shoal_decoder_free(shoal_decoder *decoder) {
  if (!decoder) return;
  if (decoder->has_converter) (void)iconv_close(decoder->converter);
  shoal_wipe_free(decoder, sizeof *decoder);
}

const char *shoal_decoder_detected(const shoal_decoder *decoder) { return decoder->detected; }

static shoal_status detect_as(shoal_decoder *decoder, const char *encoding, const char *name,
                              shoal_error *error) {
  decoder->detected = name;
  return open_converter(decoder, encoding) ? SHOAL_OK : shoal_fail_memory(error);
}

/* ------------------------------------------------------------ detection */

/* Text of mostly Latin letters has a zero in every character of UTF-16. */
static shoal_status detect_utf16(shoal_decoder *decoder, shoal_error *error) {
  const unsigned char *b = (const unsigned char *)decoder->input + decoder->at;
  size_t n = decoder->end - decoder->at;
  if (n >= 2 && ((b[0] == 0xff && b[1] == 0xfe) || (b[0] == 0xfe && b[1] == 0xff)))
    return detect_as(decoder, "UTF-16", "UTF-16", error);
  if (n < 4) return SHOAL_OK;
  if (b[0] && !b[1] && b[2] && !b[3]) return detect_as(decoder, "UTF-16LE", "UTF-16LE", error);
  if (!b[0] && b[1] && !b[2] && b[3]) return detect_as(decoder, "UTF-16BE", "UTF-16BE", error);
  return SHOAL_OK;
}

static size_t count_ascii(const char *bytes, size_t size) {
  size_t n = 0;
  for (; n + 8 <= size; n += 8) {
    uint64_t word;
    memcpy(&word, bytes + n, sizeof word);
    if (word & UINT64_C(0x8080808080808080)) break;
  }
  while (n < size && (unsigned char)bytes[n] < 0x80) n++;
  return n;
}

/* Decides by the character at decoder->at, which is not ASCII. False: it may continue. */
static bool decide(shoal_decoder *decoder, shoal_status *status, shoal_error *error) {
  size_t left = decoder->end - decoder->at;
  *status = SHOAL_OK;
  if (shoal_utf8_size(decoder->input + decoder->at, left)) {
    decoder->state = PASS;
    return true;
  }
  if (left < LONGEST_CHARACTER && !decoder->ended) return false;
  if (decoder->fallback) {
    if (!open_converter(decoder, decoder->fallback)) *status = shoal_fail_memory(error);
    return true;
  }
  decoder->fills_gaps = true;
  *status = detect_as(decoder, "WINDOWS-1252", "Windows-1252", error);
  return true;
}

/* ------------------------------------------------------------ decoding */

/* Moves what is left to the front and reads on, at least one byte unless the end is reached. */
static shoal_status refill(shoal_decoder *decoder, shoal_decoder_read_fn read, void *user,
                           shoal_error *error) {
  size_t left = decoder->end - decoder->at;
  memmove(decoder->input, decoder->input + decoder->at, left);
  decoder->at = 0;
  decoder->end = left;
  do { /* the first bytes decide, and a pipe may give them one by one */
    size_t got = 0;
    SHOAL_TRY(read(user, decoder->input + decoder->end, INPUT_BYTES - decoder->end, &got, error));
    decoder->end += got;
    decoder->ended = got == 0;
  } while (!decoder->begun && !decoder->ended && decoder->end < LONGEST_CHARACTER);
  if (decoder->begun) return SHOAL_OK;
  decoder->begun = true;
  return decoder->state == UNDECIDED ? detect_utf16(decoder, error) : SHOAL_OK;
}

/* A byte that the encoding does not define. */
static shoal_status take_undefined(shoal_decoder *decoder, char **to, size_t *room,
                                   shoal_error *error) {
  unsigned char byte = (unsigned char)decoder->input[decoder->at];
  if (!decoder->fills_gaps)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &(shoal_location){.file = decoder->file},
                         "has bytes that data.encoding does not have: correct the encoding");
  if (*room < 2) return SHOAL_OK;
  *(*to)++ = (char)(0xc0 | byte >> 6);
  *(*to)++ = (char)(0x80 | (byte & 0x3f));
  *room -= 2;
  decoder->at++;
  return SHOAL_OK;
}

static shoal_status convert_some(shoal_decoder *decoder, char *bytes, size_t capacity, size_t *got,
                                 shoal_error *error) {
  char *to = bytes;
  size_t room = capacity;
  while (decoder->at < decoder->end) {
    char *from = decoder->input + decoder->at;
    size_t left = decoder->end - decoder->at;
    size_t result = iconv(decoder->converter, &from, &left, &to, &room);
    decoder->at = decoder->end - left;
    if (result != (size_t)-1 || errno == E2BIG) break;
    if (errno == EINVAL && !decoder->ended) break; /* the character continues */
    if (errno == EINVAL)
      return shoal_fail_at(
          error, SHOAL_BAD_INPUT, &(shoal_location){.file = decoder->file},
          "ends within a character: correct data.encoding, or fetch the file again");
    size_t before = decoder->at;
    SHOAL_TRY(take_undefined(decoder, &to, &room, error));
    if (decoder->at == before) break; /* no room */
  }
  *got = capacity - room;
  return SHOAL_OK;
}

static void pass(shoal_decoder *decoder, size_t available, char *bytes, size_t capacity,
                 size_t *got) {
  *got = available < capacity ? available : capacity;
  memcpy(bytes, decoder->input + decoder->at, *got);
  decoder->at += *got;
}

/* Decodes what is in the input; nothing if more bytes are needed. */
static shoal_status decode(shoal_decoder *decoder, char *bytes, size_t capacity, size_t *got,
                           shoal_error *error) {
  size_t available = decoder->end - decoder->at;
  *got = 0;
  if (decoder->state == UNDECIDED) {
    size_t ascii = count_ascii(decoder->input + decoder->at, available);
    shoal_status status;
    if (ascii || !available) {
      pass(decoder, ascii, bytes, capacity, got);
      return SHOAL_OK;
    }
    if (!decide(decoder, &status, error)) return SHOAL_OK;
    SHOAL_TRY(status);
  }
  if (decoder->state == CONVERT) {
    /* Whole characters need room: a few bytes are taken from the spill. */
    if (decoder->spill_at == decoder->spill_end) {
      if (capacity >= SPILL_BYTES) return convert_some(decoder, bytes, capacity, got, error);
      decoder->spill_at = decoder->spill_end = 0;
      SHOAL_TRY(convert_some(decoder, decoder->spill, SPILL_BYTES, &decoder->spill_end, error));
    }
    size_t ready = decoder->spill_end - decoder->spill_at;
    *got = ready < capacity ? ready : capacity;
    memcpy(bytes, decoder->spill + decoder->spill_at, *got);
    decoder->spill_at += *got;
    return SHOAL_OK;
  }
  pass(decoder, available, bytes, capacity, got);
  return SHOAL_OK;
}

shoal_status shoal_decoder_read(shoal_decoder *decoder, shoal_decoder_read_fn read, void *user,
                                char *bytes, size_t capacity, size_t *size_bytes,
                                shoal_error *error) {
  *size_bytes = 0;
  if (decoder->state == PASS && decoder->begun && decoder->at == decoder->end)
    return read(user, bytes, capacity, size_bytes, error);
  for (;;) {
    SHOAL_TRY(decode(decoder, bytes, capacity, size_bytes, error));
    if (*size_bytes || (decoder->ended && decoder->at == decoder->end)) return SHOAL_OK;
    SHOAL_TRY(refill(decoder, read, user, error));
  }
}
