/* SPDX-License-Identifier: Apache-2.0 */
/* policy/attributes: `attributes: {NAME: {role: ..., ...}}` -> shoal_attribute, in file order. */
#include <stdlib.h>
#include <string.h>

#include "hierarchy/date.h"
#include "policy/keys.h"
#include "policy/reader.h"

typedef struct attribute_target {
  shoal_attribute *attribute;
  bool has_role;
  /* NULL: not given */
  const shoal_yaml *type, *format, *pivot, *snap, *recode, *level, *otherwise, *key, *person;
} attribute_target;

static shoal_status read_role(const shoal_policy_reader *reader, const shoal_yaml *node,
                              attribute_target *target) {
  size_t role = 0;
  SHOAL_TRY(shoal_read_choice(reader, node, shoal_role_names, &role));
  target->attribute->role = (shoal_role)role;
  target->has_role = true;
  return SHOAL_OK;
}

static shoal_status read_type(const shoal_policy_reader *reader, const shoal_yaml *node,
                              attribute_target *target) {
  /* in the order of shoal_type; a date is a number */
  enum { DATE = SHOAL_TYPE_NUMBER + 1 };
  static const char *const types[] = {"text", "number", "date", NULL};
  size_t type = 0;
  SHOAL_TRY(shoal_read_choice(reader, node, types, &type));
  target->type = node;
  target->attribute->coding.dates = type == DATE;
  target->attribute->type = type == DATE ? SHOAL_TYPE_NUMBER : (shoal_type)type;
  return SHOAL_OK;
}

static shoal_status read_level(const shoal_policy_reader *reader, const shoal_yaml *node,
                               uint32_t *level) {
  shoal_setting setting;
  uint64_t number;
  SHOAL_TRY(shoal_setting_from(reader, node, "a level such as 1", &setting));
  SHOAL_TRY(shoal_setting_whole(&setting, 0, &number));
  *level = number < UINT32_MAX ? (uint32_t)number : UINT32_MAX;
  return SHOAL_OK;
}

static shoal_status read_snap(const shoal_policy_reader *reader, const shoal_yaml *node,
                              attribute_target *target) {
  shoal_setting setting;
  SHOAL_TRY(shoal_setting_from(reader, node, "a number", &setting));
  SHOAL_TRY(shoal_setting_measure(&setting, &target->attribute->snap));
  target->snap = node;
  if (target->attribute->snap.mantissa == 0)
    return shoal_reader_fail(reader, node->mark, "%s must be above 0",
                             shoal_reader_subject(reader).text);
  return SHOAL_OK;
}

/* A number from 0 to `max`. */
static shoal_status read_share(const shoal_policy_reader *reader, const shoal_yaml *node,
                               int64_t max, shoal_decimal *number) {
  shoal_setting setting;
  SHOAL_TRY(shoal_setting_from(reader, node, "a number", &setting));
  SHOAL_TRY(shoal_setting_measure(&setting, number));
  int64_t bound;
  bool fits = shoal_decimal_rescale((shoal_decimal){max, 0}, number->scale, &bound);
  if (fits && number->mantissa > bound)
    return shoal_reader_fail(reader, node->mark, "%s must be from 0 to %lld",
                             shoal_reader_subject(reader).text, (long long)max);
  return SHOAL_OK;
}

static shoal_status read_sensitivity(const shoal_policy_reader *reader, const shoal_yaml *node,
                                     shoal_attribute *attribute) {
  shoal_decimal number;
  SHOAL_TRY(read_share(reader, node, 3, &number));
  if (number.scale != 0)
    return shoal_reader_fail(reader, node->mark, "%s must be 0, 1, 2 or 3",
                             shoal_reader_subject(reader).text);
  attribute->has_sensitivity = true;
  attribute->sensitivity = (uint8_t)number.mantissa;
  return SHOAL_OK;
}

/* ---------------------------------------------------------------- categories */

static const char categories_form[] =
    "{file: FILE}, or a list of values for each category, such as [[HIV, Cancer], [Flu]]";

