/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Unit tests of src/hierarchy: files and trees, what the definition refuses and how it says so,
 * padding and ragged trees, missing values. The kinds built from values are in
 * test_hierarchy_kinds.c.
 */

#include "hierarchy_fixture.h"

/* ------------------------------------------------------------ file */

static void file_finds_its_delimiter(void **state) {
  (void)state;
  static const char *const texts[] = {"a;x,1;*\nb;x,1;*\n", "a,\"x,1\",*\nb,\"x,1\",*\n",
                                      "\"a\";\"x,1\";*\nb;x,1;*",
                                      "\xef\xbb\xbf"
                                      "a;x,1;*\nb;x,1;*\r\n",
                                      "\r\n\na;x,1;*\nb;x,1;*"};
  fixture f;
  setup(&f, VALUES("a", "b"));
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    compile_file(&f, texts[i]);
    assert_csv(&f, "a;x,1;*\nb;x,1;*\n");
  }
  compile_file(&f, "a\tx\t*\nb\tx\t*\n");
  assert_csv(&f, "a;x;*\nb;x;*\n");
  compile_file(&f, "a,\"x;1\",*\nb,\"x;1\",*\n"); /* the ; stands inside quotes */
  assert_csv(&f, "a;\"x;1\";*\nb;\"x;1\";*\n");
  teardown(&f);
}

static void file_quotes_like_the_data(void **state) {
  (void)state;
  fixture f;
  setup(&f, VALUES("5\" pipe", "two\nlines"));
  compile_file(&f, "5\" pipe;\"say \"\"x\"\"\";*\n\"two\nlines\";\"say \"\"x\"\"\";*\n");
  assert_string_equal(leaf_path(&f, 0), "5\" pipe|say \"x\"|*");
  assert_csv(&f, "\"5\"\" pipe\";\"say \"\"x\"\"\";*\n\"two\nlines\";\"say \"\"x\"\"\";*\n");
  teardown(&f);
}

static void file_drops_empty_cells_and_rows(void **state) {
  (void)state;
  fixture f;
  setup(&f, VALUES("a", "b"));
  compile_file(&f, "a;x;*;;\n\nb;x;*;;\n;;\n\n");
  assert_csv(&f, "a;x;*\nb;x;*\n");
  compile_file(&f, "a;x;*\na;x;*\nb;x;*\n"); /* the same row twice says nothing new */
  assert_csv(&f, "a;x;*\nb;x;*\n");
  teardown(&f);
}

static void file_without_a_column(void **state) {
  (void)state;
  fixture f;
  setup(&f, VALUES("unused"));
  shoal_hierarchy_spec spec = file_spec(&f, "b;x;all\na;y;all\n", 16);
  assert_int_equal(shoal_hierarchy_compile(&spec, NULL, NULL, &f.options, &f.hierarchy, NULL),
                   SHOAL_OK);
  assert_int_equal(f.hierarchy->n_values, 0);
  assert_csv(&f, "b;x;all\na;y;all\n");
  teardown(&f);
}

static void file_refusals_of_rows(void **state) {
  (void)state;
  fixture f;
  setup(&f, VALUES("a", "b"));
  refuse_file(&f, "", VALUES("is empty"));
  refuse_file(&f, "\n;;\n", VALUES("is empty"));
  refuse_file(&f, "a\nb\n", VALUES("row 1", "one column and no top"));
  refuse_file(&f, "a|x|*\nb|x|*\n", VALUES("row 1", "one column and no top"));
  refuse_file(&f, "a;x;*\nb;;\n", VALUES("row 2"));
  refuse_file(&f, "a;x;*\nb;\"x;*\n", VALUES("row 2", "the quote is not closed"));
  refuse_file(&f, "a;x;*\nb;*\n", VALUES("row 2", "has 2 cells, row 1 has 3"));
  refuse_file(&f, "a;x;*\nb;x;all\n",
              VALUES("row 2", "its last column differs from that of row 1"));
  refuse_file(&f, "a;x;*\nb;x;*\na;y;*\n",
              VALUES("row 3", "its value has two parents: row 1 has other labels"));
  shoal_hierarchy_spec spec = file_spec(&f, "a;x;*\nb;\0;*\n", 12);
  refuse(&f, &spec, VALUES("row 2", "NUL"));
  spec.file = "/nowhere/at/all.csv";
  refuse(&f, &spec, VALUES("/nowhere/at/all.csv"));
  teardown(&f);
}

