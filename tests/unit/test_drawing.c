/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of the lattice as CSV, DOT and SVG: every node and edge is there, names are escaped
 * for each format, pictures are well-formed XML whose boxes do not overlap, and lattices too large
 * to draw become bars whose numbers add up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "report/result.h"

/* ------------------------------------------------------------ lattices by hand */

typedef struct fixture {
  shoal_result result;
  shoal_text text;
  uint32_t *levels; /* of all nodes, one after the other */
  size_t n_edges;
} fixture;

#define NAMES(...) ((const char *[]){__VA_ARGS__})
#define HEIGHTS(...) ((const uint32_t[]){__VA_ARGS__})

/*
 * A lattice in which exactly the nodes of height `least` and above satisfy, those of that height
 * are minimal, and the first of them is chosen. A node at height h suppresses 1000 x (top - h).
 */
static void setup(fixture *f, size_t n, const char **names, const uint32_t *heights,
                  uint32_t least) {
  memset(f, 0, sizeof *f);
  shoal_text_init(&f->text);
  shoal_result *r = &f->result;
  *r = (shoal_result){.kind = SHOAL_RESULT_LATTICE,
                      .quasi = names,
                      .heights = heights,
                      .n_quasi = n,
                      .lattice.n_nodes = 1,
                      .input_rows = 1234567,
                      .lattice.max_suppression = 12000};
  uint32_t top = 0;
  for (size_t q = 0; q < n; q++) {
    r->lattice.n_nodes *= heights[q] + 1;
    top += heights[q];
  }
  for (size_t q = 0; q < n; q++) f->n_edges += r->lattice.n_nodes / (heights[q] + 1) * heights[q];
  f->levels = calloc(r->lattice.n_nodes * n, sizeof *f->levels);
  r->lattice.nodes = calloc(r->lattice.n_nodes, sizeof *r->lattice.nodes);
  bool has_chosen = false;
  for (size_t i = 0; i < r->lattice.n_nodes; i++) {
    shoal_node_outcome *node = &r->lattice.nodes[i];
    uint32_t *levels = f->levels + i * n;
    for (size_t q = n, rest = i; q-- > 0; rest /= heights[q] + 1) {
      levels[q] = (uint32_t)(rest % (heights[q] + 1));
      node->height += levels[q];
    }
    node->levels = levels;
    node->suppressed = UINT64_C(1000) * (top - node->height);
    node->classes = i + 1;
    node->satisfies = node->height >= least;
    node->minimal = node->height == least;
    node->chosen = node->minimal && !has_chosen;
    has_chosen |= node->chosen;
  }
}

static void teardown(fixture *f) {
  shoal_text_reset(&f->text);
  free(f->levels);
  free(f->result.lattice.nodes);
}

static const char *draw(fixture *f, void (*render)(const shoal_result *, shoal_text *)) {
  shoal_text_reset(&f->text);
  render(&f->result, &f->text);
  assert_false(f->text.failed);
  return f->text.bytes;
}

/* As strstr, which sanitizers make read to the end of the text at every call. */
static const char *find(const char *text, const char *part) {
  size_t size = strlen(part);
  for (; *text; text++)
    if (*text == *part && !strncmp(text, part, size)) return text;
  return NULL;
}

static size_t count(const char *text, const char *part) {
  size_t n = 0;
  for (const char *at = text; (at = find(at, part)); at += strlen(part)) n++;
  return n;
}

static void assert_has(const char *text, const char *part) {
  if (!find(text, part)) fail_msg("'%s' is missing in:\n%.3000s", part, text);
}

/* ------------------------------------------------------------ XML, as strictly as needed here */

typedef struct xml {
  const char *at;
  const char *open[32]; /* names of open elements */
  size_t sizes[32];
  size_t depth;
} xml;

/* Characters up to `stop`: no markup, only known entities, nothing that XML forbids. */
static bool xml_text(xml *x, char stop) {
  static const char *const entities[] = {"&lt;", "&gt;", "&amp;", "&quot;"};
  for (; *x->at && *x->at != stop; x->at++) {
    bool known = *x->at != '&';
    for (size_t i = 0; i < 4; i++) known |= !strncmp(x->at, entities[i], strlen(entities[i]));
    if (!known || *x->at == '<' || ((unsigned char)*x->at < 0x20 && *x->at != '\n')) return false;
  }
  return true;
}

