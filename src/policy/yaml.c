/* SPDX-License-Identifier: Apache-2.0 */
/*
 * policy/yaml: builds nodes from libfyaml's events. Bytes are checked first, because libfyaml
 * treats a byte that is not UTF-8 as the end of a value. Each event is attached to the innermost
 * open list or mapping, without recursion. A node's position is where a reader sees it begin: at
 * the opening quote and, for "[a: 1]", at the key.
 */
#include "policy/yaml.h"

#include <libfyaml.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "policy/reader.h"

enum { MAX_DEPTH = 64 };

/* A list or mapping whose end event is still to come. */
typedef struct open_node {
  shoal_yaml *node;
  shoal_yaml *last;   /* its last child, or NULL */
  bool expects_value; /* MAPPING: the last child is a key */
} open_node;

typedef struct builder {
  const char *file;
  shoal_arena *arena;
  shoal_error *error;
  shoal_yaml *root;
  unsigned n_documents;
  shoal_mark here; /* of the last event with a position */
  shoal_mark end;  /* one past the last byte */
  unsigned depth;
  open_node open[MAX_DEPTH];
} builder;

#define FAIL(builder, mark, ...)                                                                   \
  shoal_fail_at((builder)->error, SHOAL_BAD_INPUT,                                                 \
                &(shoal_location){.file = (builder)->file, .line = (mark).line, .at = (mark).at},  \
                __VA_ARGS__)

/* ---------------------------------------------------------------- bytes */

/* UTF-8 without control characters. Sets b->end. */
static shoal_status check_bytes(builder *b, const char *bytes, size_t size) {
  shoal_mark mark = {1, 1};
  for (size_t at = 0; at < size;) {
    unsigned char c = (unsigned char)bytes[at];
    size_t width = shoal_utf8_size(bytes + at, size - at);
    if (width == 0) return FAIL(b, mark, "byte 0x%02x is not UTF-8: save the file as UTF-8", c);
    if (c == '\0') return FAIL(b, mark, "a NUL byte: this is no text file in UTF-8");
    if (c < 0x20 && c != '\t' && c != '\n' && c != '\r')
      return FAIL(b, mark, "control character 0x%02x: write \"\\x%02x\" in quotes if it is meant",
                  c, c);
    bool line_ends = c == '\n' || (c == '\r' && (at + 1 == size || bytes[at + 1] != '\n'));
    mark = line_ends ? (shoal_mark){mark.line + 1, 1} : (shoal_mark){mark.line, mark.at + 1};
    at += width;
  }
  b->end = mark;
  return SHOAL_OK;
}

/* ---------------------------------------------------------------- nodes */

bool shoal_yaml_is_null(const shoal_yaml *node) {
  if (node->kind != SHOAL_YAML_SCALAR || !node->plain) return false;
  static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};
  for (size_t i = 0; i < sizeof nulls / sizeof *nulls; i++)
    if (strcmp(node->text, nulls[i]) == 0) return true;
  return false;
}

static int compare_locations(shoal_mark a, shoal_mark b) {
  if (a.line != b.line) return a.line < b.line ? -1 : 1;
  return a.at < b.at ? -1 : a.at > b.at;
}

static int compare_texts(const void *left, const void *right) {
  const shoal_yaml *const *a = left, *const *b = right;
  int order = strcmp((*a)->text, (*b)->text);
  return order ? order : compare_locations((*a)->mark, (*b)->mark);
}

const shoal_yaml *shoal_yaml_repeated(const shoal_yaml **nodes, size_t n,
                                      const shoal_yaml **earlier) {
  const shoal_yaml *repeated = NULL;
  qsort(nodes, n, sizeof(const shoal_yaml *), compare_texts);
  for (size_t i = 1; i < n; i++) {
    if (strcmp(nodes[i]->text, nodes[i - 1]->text) != 0) continue;
    if (repeated && compare_locations(repeated->mark, nodes[i]->mark) < 0) continue;
    repeated = nodes[i];
    *earlier = nodes[i - 1];
  }
  return repeated;
}