static void file_refuses_two_parents_in_its_own_order(void **state) {
  (void)state;
  fixture f;
  setup(&f, VALUES("c", "b", "a")); /* the data's order is the other way round */
  refuse_file(
      &f, "a;x;p;*\nb;x;p;*\nc;x;q;*\n",
      VALUES("row 3", "its label in column 2 has two parents: row 1 has it below another label"));
  assert_int_equal(f.error.row, 3);
  refuse_file(
      &f, "a;1;x;p;*\nb;2;x;q;*\nc;3;x;q;*\n",
      VALUES("row 2", "its label in column 3 has two parents: row 1 has it below another label"));
  teardown(&f);
}

static void file_refuses_too_many_levels(void **state) {
  (void)state;
  fixture f;
  setup(&f, VALUES("a"));
  char text[1024] = "a";
  for (int i = 0; i < 255; i++) strcat(text, ";x");
  compile_file(&f, text);
  assert_int_equal(shoal_hierarchy_height(f.hierarchy), 255);
  assert_int_equal(f.hierarchy->tree_height, 1);
  strcat(text, ";x");
  refuse_file(&f, text, VALUES("row 1", "at most 255 are allowed"));
  teardown(&f);
}

static void file_lacking_values(void **state) {
  (void)state;
  fixture f;
  setup(&f, VALUES("a", "secret1", "?", "secret2"));
  refuse_file(&f, "a;x;*\n",
              VALUES("has no row for 2 values of column 'col' (first: data row 12; "
                     "2 cells: rows 12 and 14)",
                     "add a row for each, or list it under data.missing only if it means unknown"));
  assert_null(strstr(f.error.message, "secret"));
  assert_int_equal(f.error.row, 12);
  assert_string_equal(f.error.column, "col");
  refuse_file(&f, "a;x;*\nsecret2;x;*\n",
              VALUES("has no row for 1 value of", "add a row for it, or"));
  free(f.column.first_row);
  f.column.first_row = NULL;
  refuse_file(&f, "a;x;*\n", VALUES("has no row for 2 values of column 'col'; add"));
  assert_int_equal(f.error.row, 0);
  teardown(&f);
}

/* ------------------------------------------------------------ padding, ragged, missing */

static void padding_is_the_same_node(void **state) {
  (void)state;
  fixture f;
  setup(&f, VALUES("white", "black", "asian"));
  compile_file(&f, "white;white;white;*;*\nblack;black;other;*;*\nasian;asian;other;*;*\n");
  assert_int_equal(shoal_hierarchy_height(f.hierarchy), 4); /* a level that changes nothing stays */
  assert_int_equal(f.hierarchy->tree_height, 2);
  const shoal_level *levels = f.hierarchy->levels;
  for (uint32_t t = 0; t < 3; t++) assert_int_equal(levels[1].node_height[t], 0);
  assert_int_equal(levels[2].node_height[0], 0); /* white, still itself */
  assert_int_equal(levels[2].node_height[1], 1); /* other */
  assert_int_equal(levels[3].node_height[0], 2);
  assert_int_equal(levels[4].node_height[0], 2);
  assert_consistent(&f);
  assert_drawn(&f, 100,
               "* (3 values)\n├── other (2 values)\n│   ├── asian\n│   └── black\n"
               "└── white\n");
  teardown(&f);
}