static shoal_status read_category_key(shoal_policy_reader *reader, unsigned id,
                                      const shoal_yaml *node, void *into) {
  switch ((enum shoal_category_key)id) {
  case SHOAL_KEY_CATEGORY_FILE:
    return shoal_read_path(reader, node, &((shoal_categories *)into)->file);
  }
  return SHOAL_OK;
}

static const shoal_key_rule category_rules[] = {SHOAL_CATEGORY_KEYS(SHOAL_KEY_RULE){0}};

/* Reads the values of one category and appends their nodes to `seen`, which has room. */
static shoal_status read_category(const shoal_policy_reader *reader, const shoal_yaml *list,
                                  const char *const **values, const shoal_yaml **seen) {
  if (list->kind != SHOAL_YAML_LIST || list->n == 0)
    return shoal_reader_expected(reader, list, categories_form);
  const char **read = shoal_arena_alloc(reader->arena, list->n + 1, sizeof *read);
  if (!read) return shoal_fail_memory(reader->error);
  size_t n = 0;
  for (const shoal_yaml *item = list->first; item; item = item->next) {
    SHOAL_TRY(shoal_read_scalar(reader, item, "a value (\"\" in quotes if it is empty)"));
    seen[n] = item;
    read[n++] = item->text;
  }
  read[n] = NULL;
  *values = read;
  return SHOAL_OK;
}

static shoal_status read_category_lists(const shoal_policy_reader *reader, const shoal_yaml *node,
                                        const shoal_yaml **seen, shoal_categories *categories) {
  const char *const **lists = shoal_arena_alloc(reader->arena, node->n, sizeof *lists);
  if (!lists) return shoal_fail_memory(reader->error);
  size_t n_lists = 0, n_seen = 0;
  for (const shoal_yaml *list = node->first; list; list = list->next) {
    SHOAL_TRY(read_category(reader, list, &lists[n_lists++], seen + n_seen));
    n_seen += list->n;
  }
  const shoal_yaml *earlier;
  const shoal_yaml *repeated = shoal_yaml_repeated(seen, n_seen, &earlier);
  if (repeated)
    return shoal_reader_fail(
        reader, repeated->mark,
        "%s: value '%s' is in line %u already; a value has one category: remove one",
        shoal_reader_subject(reader).text, shoal_quote(repeated->text).text, earlier->mark.line);
  categories->lists = lists;
  categories->n_lists = n_lists;
  return SHOAL_OK;
}

static shoal_status read_categories(shoal_policy_reader *reader, const shoal_yaml *node,
                                    shoal_categories *categories) {
  if (node->kind == SHOAL_YAML_SCALAR || node->n == 0)
    return shoal_reader_expected(reader, node, categories_form);
  if (node->kind == SHOAL_YAML_MAPPING)
    return shoal_read_mapping(reader, node, category_rules, read_category_key, "{file: FILE}",
                              categories);
  size_t n_values = 0;
  for (const shoal_yaml *list = node->first; list; list = list->next) n_values += list->n;
  const shoal_yaml **seen = shoal_alloc(n_values, sizeof *seen);
  if (!seen) return shoal_fail_memory(reader->error);
  shoal_status status = read_category_lists(reader, node, seen, categories);
  free(seen);
  return status;
}

/* ---------------------------------------------------------------- pseudonyms */

static const char key_form[] = "{file: FILE} or {env: NAME}, and maybe a context";

/* A text that is not empty; its NUL would end it. */
static shoal_status read_key_text(const shoal_policy_reader *reader, const shoal_yaml *node,
                                  const char *what, const char **text) {
  SHOAL_TRY(shoal_read_scalar(reader, node, what));
  if (!node->text[0]) return shoal_reader_expected(reader, node, what);
  *text = node->text;
  return SHOAL_OK;
}

static const shoal_key_rule pseudonym_rules[] = {SHOAL_PSEUDONYM_KEYS(SHOAL_KEY_RULE){0}};

static shoal_status read_pseudonym_key(shoal_policy_reader *reader, unsigned id,
                                       const shoal_yaml *node, void *into) {
  shoal_pseudonym_key *key = into;
  switch ((enum shoal_pseudonym_key_id)id) {
  case SHOAL_KEY_KEY_FILE: return shoal_read_path(reader, node, &key->file);
  case SHOAL_KEY_KEY_ENV:
    return read_key_text(reader, node, "the name of an environment variable", &key->env);
  case SHOAL_KEY_KEY_CONTEXT:
    return read_key_text(reader, node, "a text such as study-7", &key->context);
  }
  return SHOAL_OK;
}