static shoal_status check_keys(builder *b, const shoal_yaml *mapping) {
  if (mapping->n < 2) return SHOAL_OK;
  const shoal_yaml **keys = shoal_alloc(mapping->n, sizeof *keys);
  if (!keys) return shoal_fail_memory(b->error);
  size_t n = 0;
  for (const shoal_yaml *key = mapping->first; key; key = key->next->next) keys[n++] = key;
  const shoal_yaml *earlier;
  const shoal_yaml *repeated = shoal_yaml_repeated(keys, n, &earlier);
  free(keys);
  if (!repeated) return SHOAL_OK;
  return FAIL(b, repeated->mark, "duplicate key '%s': it is in line %u already; keep one",
              shoal_quote(repeated->text).text, earlier->mark.line);
}

/* Makes the node the root, or the last child of the innermost open node. */
static shoal_status attach(builder *b, shoal_yaml *node) {
  if (b->depth == 0) {
    b->root = node;
    return SHOAL_OK;
  }
  open_node *open = &b->open[b->depth - 1];
  bool is_key = open->node->kind == SHOAL_YAML_MAPPING && !open->expects_value;
  if (is_key && node->kind != SHOAL_YAML_SCALAR)
    return FAIL(b, node->mark, "a key must be a word, not a %s",
                node->kind == SHOAL_YAML_LIST ? "list" : "mapping");
  if (is_key && node->plain && node->text[0] == '\0')
    return FAIL(b, node->mark, "a key is missing before ':'");
  if (!open->last && compare_locations(node->mark, open->node->mark) < 0)
    open->node->mark = node->mark;
  if (open->last) open->last->next = node;
  else open->node->first = node;
  open->last = node;
  if (!open->expects_value) open->node->n++;
  if (open->node->kind == SHOAL_YAML_MAPPING) open->expects_value = is_key;
  return SHOAL_OK;
}

/* An end without a start would be a bug of libfyaml; report it as bad input. */
static shoal_status close_container(builder *b) {
  if (b->depth == 0) return FAIL(b, b->here, "not valid YAML: an end without a start");
  const shoal_yaml *node = b->open[--b->depth].node;
  return node->kind == SHOAL_YAML_MAPPING ? check_keys(b, node) : SHOAL_OK;
}

/* ---------------------------------------------------------------- events */

/* The position of an event, with its opening quote; that of the last event if it has none. */
static shoal_mark mark_of(builder *b, struct fy_event *event) {
  const struct fy_mark *mark = fy_event_start_mark(event);
  if (!mark) return b->here;
  uint32_t at = (uint32_t)mark->column + 1;
  if (event->type == FYET_SCALAR) {
    enum fy_scalar_style style = fy_token_scalar_style(event->scalar.value);
    if (at > 1 && (style == FYSS_SINGLE_QUOTED || style == FYSS_DOUBLE_QUOTED)) at--;
  }
  if (event->type == FYET_ALIAS && at > 1) at--;
  return b->here = (shoal_mark){(uint32_t)mark->line + 1, at};
}

/*
 * Only values on one line: libfyaml 0.7.12 counts more bytes than it has written for some folded
 * values and blocks after "|" and ">". Out of memory, it returns "" for a value that is not empty.
 */
static shoal_status take_text(builder *b, struct fy_token *token, shoal_yaml *node) {
  node->plain = true;
  node->text = "";
  if (!token) return SHOAL_OK;
  enum fy_scalar_style style = fy_token_scalar_style(token);
  const struct fy_mark *start = fy_token_start_mark(token), *end = fy_token_end_mark(token);
  bool several =
      style == FYSS_LITERAL || style == FYSS_FOLDED || !start || !end || start->line != end->line;
  if (several && node->mark.line == 1 && node->mark.at == 1)
    return FAIL(b, node->mark, SHOAL_YAML_NOT_A_POLICY);
  if (several)
    return FAIL(b, node->mark,
                "a value must be on one line: is a quote, a bracket or a comma missing, or the "
                "next line indented too far?");
  size_t size = 0;
  const char *text = fy_token_get_text(token, &size);
  if (!text || (size == 0 && end->input_pos > start->input_pos)) return shoal_fail_memory(b->error);
  if (memchr(text, '\0', size))
    return FAIL(b, node->mark, "a value must not contain NUL (\"\\0\")");
  node->plain = style == FYSS_PLAIN;
  node->text = shoal_arena_copy(b->arena, text, size);
  return node->text ? SHOAL_OK : shoal_fail_memory(b->error);
}