static void heights_count_values_the_data_lacks(void **state) {
  (void)state;
  fixture f;
  setup(&f, VALUES("a"));
  compile_file(&f, "a;a;x;*\nb;y;x;*\n");
  assert_int_equal(f.hierarchy->levels[2].node_height[0], 2); /* x - y - b */
  assert_int_equal(f.hierarchy->tree_height, 3);
  assert_int_equal(f.hierarchy->levels[2].n_leaves[0], 2);
  teardown(&f);
}

static void ragged_trees_are_padded_at_the_bottom(void **state) {
  (void)state;
  fixture f;
  setup(&f, VALUES("flu", "hiv"));
  const char *text = "flu;lung;*;\nhiv;retro;virus;*\ncold;nose;lung;*\n";
  refuse_file(&f, text, VALUES("row 2", "has 4 cells, row 1 has 3"));
  f.options.ragged = true;
  compile_file(&f, text);
  assert_string_equal(leaf_path(&f, 0), "flu|flu|lung|*");
  assert_string_equal(leaf_path(&f, 1), "hiv|retro|virus|*");
  assert_int_equal(f.hierarchy->tree_height, 3);
  assert_consistent(&f);
  assert_drawn(&f, 100,
               "* (3 values)\n├── lung (2 values)\n│   ├── flu\n│   └── nose (1 value)\n"
               "│       └── cold\n└── virus (1 value)\n    └── retro (1 value)\n"
               "        └── hiv\n");
  refuse_file(
      &f, "flu;p;*\nhiv;flu;q;*\n",
      VALUES("row 2", "its label in column 2 has two parents: row 1 has it below another label"));
  refuse_file(&f, "hiv;flu;q;*\nflu;p;*\n",
              VALUES("row 2", "its value has two parents: row 1 has it below another label"));
  refuse_file(&f, "flu;x;*\nhiv\n", VALUES("row 2"));
  refuse_file(&f, "flu;x;*\nhiv;x\n",
              VALUES("row 2", "its last column differs from that of row 1"));
  teardown(&f);
}

static void missing_values_need_no_row(void **state) {
  (void)state;
  fixture f;
  setup(&f, VALUES("a", "?", "b"));
  compile_file(&f, "a;x;y;all\nb;x;y;all\n");
  assert_string_equal(leaf_path(&f, 1), "?|?|?|all");
  assert_int_equal(f.hierarchy->levels[2].node_height[f.hierarchy->levels[2].of_leaf[1]], 0);
  assert_consistent(&f);
  compile_file(&f, "a;x;y;all\nb;x;y;all\n?;none;y;all\n"); /* but it may have one */
  assert_string_equal(leaf_path(&f, 1), "?|none|y|all");
  refuse_file(&f, "a;?;y;all\nb;x;y;all\n",
              VALUES("row 1", "a missing value is spelled like a label of level 1"));
  const shoal_hierarchy_spec top = {.kind = SHOAL_HIERARCHY_TOP};
  compile_ok(&f, &top);
  assert_csv(&f, "a;*\n?;*\nb;*\n");
  teardown(&f);
}

/* ------------------------------------------------------------ tree and top */

static const shoal_tree_node white[] = {{"White", NULL, 0}};
static const shoal_tree_node others[] = {{"Black", NULL, 0}, {"Asian", NULL, 0}};
static const shoal_tree_node races[] = {{"White", white, 1}, {"Other", others, 2}};

static shoal_hierarchy_spec tree_spec(const shoal_tree_node *children, size_t n_children) {
  return (shoal_hierarchy_spec){
      .kind = SHOAL_HIERARCHY_TREE, .line = 7, .at = 12, .tree = {"*", children, n_children}};
}