static shoal_status read_key(shoal_policy_reader *reader, const shoal_yaml *node,
                             attribute_target *target) {
  shoal_pseudonym_key *key = &target->attribute->key;
  target->key = node;
  if (node->kind != SHOAL_YAML_MAPPING) return shoal_reader_expected(reader, node, key_form);
  SHOAL_TRY(
      shoal_read_mapping(reader, node, pseudonym_rules, read_pseudonym_key, "{file: FILE}", key));
  if (!key->file != !key->env) return SHOAL_OK;
  return shoal_reader_fail(reader, node->mark, "%s: give exactly one of 'file' and 'env'",
                           shoal_reader_subject(reader).text);
}

/* Only pseudonyms have a key, and their cells are never compared or generalized. */
static shoal_status check_pseudonym(const shoal_policy_reader *reader, const shoal_yaml *name,
                                    const attribute_target *target) {
  const shoal_attribute *attribute = target->attribute;
  const shoal_yaml *given = target->key ? target->key : target->person;
  if (attribute->role != SHOAL_ROLE_PSEUDONYM && given)
    return shoal_reader_fail(reader, given->mark,
                             "%s: '%s' is for pseudonyms: remove it, or use 'role: pseudonym'",
                             shoal_reader_subject(reader).text, target->key ? "key" : "person");
  if (attribute->role == SHOAL_ROLE_PSEUDONYM &&
      (attribute->has_hierarchy || attribute->type == SHOAL_TYPE_NUMBER || attribute->n_protect ||
       attribute->categories.file || attribute->categories.n_lists ||
       shoal_coding_given(&attribute->coding)))
    return shoal_reader_fail(reader, name->mark,
                             "%s: a pseudonym has a key, but no type, hierarchy, codes, protect "
                             "or categories: remove them",
                             shoal_reader_subject(reader).text);
  return SHOAL_OK;
}

/* ---------------------------------------------------------------- all attributes */

static const shoal_key_rule attribute_rules[] = {SHOAL_ATTRIBUTE_KEYS(SHOAL_KEY_RULE){0}};

static shoal_status read_attribute_key(shoal_policy_reader *reader, unsigned id,
                                       const shoal_yaml *node, void *into) {
  static const char *const otherwise[] = {"missing", NULL};
  attribute_target *target = into;
  shoal_attribute *a = target->attribute;
  size_t choice = 0;
  switch ((enum shoal_attribute_key)id) {
  case SHOAL_KEY_ROLE: return read_role(reader, node, target);
  case SHOAL_KEY_DECIDE: return shoal_read_bool(reader, node, &a->undecided);
  case SHOAL_KEY_TYPE: return read_type(reader, node, target);
  case SHOAL_KEY_DAY_FORMAT:
    target->format = reader->key;
    return shoal_read_date_format(reader, node, &a->date_format);
  case SHOAL_KEY_DAY_PIVOT:
    target->pivot = reader->key;
    return shoal_read_pivot(reader, node, &a->pivot);
  case SHOAL_KEY_OTHERWISE:
    SHOAL_TRY(shoal_read_choice(reader, node, otherwise, &choice));
    a->otherwise_missing = true;
    target->otherwise = node;
    return SHOAL_OK;
  case SHOAL_KEY_HIERARCHY:
    SHOAL_TRY(shoal_read_hierarchy(reader, node, &a->coding, &a->hierarchy, &a->has_hierarchy));
    a->coding = a->hierarchy.coding;
    return SHOAL_OK;
  case SHOAL_KEY_PROTECT:
    return shoal_read_words(reader, node, "[Cancer]", &a->protect, &a->n_protect);
  case SHOAL_KEY_CATEGORIES: return read_categories(reader, node, &a->categories);
  case SHOAL_KEY_PSEUDONYM: return read_key(reader, node, target);
  case SHOAL_KEY_PERSON: target->person = node; return shoal_read_bool(reader, node, &a->is_person);
  case SHOAL_KEY_TOP_CODE: return shoal_read_code(reader, node, true, &a->coding);
  case SHOAL_KEY_BOTTOM_CODE: return shoal_read_code(reader, node, false, &a->coding);
  case SHOAL_KEY_RARE: return shoal_read_rare(reader, node, &a->coding);
  case SHOAL_KEY_MIN_LEVEL: target->level = node; return read_level(reader, node, &a->min_level);
  case SHOAL_KEY_MAX_LEVEL:
    target->level = node;
    a->has_max_level = true;
    return read_level(reader, node, &a->max_level);
  case SHOAL_KEY_SNAP: return read_snap(reader, node, target);
  case SHOAL_KEY_RECODE:
    target->recode = node;
    return shoal_read_either(reader, node, "interval", "hierarchy", &a->recode_hierarchy);
  case SHOAL_KEY_ANONYMITY: return read_share(reader, node, 1, &a->anonymity);
  case SHOAL_KEY_PROFILE: return read_share(reader, node, 1, &a->profile);
  case SHOAL_KEY_SENSITIVITY: return read_sensitivity(reader, node, a);
  }
  return SHOAL_OK;
}