static size_t xml_name(const xml *x) {
  return strspn(x->at, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
}

static bool xml_attributes(xml *x) {
  while (strspn(x->at, " \n")) {
    x->at += strspn(x->at, " \n");
    size_t size = xml_name(x);
    if (!size || strncmp(x->at + size, "=\"", 2)) return false;
    x->at += size + 2;
    if (!xml_text(x, '"') || *x->at++ != '"') return false;
  }
  return true;
}

static bool xml_tag(xml *x) {
  if (*x->at++ != '<') return false;
  bool closes = *x->at == '/';
  x->at += closes;
  const char *name = x->at;
  size_t size = xml_name(x);
  x->at += size;
  if (!size) return false;
  if (closes) {
    if (!x->depth || x->sizes[x->depth - 1] != size || memcmp(x->open[x->depth - 1], name, size))
      return false;
    x->depth--;
  } else {
    if (!xml_attributes(x) || x->depth == 32) return false;
    bool empty = *x->at == '/';
    x->at += empty;
    x->open[x->depth] = name;
    x->sizes[x->depth] = size;
    x->depth += !empty;
  }
  return *x->at++ == '>';
}

static bool is_well_formed(const char *text) {
  xml x = {.at = text};
  do {
    if (!xml_tag(&x) || (x.depth && !xml_text(&x, '<'))) return false;
  } while (x.depth);
  return !strcmp(x.at, "\n");
}

static void the_judge_of_xml_judges(void **state) {
  (void)state;
  assert_true(is_well_formed("<a b=\"1\"><c/>x &lt;<d>y</d></a>\n"));
  static const char *const bad[] = {
      "<a>\n",      "<a></b>\n",     "<a>&</a>\n", "<a b=1/>\n",      "<a b=\"<\"/>\n",
      "<a/><b/>\n", "<a>\x01</a>\n", "x\n",        "<a>&nbsp;</a>\n", "<a b=\"\"c\"\"/>\n"};
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) assert_false(is_well_formed(bad[i]));
}

/* ------------------------------------------------------------ CSV */

static void csv_has_a_row_a_node(void **state) {
  (void)state;
  fixture f;
  setup(&f, 2, NAMES("race", "zip"), HEIGHTS(1, 2), 2);
  assert_string_equal(draw(&f, shoal_render_lattice_csv),
                      "race,zip,height,suppressed,classes,satisfies,minimal\n"
                      "0,0,0,3000,1,false,false\n"
                      "0,1,1,2000,2,false,false\n"
                      "0,2,2,1000,3,true,true\n"
                      "1,0,1,2000,4,false,false\n"
                      "1,1,2,1000,5,true,true\n"
                      "1,2,3,0,6,true,false\n");
  teardown(&f);
}

static void csv_quotes_names(void **state) {
  (void)state;
  fixture f;
  setup(&f, 6, NAMES("a,b", "say \"x\"", "two\nlines", " blank", "height", "a;b"),
        HEIGHTS(0, 0, 0, 0, 0, 0), 0);
  assert_string_equal(draw(&f, shoal_render_lattice_csv),
                      "\"a,b\",\"say \"\"x\"\"\",two\\x0alines,\" blank\",height,a;b,"
                      "height,suppressed,classes,satisfies,minimal\n"
                      "0,0,0,0,0,0,0,0,1,true,true\n");
  teardown(&f);
}

/* ------------------------------------------------------------ DOT */