static shoal_status take_node(builder *b, struct fy_event *event, shoal_yaml_kind kind) {
  shoal_mark mark = mark_of(b, event);
  if (fy_event_get_tag_token(event))
    return FAIL(b, mark, "this value has a tag ('!...'): tags are not supported; remove it");
  shoal_yaml *node = shoal_arena_alloc(b->arena, 1, sizeof *node);
  if (!node) return shoal_fail_memory(b->error);
  *node = (shoal_yaml){.kind = kind, .mark = mark};
  if (kind == SHOAL_YAML_SCALAR) {
    SHOAL_TRY(take_text(b, event->scalar.value, node));
    return attach(b, node);
  }
  node->flow = fy_event_get_node_style(event) == FYNS_FLOW;
  SHOAL_TRY(attach(b, node));
  if (b->depth == MAX_DEPTH)
    return FAIL(b, node->mark, "lists and mappings are nested deeper than %d levels", MAX_DEPTH);
  b->open[b->depth++] = (open_node){.node = node};
  return SHOAL_OK;
}

static shoal_status take_event(builder *b, struct fy_event *event) {
  switch (event->type) {
  case FYET_DOCUMENT_START:
    if (b->n_documents++ == 0) return SHOAL_OK;
    return FAIL(b, mark_of(b, event),
                "a second YAML document begins here: a policy is one document");
  case FYET_ALIAS:
    return FAIL(b, mark_of(b, event), "aliases ('*name') are not supported: repeat the value");
  case FYET_SCALAR: return take_node(b, event, SHOAL_YAML_SCALAR);
  case FYET_SEQUENCE_START: return take_node(b, event, SHOAL_YAML_LIST);
  case FYET_MAPPING_START: return take_node(b, event, SHOAL_YAML_MAPPING);
  case FYET_SEQUENCE_END:
  case FYET_MAPPING_END: return close_container(b);
  default: return SHOAL_OK;
  }
}

/* ---------------------------------------------------------------- syntax errors */

/*
 * libfyaml reports errors in two ways: those with a position are collected; the few without one (an
 * unknown %YAML version, "|0", no memory) go to an output function, by default standard error.
 */
typedef struct syntax_error {
  bool no_memory;
  const char *printed; /* the message of an error without a position; NULL: none */
  shoal_mark mark;
  char text[200];
} syntax_error;

/* libfyaml's messages for common errors, and ours. */
static const struct {
  const char *said;
  const char *plain;
} translations[] = {
    {"invalid multiline plain key",
     "the line after this value looks like a key, but is indented like more of the value: check "
     "the indentation"},
    {"invalid mapping in plain multiline",
     "a second ': ' in one line: put quotes around a value that has one"},
    {"invalid nested block mapping on the same line",
     "a second ': ' in one line: put quotes around a value that has one"},
    {"invalid indentation in mapping", "this line is not indented like its neighbours"},
    {"invalid value after mapping", "a 'key: value' is expected here"},
    {"could not find expected ':'", "a ':' is missing after this word"},
    {"missing comma in flow mapping", "a ',' or '}' is missing here or in the entry before"},
    {"missing comma in flow sequence", "a ',' or ']' is missing here or in the item before"},
    {"mismatched flow sequence end", "a ']' where '}' is expected"},
    {"mismatched flow mapping end", "a '}' where ']' is expected"},
    {"flow mapping with invalid extra closing brace", "a '}' that closes nothing"},
    {"flow sequence with invalid extra closing bracket", "a ']' that closes nothing"},
    {"did not find expected node content", "a value is missing here, or needs quotes around it"},
    {"tab character may not be used as indentation", "indented with a tab: use spaces"},
    {"double-quoted scalar without closing quote", "a '\"' is not closed"},
    {"single-quoted scalar without closing quote", "a \"'\" is not closed"},
    {"invalid trailing content after double-quoted scalar", "more text after a closing quote"},
    {"invalid trailing content after single-quoted scalar", "more text after a closing quote"},
};

/* Messages without a position that an error in the text causes; others mean: out of memory. */
static const struct {
  const char *word;
  const char *plain;
} unplaced[] = {
    {"version", "the %YAML line names an unknown version: remove it"},
    {"indentation indicator", "a number after '|' or '>': a value must be on one line"},
};

static void take_output(struct fy_diag *diag, void *user, const char *said, size_t size) {
  (void)diag;
  syntax_error *error = user;
  for (size_t i = 0; i < sizeof unplaced / sizeof *unplaced; i++)
    if (memmem(said, size, unplaced[i].word, strlen(unplaced[i].word)))
      error->printed = unplaced[i].plain;
}