/* `snap` and `recode` apply to quasi-identifiers of type number only. */
static shoal_status check_recoding(const shoal_policy_reader *reader,
                                   const attribute_target *target) {
  const shoal_attribute *attribute = target->attribute;
  const shoal_yaml *given = target->snap ? target->snap : target->recode;
  if (!given) return SHOAL_OK;
  if (attribute->role != SHOAL_ROLE_QUASI || attribute->type != SHOAL_TYPE_NUMBER)
    return shoal_reader_fail(reader, given->mark,
                             "%s: '%s' is for quasi-identifiers of type number: remove it, or add "
                             "'role: quasi, type: number'",
                             shoal_reader_subject(reader).text, target->snap ? "snap" : "recode");
  if (!attribute->recode_hierarchy) return SHOAL_OK;
  if (!attribute->has_hierarchy)
    return shoal_reader_fail(reader, target->recode->mark,
                             "%s: 'recode: hierarchy' needs a hierarchy: give it one",
                             shoal_reader_subject(reader).text);
  if (target->snap)
    return shoal_reader_fail(reader, target->snap->mark,
                             "%s: 'snap' widens intervals, and 'recode: hierarchy' makes none: "
                             "remove one of them",
                             shoal_reader_subject(reader).text);
  return SHOAL_OK;
}

/* Sets are the default of text; a number with sets has no intervals. */
static shoal_status choose_sets(const shoal_policy_reader *reader, const attribute_target *target) {
  shoal_attribute *attribute = target->attribute;
  bool number = attribute->type == SHOAL_TYPE_NUMBER;
  if (attribute->role == SHOAL_ROLE_QUASI && !number && !attribute->has_hierarchy) {
    attribute->has_hierarchy = attribute->default_sets = true;
    attribute->hierarchy = (shoal_hierarchy_spec){
        .kind = SHOAL_HIERARCHY_SETS, .line = attribute->mark.line, .at = attribute->mark.at};
  }
  if (!shoal_attribute_has_sets(attribute) || !number) return SHOAL_OK;
  if (target->recode && !attribute->recode_hierarchy)
    return shoal_reader_fail(reader, target->recode->mark,
                             "%s: 'recode: interval' makes intervals, and 'sets' none: remove one "
                             "of them",
                             shoal_reader_subject(reader).text);
  attribute->recode_hierarchy = true;
  return SHOAL_OK;
}

/* Level limits are for quasi-identifiers with a hierarchy. */
static shoal_status check_levels(const shoal_policy_reader *reader,
                                 const attribute_target *target) {
  const shoal_attribute *attribute = target->attribute;
  if (!target->level) return SHOAL_OK;
  if (attribute->role != SHOAL_ROLE_QUASI || !attribute->has_hierarchy)
    return shoal_reader_fail(reader, target->level->mark,
                             "%s: min-level and max-level are for quasi-identifiers with a "
                             "hierarchy: remove them, or give it one",
                             shoal_reader_subject(reader).text);
  if (attribute->has_max_level && attribute->min_level > attribute->max_level)
    return shoal_reader_fail(reader, target->level->mark,
                             "%s: min-level is above max-level: lower it",
                             shoal_reader_subject(reader).text);
  return SHOAL_OK;
}