static void dot_has_nodes_edges_and_ranks(void **state) {
  (void)state;
  fixture f;
  setup(&f, 2, NAMES("race", "zip"), HEIGHTS(1, 2), 2);
  const char *dot = draw(&f, shoal_render_lattice_dot);
  assert_has(dot, "digraph lattice {\n  rankdir=BT;\n");
  assert_has(dot, "[race, zip]: 6 nodes, MaxSup 12,000, 1,234,567 rows");
  assert_has(dot, "n0 [label=\"[0,0]\\n3,000 rows suppressed\", style=\"filled,dashed\"");
  assert_has(dot, "n2 [label=\"[0,2]\\n1,000 rows suppressed\", style=\"filled,solid,bold\"");
  assert_int_equal(count(dot, " rows suppressed\""), 6);
  assert_int_equal(count(dot, "penwidth=3, peripheries=3]"), 1); /* minimal and chosen */
  assert_int_equal(count(dot, "penwidth=3, peripheries=2]"), 1); /* minimal */
  assert_has(dot, "  n0 -> n1;\n  n0 -> n3;\n  n1 -> n2;\n  n1 -> n4;\n  n2 -> n5;\n"
                  "  n3 -> n4;\n  n4 -> n5;\n");
  assert_int_equal(count(dot, " -> "), 7);
  assert_has(dot, "  { rank=same; n0; }\n  { rank=same; n1; n3; }\n  { rank=same; n2; n4; }\n"
                  "  { rank=same; n5; }\n}\n");
  teardown(&f);
}

static void dot_escapes_names(void **state) {
  (void)state;
  fixture f;
  setup(&f, 2, NAMES("<a&lt;\"b\"", "c\\N\nd"), HEIGHTS(0, 1), 1);
  assert_has(draw(&f, shoal_render_lattice_dot), "[<a&amp;lt;\\\"b\\\", c\\\\N\\\\x0ad]: 2 nodes");
  f.result.lattice.nodes[0].suppressed = 1;
  assert_has(draw(&f, shoal_render_lattice_dot), "[0,0]\\n1 row suppressed");
  teardown(&f);
}

static void dot_holds_large_lattices(void **state) {
  (void)state;
  fixture f;
  setup(&f, 5, NAMES("a", "b", "c", "d", "e"), HEIGHTS(9, 9, 12, 4, 1), 20);
  const char *dot = draw(&f, shoal_render_lattice_dot);
  assert_int_equal(count(dot, " [label="), 13000);
  assert_int_equal(count(dot, " -> "), f.n_edges);
  assert_int_equal(count(dot, "rank=same"), 9 + 9 + 12 + 4 + 1 + 1);
  teardown(&f);
}

/* ------------------------------------------------------------ SVG */

/* The number of an attribute in the tag at `tag`. */
static long attribute(const char *tag, const char *name) {
  char wanted[32];
  (void)snprintf(wanted, sizeof wanted, " %s=\"", name);
  const char *found = find(tag, wanted);
  assert_non_null(found);
  assert_true(found < strchr(tag, '>'));
  return strtol(found + strlen(wanted), NULL, 10);
}

typedef struct box {
  long x, y, width, height;
} box;

/* The nodes' boxes; those of a row follow each other with room between, inside the picture. */
static void find_boxes(const fixture *f, const char *svg, box *boxes) {
  long end[401] = {0}; /* by height: where its last box ends */
  const char *at = svg;
  for (size_t i = 0; i < f->result.lattice.n_nodes; i++) {
    at = find(at + 1, "<g class=\"node ");
    assert_non_null(at);
    const char *tag = find(at, "<rect class=\"outline\"");
    box b = {attribute(tag, "x"), attribute(tag, "y"), attribute(tag, "width"),
             attribute(tag, "height")};
    assert_true(b.x >= end[f->result.lattice.nodes[i].height] + 12);
    assert_true(b.x + b.width <= attribute(svg, "width"));
    assert_true(b.y > 0 && b.y + b.height <= attribute(svg, "height"));
    end[f->result.lattice.nodes[i].height] = b.x + b.width;
    boxes[i] = b;
  }
}

/* Every box with its edges to the nodes that have one level more, found here by comparing. */
static void assert_boxes_and_edges(const fixture *f, const char *svg) {
  const shoal_result *r = &f->result;
  box boxes[400];
  find_boxes(f, svg, boxes);
  size_t n = 0;
  for (const char *at = svg; (at = find(at, "<line")); at++, n++) {
    size_t from = r->lattice.n_nodes, to = r->lattice.n_nodes, n_differ = 0;
    long x1 = attribute(at, "x1"), y1 = attribute(at, "y1");
    long x2 = attribute(at, "x2"), y2 = attribute(at, "y2");
    for (size_t i = 0; i < r->lattice.n_nodes; i++) {
      long middle = boxes[i].x + boxes[i].width / 2;
      if (middle == x1 && boxes[i].y == y1) from = i;
      if (middle == x2 && boxes[i].y + boxes[i].height == y2) to = i;
    }
    assert_true(from < r->lattice.n_nodes && to < r->lattice.n_nodes);
    assert_int_equal(r->lattice.nodes[to].height, r->lattice.nodes[from].height + 1);
    for (size_t q = 0; q < r->n_quasi; q++)
      n_differ += r->lattice.nodes[from].levels[q] != r->lattice.nodes[to].levels[q];
    assert_int_equal(n_differ, 1);
  }
  assert_int_equal(n, f->n_edges);
}