static void tree_refusals(void **state) {
  (void)state;
  fixture f;
  setup(&f, VALUES("White", "Green", "Blue"));
  shoal_hierarchy_spec spec = tree_spec(races, 2);
  refuse(&f, &spec,
         VALUES("policy.yaml:7:12: column 'col'", "the hierarchy's tree lacks 2 values",
                "first: data row 12", "add each"));
  assert_int_equal(f.error.row, 12);
  spec = tree_spec(NULL, 0);
  refuse(&f, &spec, VALUES("policy.yaml:7:12", "the tree is empty"));
  const shoal_tree_node twice[] = {{"White", white, 1}, {"Other", white, 1}};
  spec = tree_spec(twice, 2);
  refuse(
      &f, &spec,
      VALUES("policy.yaml:7:12", "leaf 2", "its value has two parents: leaf 1 has other labels"));
  const shoal_tree_node flat[] = {{"White", NULL, 0}, {"Other", others, 2}};
  spec = tree_spec(flat, 2);
  refuse(&f, &spec, VALUES("leaf 2", "has 2 labels, leaf 1 has 1"));
  const shoal_tree_node again[] = {{"x", white, 1}};
  const shoal_tree_node same[] = {{"x", others, 2}};
  const shoal_tree_node nested[] = {{"p", again, 1}, {"q", same, 1}};
  spec = tree_spec(nested, 2);
  f.column.n_values = 1;
  refuse(
      &f, &spec,
      VALUES("leaf 2", "its label of level 1 has two parents: leaf 1 has it below another label"));
  shoal_tree_node deep[300];
  for (size_t i = 0; i < 300; i++)
    deep[i] = (shoal_tree_node){"White", i < 299 ? &deep[i + 1] : NULL, i < 299};
  spec = tree_spec(deep, 1);
  refuse(&f, &spec, VALUES("more than 255 levels"));
  spec = tree_spec(deep + 46, 1); /* 254 nodes and the root: 254 levels above the leaf */
  compile_ok(&f, &spec);
  teardown(&f);
}

/* ------------------------------------------------------------ pictures, kinds, sizes */

static void an_empty_column_has_only_a_top(void **state) {
  (void)state;
  fixture f;
  setup(&f, (const char *const[]){NULL});
  const shoal_hierarchy_spec specs[] = {{.kind = SHOAL_HIERARCHY_TOP},
                                        mask(false, '*'),
                                        dates(0, 5, "YYYY-MM-DD"),
                                        intervals(NULL, 0, (shoal_decimal){0, 0}),
                                        cuts(NULL, 0)};
  for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
    compile_ok(&f, &specs[i]);
    assert_int_equal(f.hierarchy->n_leaves, 0);
    assert_int_equal(f.hierarchy->tree_height, 0);
    assert_csv(&f, "");
    assert_drawn(&f, 9, "* (0 values)\n");
  }
  teardown(&f);
}

static void kinds_are_listed(void **state) {
  (void)state;
  static const char *const names[] = {"file",  "tree", "levels", "intervals", "cuts",
                                      "round", "mask", "date",   "sets",      "top"};
  const shoal_entry *kinds = shoal_hierarchy_kinds();
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    assert_string_equal(kinds[i].name, names[i]);
    assert_true(kinds[i].parameters[0] && kinds[i].summary[0]);
  }
  assert_null(kinds[sizeof names / sizeof names[0]].name);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(file_finds_its_delimiter),
      cmocka_unit_test(file_quotes_like_the_data),
      cmocka_unit_test(file_drops_empty_cells_and_rows),
      cmocka_unit_test(file_without_a_column),
      cmocka_unit_test(file_refusals_of_rows),
      cmocka_unit_test(file_refuses_two_parents_in_its_own_order),
      cmocka_unit_test(file_refuses_too_many_levels),
      cmocka_unit_test(file_lacking_values),
      cmocka_unit_test(padding_is_the_same_node),
      cmocka_unit_test(heights_count_values_the_data_lacks),
      cmocka_unit_test(ragged_trees_are_padded_at_the_bottom),
      cmocka_unit_test(missing_values_need_no_row),
      cmocka_unit_test(tree_refusals),
      cmocka_unit_test(an_empty_column_has_only_a_top),
      cmocka_unit_test(kinds_are_listed),
  };
  return cmocka_run_group_tests_name("hierarchy", tests, NULL, NULL);
}