/*
 * Dates are compared, so cells of other roles are not read as such. Their values are spelled
 * YYYY-MM-DD before a hierarchy sees them. A year first and the day before the month would look
 * like that spelling.
 */
static shoal_status check_dates(const shoal_policy_reader *reader, const attribute_target *target) {
  const shoal_attribute *attribute = target->attribute;
  shoal_hierarchy_kind kind = attribute->hierarchy.kind;
  const shoal_yaml *given = target->format ? target->format : target->pivot;
  const char *problem = NULL;
  bool tree = attribute->has_hierarchy && kind != SHOAL_HIERARCHY_DATE &&
              kind != SHOAL_HIERARCHY_SETS && kind != SHOAL_HIERARCHY_TOP;
  if (!attribute->coding.dates) {
    if (!given) return SHOAL_OK;
    return shoal_reader_fail(reader, given->mark,
                             "%s: '%s' goes with 'type: date' or stands in a hierarchy of dates",
                             shoal_reader_subject(reader).text, given->text);
  }
  if (attribute->role != SHOAL_ROLE_QUASI && attribute->role != SHOAL_ROLE_SENSITIVE)
    problem = "is for quasi-identifiers and sensitive attributes: remove it";
  else if (attribute->coding.has_top || attribute->coding.has_bottom || target->snap)
    problem = "has no top-code, bottom-code or snap: remove them";
  else if (tree)
    problem = "goes with the hierarchies date, sets and top: use one of these, or none";
  else if (attribute->has_hierarchy && kind == SHOAL_HIERARCHY_DATE &&
           strcmp(attribute->hierarchy.date_format, "YYYY-MM-DD") != 0)
    problem = "has its format beside it: move 'format' and 'pivot' out of the hierarchy";
  else if (strcmp(attribute->date_format, "YYYY-DD-MM") == 0)
    problem = "cannot have the format YYYY-DD-MM, which looks like the YYYY-MM-DD of a release";
  else if (target->pivot && !shoal_date_format_is_short(attribute->date_format))
    problem = "has a pivot only if its format has YY: remove it";
  if (!problem) return SHOAL_OK;
  return shoal_reader_fail(reader, target->type->mark, "%s: 'type: date' %s",
                           shoal_reader_subject(reader).text, problem);
}

/* Does its hierarchy have numbers, or models that place each value in a tree or category? */
static bool excludes_rare(const shoal_attribute *attribute) {
  shoal_hierarchy_kind kind = attribute->hierarchy.kind;
  bool numbers =
      attribute->has_hierarchy && (kind == SHOAL_HIERARCHY_INTERVALS ||
                                   kind == SHOAL_HIERARCHY_ROUND || kind == SHOAL_HIERARCHY_CUTS);
  bool placed =
      attribute->has_hierarchy || attribute->categories.file || attribute->categories.n_lists;
  return numbers || (attribute->role == SHOAL_ROLE_SENSITIVE && placed);
}

/* Rare values are texts of columns that are released. */
static shoal_status check_rare(const shoal_policy_reader *reader, const shoal_yaml *name,
                               const shoal_attribute *attribute) {
  shoal_subject subject = shoal_reader_subject(reader);
  if (attribute->role == SHOAL_ROLE_IDENTIFIER)
    return shoal_reader_fail(
        reader, name->mark, "%s: 'rare' is for released columns: remove it, or choose another role",
        subject.text);
  if (attribute->type == SHOAL_TYPE_NUMBER)
    return shoal_reader_fail(reader, name->mark,
                             "%s: 'rare' is for text: use top-code and bottom-code for numbers, or "
                             "remove 'type' if they are codes",
                             subject.text);
  if (excludes_rare(attribute))
    return shoal_reader_fail(reader, name->mark,
                             "%s: 'rare' does not go with intervals, round and cuts, nor with a "
                             "hierarchy or categories of a sensitive attribute: remove one of them",
                             subject.text);
  return SHOAL_OK;
}