static void svg_draws_a_small_lattice(void **state) {
  (void)state;
  fixture f;
  setup(&f, 2, NAMES("race", "zip"), HEIGHTS(1, 2), 2);
  const char *svg = draw(&f, shoal_render_lattice_svg);
  assert_true(is_well_formed(svg));
  assert_has(svg, ">Generalization lattice: 6 nodes, MaxSup 12,000 of 1,234,567 rows</text>");
  assert_has(svg, ">3 of 6 satisfy the policy, 2 of them are minimal.</text>");
  assert_has(svg, "[<tspan class=\"name\">race</tspan> (height 1), "
                  "<tspan class=\"name\">zip</tspan> (height 2)]");
  assert_int_equal(count(svg, "<g class=\"node "), 6);
  assert_int_equal(count(svg, "<g class=\"node no\">"), 3);
  assert_int_equal(count(svg, ">minimal</text>"), 2);
  assert_int_equal(count(svg, ">chosen</text>"), 2); /* one of them in the legend */
  assert_has(svg, "<title>race 0, zip 1, height 1: 2,000 rows to suppress, classes: 2; "
                  "does not satisfy</title>");
  assert_has(svg, ">[0,1]</text>");
  assert_has(svg, ">2,000 rows</text>");
  assert_boxes_and_edges(&f, svg);
  teardown(&f);
}

static void svg_stands_alone(void **state) {
  (void)state;
  fixture f;
  setup(&f, 1, NAMES("age"), HEIGHTS(2), 1);
  const char *svg = draw(&f, shoal_render_lattice_svg);
  assert_int_equal(count(svg, "http"), 1); /* the namespace */
  assert_int_equal(count(svg, "<script"), 0);
  assert_int_equal(count(svg, "@import"), 0);
  assert_int_equal(count(svg, "@media (prefers-color-scheme:dark)"), 1);
  assert_int_equal(count(svg, "id=\"shoal-hatch\""), 1);
  teardown(&f);
}

static void svg_draws_up_to_400_nodes(void **state) {
  (void)state;
  static const struct {
    size_t n;
    uint32_t heights[8];
  } shapes[] = {{1, {0}},       {1, {399}},    {4, {3, 2, 3, 1}}, {8, {1, 1, 1, 1, 1, 1, 1, 1}},
                {3, {6, 6, 7}}, {2, {19, 19}}, {3, {0, 5, 0}}};
  fixture f;
  for (size_t i = 0; i < sizeof shapes / sizeof *shapes; i++) {
    setup(&f, shapes[i].n, NAMES("a", "b", "c", "d", "e", "f", "g", "h"), shapes[i].heights, 3);
    const char *svg = draw(&f, shoal_render_lattice_svg);
    assert_true(is_well_formed(svg));
    assert_int_equal(count(svg, "<g class=\"node "), f.result.lattice.n_nodes);
    assert_boxes_and_edges(&f, svg);
    teardown(&f);
  }
}

static void svg_escapes_and_cuts_names(void **state) {
  (void)state;
  fixture f;
  setup(&f, 3,
        NAMES("<b>&\"q\"\x01\n\xef\xbf\xbf", "exactly twenty-four char",
              "an attribute nam\xc3\xa9 so long"),
        HEIGHTS(1, 1, 0), 1);
  const char *svg = draw(&f, shoal_render_lattice_svg);
  assert_true(is_well_formed(svg));
  assert_has(svg, ">&lt;b&gt;&amp;&quot;q&quot;\\x01 \\u{ffff}</tspan>");
  assert_has(svg, ">exactly twenty-four char</tspan>");
  assert_has(
      svg,
      ">an attribute nam\xc3\xa9 so lo\xe2\x80\xa6<title>an attribute nam\xc3\xa9 so long</title>"
      "</tspan>");
  teardown(&f);
}