/* A diagnostic object that writes to `error`, which must outlive it; NULL: no memory. */
static struct fy_diag *collect_errors(syntax_error *error) {
  *error = (syntax_error){.mark = {1, 1}};
  struct fy_diag_cfg config;
  fy_diag_cfg_default(&config);
  config.fp = NULL;
  config.output_fn = take_output;
  config.user = error;
  config.level = FYET_ERROR;
  config.colorize = false;
  struct fy_diag *diag = fy_diag_create(&config);
  if (diag) fy_diag_set_collect_errors(diag, true);
  return diag;
}

static void translate(syntax_error *error, const char *said) {
  for (size_t i = 0; i < sizeof translations / sizeof *translations; i++)
    if (strcmp(said, translations[i].said) == 0) said = translations[i].plain;
  (void)snprintf(error->text, sizeof error->text, "%s", said);
}

/* Fills `error` after the parser stopped. */
static void find_error(syntax_error *error, struct fy_diag *diag) {
  void *position = NULL;
  struct fy_diag_error *found;
  while ((found = fy_diag_errors_iterate(diag, &position))) {
    if (found->type != FYET_ERROR) continue; /* warnings are collected too */
    error->mark = (shoal_mark){found->line > 0 ? (uint32_t)found->line : 1,
                               found->column > 0 ? (uint32_t)found->column : 1};
    translate(error, found->msg ? found->msg : "");
    return;
  }
  error->no_memory = !error->printed;
  if (error->printed) translate(error, error->printed);
}

/* ---------------------------------------------------------------- parsing */

static shoal_status build(builder *b, struct fy_parser *parser, struct fy_diag *diag,
                          syntax_error *found) {
  struct fy_event *event;
  while ((event = fy_parser_parse(parser))) {
    shoal_status status = take_event(b, event);
    fy_parser_event_free(parser, event);
    if (status != SHOAL_OK) return status;
  }
  if (fy_parser_get_stream_error(parser)) {
    find_error(found, diag);
    /* Reports a syntax error; for an unclosed bracket, at the bracket. */
    if (found->no_memory) return shoal_fail_memory(b->error);
    bool at_end = compare_locations(found->mark, b->end) >= 0;
    for (unsigned i = b->depth; at_end && i-- > 0;)
      if (b->open[i].node->flow)
        return FAIL(b, b->open[i].node->mark, "not valid YAML: this '%c' is not closed: close it",
                    b->open[i].node->kind == SHOAL_YAML_LIST ? '[' : '{');
    return FAIL(b, found->mark, "not valid YAML: %s", found->text);
  }
  if (b->root && !shoal_yaml_is_null(b->root)) return SHOAL_OK;
  return FAIL(b, ((shoal_mark){1, 1}),
              "the policy is empty: write one, or create it with 'shoal profile --policy-out'");
}

shoal_status shoal_yaml_parse(const char *bytes, size_t size_bytes, const char *file,
                              shoal_arena *arena, const shoal_yaml **root, shoal_error *error) {
  if (size_bytes > SHOAL_YAML_MAX_BYTES)
    return shoal_fail_at(error, SHOAL_BAD_INPUT, &(shoal_location){.file = file},
                         "larger than %d MiB, which no policy needs: keep large hierarchies in "
                         "files of their own",
                         SHOAL_YAML_MAX_BYTES >> 20);
  if (size_bytes >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0) { /* byte-order mark */
    bytes += 3;
    size_bytes -= 3;
  }
  builder b = {.file = file, .arena = arena, .error = error, .here = {1, 1}};
  SHOAL_TRY(check_bytes(&b, bytes, size_bytes));
  syntax_error found;
  struct fy_diag *diag = collect_errors(&found);
  if (!diag) return shoal_fail_memory(error);
  struct fy_parse_cfg config = {.flags = FYPCF_QUIET | FYPCF_JSON_NONE | FYPCF_DEFAULT_VERSION_1_2 |
                                         FYPCF_SLOPPY_FLOW_INDENTATION,
                                .diag = diag};
  struct fy_parser *parser = fy_parser_create(&config);
  shoal_status status = SHOAL_OK;
  if (!parser || fy_parser_set_string(parser, bytes, size_bytes) != 0)
    status = shoal_fail_memory(error);
  else status = build(&b, parser, diag, &found);
  if (parser) fy_parser_destroy(parser);
  fy_diag_destroy(diag);
  *root = b.root;
  return status;
}