/* Codes are for numbers, and for columns that are released. */
static shoal_status check_coding(const shoal_policy_reader *reader, const shoal_yaml *name,
                                 const shoal_attribute *attribute) {
  if (attribute->coding.rare) SHOAL_TRY(check_rare(reader, name, attribute));
  if (!attribute->coding.has_top && !attribute->coding.has_bottom) return SHOAL_OK;
  if (attribute->type == SHOAL_TYPE_NUMBER && !shoal_role_is_removed(attribute->role))
    return SHOAL_OK;
  return shoal_reader_fail(
      reader, name->mark, "%s: '%s' is for released columns of type number: remove it, or %s",
      shoal_reader_subject(reader).text, attribute->coding.has_top ? "top-code" : "bottom-code",
      attribute->type == SHOAL_TYPE_NUMBER ? "choose another role" : "add 'type: number'");
}

/* `otherwise` is about numbers and dates. */
static shoal_status check_otherwise(const shoal_policy_reader *reader,
                                    const attribute_target *target) {
  const shoal_attribute *attribute = target->attribute;
  bool date = attribute->has_hierarchy && attribute->hierarchy.kind == SHOAL_HIERARCHY_DATE;
  if (!target->otherwise || attribute->type == SHOAL_TYPE_NUMBER || date) return SHOAL_OK;
  return shoal_reader_fail(reader, target->otherwise->mark,
                           "%s: 'otherwise' is for numbers and dates: remove it, or add 'type: "
                           "number' or a hierarchy of dates",
                           shoal_reader_subject(reader).text);
}

static shoal_status read_attribute(shoal_policy_reader *reader, const shoal_yaml *name,
                                   shoal_attribute *attribute) {
  static const shoal_key_rule self = {"attributes.NAME", "NAME"};
  *attribute = (shoal_attribute){.name = name->text,
                                 .mark = name->mark,
                                 .weight = {1, 0},
                                 .profile = {1, 0},
                                 .date_format = "YYYY-MM-DD"};
  if (name->text[0] == '\0')
    return shoal_reader_fail(reader, name->mark, "attributes: a name is empty");
  reader->attribute = name->text;
  reader->rule = &self;
  attribute_target target = {.attribute = attribute};
  SHOAL_TRY(shoal_read_mapping(reader, name->next, attribute_rules, read_attribute_key,
                               "{role: quasi}", &target));
  if (!target.has_role)
    return shoal_reader_fail(reader, name->mark,
                             "%s: the key 'role' is missing; give one of: "
                             "identifier, quasi, sensitive, keep, pseudonym, person, household",
                             shoal_reader_subject(reader).text);
  reader->rule = &self;
  SHOAL_TRY(check_pseudonym(reader, name, &target));
  SHOAL_TRY(check_dates(reader, &target));
  SHOAL_TRY(choose_sets(reader, &target));
  SHOAL_TRY(check_recoding(reader, &target));
  SHOAL_TRY(check_coding(reader, name, attribute));
  SHOAL_TRY(check_levels(reader, &target));
  attribute->hierarchy.coding = attribute->coding;
  SHOAL_TRY(check_otherwise(reader, &target));
  reader->attribute = NULL;
  return SHOAL_OK;
}

shoal_status shoal_read_attributes(shoal_policy_reader *reader, const shoal_yaml *node,
                                   shoal_attribute **attributes, size_t *n) {
  if (node->kind != SHOAL_YAML_MAPPING || node->n == 0)
    return shoal_reader_expected(reader, node,
                                 "a mapping of the columns, such as {age: {role: quasi}}");
  shoal_attribute *read = shoal_arena_alloc(reader->arena, node->n, sizeof *read);
  if (!read) return shoal_fail_memory(reader->error);
  const shoal_key_rule *rule = reader->rule;
  *attributes = read;
  *n = node->n;
  for (const shoal_yaml *name = node->first; name; name = name->next->next)
    SHOAL_TRY(read_attribute(reader, name, read++));
  reader->rule = rule;
  return SHOAL_OK;
}