static void svg_says_that_none_satisfies(void **state) {
  (void)state;
  fixture f;
  setup(&f, 2, NAMES("race", "zip"), HEIGHTS(1, 2), 9);
  const char *svg = draw(&f, shoal_render_lattice_svg);
  assert_has(svg, ">No node satisfies the policy.</text>");
  assert_int_equal(count(svg, "minimal</text>"), 0);
  assert_int_equal(count(svg, ">chosen</text>"), 0);
  assert_int_equal(count(svg, "<rect class=\"ring"), 0);
  teardown(&f);
}

/* ------------------------------------------------------------ SVG of what is too large */

static uint64_t number_after(const char **at, const char *mark) {
  *at = find(*at, mark);
  assert_non_null(*at);
  uint64_t n = 0;
  for (*at = strchr(*at, '>') + 1; **at != '<'; (*at)++)
    n = **at == ',' ? n : n * 10 + (uint64_t)(**at - '0');
  return n;
}

static void assert_bars_add_up(const fixture *f, const char *svg, size_t n_rows) {
  uint64_t n = 0, n_minimal = 0, expected = 0;
  const char *at = find(svg, ">do not satisfy</text>");
  assert_non_null(at);
  for (size_t i = 0; i < n_rows; i++) {
    n += number_after(&at, "<text class=\"end");
    n_minimal += number_after(&at, "<text class=\"end");
    n += number_after(&at, "<text class=\"end");
  }
  assert_null(find(at, "<text class=\"end"));
  for (size_t i = 0; i < f->result.lattice.n_nodes; i++)
    expected += f->result.lattice.nodes[i].minimal;
  assert_int_equal(n, f->result.lattice.n_nodes);
  assert_int_equal(n_minimal, expected);
}

static void svg_counts_large_lattices(void **state) {
  (void)state;
  fixture f;
  setup(&f, 5, NAMES("a", "b", "c", "d", "e"), HEIGHTS(9, 9, 12, 4, 1), 20);
  const char *svg = draw(&f, shoal_render_lattice_svg);
  assert_true(is_well_formed(svg));
  assert_has(svg, "Generalization lattice: 13,000 nodes");
  assert_has(svg, ">More than 400 nodes cannot be drawn readably: each row counts the nodes of 1 "
                  "height. The CSV lists every node.</text>");
  assert_int_equal(count(svg, "<g class=\"node "), 0);
  assert_int_equal(count(svg, "<line"), 0);
  assert_true(strlen(svg) < 40000);
  assert_bars_add_up(&f, svg, 36);
  assert_int_equal(count(svg, "<rect class=\"ring\""), 2); /* one of them in the legend */
  teardown(&f);
}

static void svg_lets_many_heights_share_bars(void **state) {
  (void)state;
  static const struct {
    uint32_t height;
    size_t n_rows;
    const char *label;
  } chains[] = {{400, 81,
                 ">400\xe2\x80\x93"
                 "400<"},
                {1199, 100,
                 ">1188\xe2\x80\x93"
                 "1199<"}};
  fixture f;
  for (size_t i = 0; i < 2; i++) {
    setup(&f, 1, NAMES("age"), &chains[i].height, 7);
    const char *svg = draw(&f, shoal_render_lattice_svg);
    assert_true(is_well_formed(svg));
    assert_has(svg, chains[i].label);
    assert_bars_add_up(&f, svg, chains[i].n_rows);
    teardown(&f);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_judge_of_xml_judges),
      cmocka_unit_test(csv_has_a_row_a_node),
      cmocka_unit_test(csv_quotes_names),
      cmocka_unit_test(dot_has_nodes_edges_and_ranks),
      cmocka_unit_test(dot_escapes_names),
      cmocka_unit_test(dot_holds_large_lattices),
      cmocka_unit_test(svg_draws_a_small_lattice),
      cmocka_unit_test(svg_stands_alone),
      cmocka_unit_test(svg_draws_up_to_400_nodes),
      cmocka_unit_test(svg_escapes_and_cuts_names),
      cmocka_unit_test(svg_says_that_none_satisfies),
      cmocka_unit_test(svg_counts_large_lattices),
      cmocka_unit_test(svg_lets_many_heights_share_bars),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
