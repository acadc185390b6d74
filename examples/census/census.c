// SPDX-License-Identifier: Apache-2.0
//
// census: make an Adult-like census table of any size.
//
//   census ROWS [SEED] [--wide] > census.csv
//
// The columns, values and spellings are those of the Adult table as the anonymization literature
// uses it. The people are not: each row is drawn from the small tables of weights below, so the
// file can be published, and be as long as a benchmark wants.
//
// A row is drawn column by column, each given what it depends on:
//
//   sex                     age                    native-country
//    |                       |                      |        |
//    +--> marital-status <---+--> education <-------+        +--> race
//    |                                |
//    +----------> occupation <--------+
//                     |
//                     +--> workclass      salary-class: from all of these but race and origin
//
// The same seed gives the same bytes on every machine: there is no floating point here, and the
// random numbers are SplitMix64's (Steele, Lea and Flood, 2014). A shorter table is the beginning
// of a longer one, and --wide leaves the nine columns as they are.
//
// A draw costs one random number and one look-up (Walker's alias method, 1977, in integers), a cell
// one copy of fixed length from a prepared string, so that the disk, not the program, sets the
// pace.

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

// --- Values -----------------------------------------------------------------------------------

enum { MALE, FEMALE, N_SEX };
static const char *const sex_names[N_SEX] = {"Male", "Female"};

enum { AGE_MIN = 17, AGE_MAX = 90, N_AGE = AGE_MAX - AGE_MIN + 1 };

enum { WHITE, BLACK, ASIAN, AMERICAN_INDIAN, OTHER_RACE, N_RACE };
static const char *const race_names[N_RACE] = {"White", "Black", "Asian-Pac-Islander",
                                               "Amer-Indian-Eskimo", "Other"};

enum { MARRIED, NEVER_MARRIED, DIVORCED, SEPARATED, WIDOWED, SPOUSE_ABSENT, AF_SPOUSE, N_MARITAL };
static const char *const marital_names[N_MARITAL] = {
    "Married-civ-spouse",    "Never-married",    "Divorced", "Separated", "Widowed",
    "Married-spouse-absent", "Married-AF-spouse"};

enum { N_EDUCATION = 16 };
static const char *const education_names[N_EDUCATION] = {
    "Preschool", "1st-4th", "5th-6th",     "7th-8th",      "9th",       "10th",
    "11th",      "12th",    "HS-grad",     "Some-college", "Assoc-voc", "Assoc-acdm",
    "Bachelors", "Masters", "Prof-school", "Doctorate"};

enum { N_WORKCLASS = 7 };
static const char *const workclass_names[N_WORKCLASS] = {
    "Private",   "Self-emp-not-inc", "Self-emp-inc", "Local-gov",
    "State-gov", "Federal-gov",      "Without-pay"};

enum { N_OCCUPATION = 14 };
static const char *const occupation_names[N_OCCUPATION] = {
    "Adm-clerical",    "Armed-Forces",      "Craft-repair",      "Exec-managerial",
    "Farming-fishing", "Handlers-cleaners", "Machine-op-inspct", "Other-service",
    "Priv-house-serv", "Prof-specialty",    "Protective-serv",   "Sales",
    "Tech-support",    "Transport-moving"};

enum { N_SALARY = 2 };
static const char *const salary_names[N_SALARY] = {"<=50K", ">50K"};

// Where somebody was born decides the race, and in part the schooling.
enum origin { STATES, EUROPE, LATIN, CARIBBEAN, ASIA, ELSEWHERE, N_ORIGIN };

struct country {
  const char *name;
  uint16_t weight;
  uint8_t origin;
};

static const struct country countries[] = {
    {"United-States", 9120, STATES},
    {"Mexico", 200, LATIN},
    {"Philippines", 62, ASIA},
    {"Germany", 42, EUROPE},
    {"Puerto-Rico", 36, LATIN},
    {"Canada", 35, EUROPE},
    {"India", 33, ASIA},
    {"El-Salvador", 33, LATIN},
    {"Cuba", 30, LATIN},
    {"England", 29, EUROPE},
    {"Jamaica", 27, CARIBBEAN},
    {"South", 24, ASIA},
    {"Italy", 23, EUROPE},
    {"China", 23, ASIA},
    {"Dominican-Republic", 22, LATIN},
    {"Vietnam", 21, ASIA},
    {"Guatemala", 21, LATIN},
    {"Japan", 20, ASIA},
    {"Poland", 19, EUROPE},
    {"Columbia", 19, LATIN},
    {"Iran", 14, ELSEWHERE},
    {"Taiwan", 14, ASIA},
    {"Haiti", 14, CARIBBEAN},
    {"Portugal", 11, EUROPE},
    {"Nicaragua", 11, LATIN},
    {"Peru", 10, LATIN},
    {"Greece", 10, EUROPE},
    {"Ecuador", 9, LATIN},
    {"France", 9, EUROPE},
    {"Ireland", 8, EUROPE},
    {"Hong", 6, ASIA},
    {"Cambodia", 6, ASIA},
    {"Trinadad&Tobago", 6, CARIBBEAN},
    {"Thailand", 6, ASIA},
    {"Laos", 6, ASIA},
    {"Yugoslavia", 5, EUROPE},
    {"Outlying-US(Guam-USVI-etc)", 5, ELSEWHERE},
    {"Hungary", 4, EUROPE},
    {"Honduras", 4, LATIN},
    {"Scotland", 4, EUROPE},
    {"Holand-Netherlands", 1, EUROPE},
};
enum { N_COUNTRY = (int)COUNT(countries) };

// --- Weights: in a row of a table only their proportions matter --------------------------------

static const uint16_t sex_weights[N_SEX] = {676, 324};

static const uint16_t age_weights[N_AGE] = {
    110, 150, 195, 205, 210, 220, 265, 255, 262, 255, // 17-26
    262, 265, 262, 268, 278, 268, 276, 276, 277, 280, // 27-36
    275, 265, 262, 255, 253, 248, 244, 236, 234, 232, // 37-46
    222, 180, 184, 190, 186, 154, 148, 134, 127, 116, // 47-56
    113, 113, 109, 94,  85,  72,  63,  56,  46,  38,  // 57-66
    36,  31,  26,  21,  18,  15,  15,  13,  11,  9,   // 67-76
    7,   6,   5,   5,   4,   3,   3,   2,   2,   1,   // 77-86
    1,   1,   1,   11,                                // 87-90, and the last stands for all older
};

// By origin: White, Black, Asian-Pac-Islander, Amer-Indian-Eskimo, Other.
static const uint16_t race_weights[N_ORIGIN][N_RACE] = {
    [STATES] = {881, 96, 10, 10, 3}, [EUROPE] = {956, 30, 9, 2, 3},
    [LATIN] = {870, 25, 3, 10, 92},  [CARIBBEAN] = {45, 920, 20, 0, 15},
    [ASIA] = {70, 8, 905, 7, 10},    [ELSEWHERE] = {750, 120, 100, 0, 30},
};

enum { N_MARITAL_BAND = 8 };
static const uint8_t marital_band_ends[N_MARITAL_BAND] = {19, 24, 29, 39, 49, 59, 69, AGE_MAX};

// Married, never married, divorced, separated, widowed, spouse absent, spouse in the armed forces.
static const uint16_t marital_weights[N_SEX][N_MARITAL_BAND][N_MARITAL] = {
    [MALE] = {{17, 980, 1, 1, 0, 1, 0},
              {165, 805, 13, 10, 0, 6, 1},
              {440, 488, 44, 19, 1, 7, 1},
              {660, 210, 95, 25, 1, 8, 1},
              {750, 85, 125, 21, 5, 13, 1},
              {812, 51, 99, 15, 14, 9, 0},
              {843, 35, 74, 10, 29, 9, 0},
              {745, 85, 30, 7, 120, 13, 0}},
    [FEMALE] = {{12, 964, 8, 8, 0, 5, 3},
                {56, 873, 34, 24, 1, 11, 1},
                {152, 655, 122, 44, 4, 22, 1},
                {200, 366, 309, 79, 21, 22, 3},
                {199, 193, 441, 89, 53, 24, 1},
                {187, 115, 425, 69, 179, 25, 0},
                {120, 88, 283, 42, 453, 14, 0},
                {83, 137, 166, 14, 586, 14, 0}},
};

// From here on bands of age are coarser. Adults born in Latin America have a row of their own.
enum { N_SCHOOL_BAND = 6, LATIN_BAND = N_SCHOOL_BAND, N_SCHOOL_ROW };
static const uint8_t school_band_ends[N_SCHOOL_BAND] = {19, 24, 34, 49, 64, AGE_MAX};

// In the order of education_names, from Preschool to Doctorate.
static const uint16_t education_weights[N_SCHOOL_ROW][N_EDUCATION] = {
    {1, 1, 3, 11, 25, 110, 250, 80, 273, 250, 2, 1, 1, 0, 0, 0},
    {1, 2, 5, 8, 12, 19, 28, 15, 320, 388, 37, 32, 132, 5, 0, 0},
    {1, 2, 4, 10, 13, 22, 26, 10, 343, 210, 53, 41, 208, 40, 14, 8},
    {1, 3, 5, 11, 12, 17, 22, 7, 320, 208, 51, 40, 190, 77, 26, 16},
    {2, 6, 10, 33, 21, 36, 26, 10, 350, 178, 34, 24, 142, 75, 23, 23},
    {3, 9, 16, 68, 27, 45, 33, 8, 325, 173, 31, 10, 130, 54, 28, 31},
    [LATIN_BAND] = {16, 55, 100, 70, 75, 35, 40, 40, 265, 135, 22, 25, 80, 20, 14, 8},
};

enum { N_LEVEL = 8 }; // of schooling: what an employer asks for
static const uint8_t level_of_education[N_EDUCATION] = {0, 0, 0, 0, 1, 1, 1, 1,
                                                        2, 3, 4, 4, 5, 6, 7, 7};

// In the order of occupation_names, by sex and level of schooling.
static const uint16_t occupation_weights[N_SEX][N_LEVEL][N_OCCUPATION] = {
    [MALE] = {{17, 0, 218, 27, 157, 121, 135, 129, 1, 14, 13, 46, 3, 119},
              {28, 1, 250, 30, 63, 135, 114, 156, 2, 13, 9, 65, 5, 129},
              {58, 1, 268, 79, 56, 76, 110, 80, 0, 19, 29, 94, 15, 115},
              {89, 1, 193, 139, 37, 56, 57, 82, 0, 61, 41, 145, 37, 62},
              {69, 0, 235, 126, 43, 30, 53, 55, 1, 96, 51, 118, 81, 42},
              {66, 0, 58, 287, 21, 12, 13, 27, 1, 254, 24, 179, 43, 15},
              {34, 1, 17, 346, 9, 4, 5, 5, 0, 437, 13, 97, 24, 8},
              {12, 0, 11, 110, 7, 0, 1, 4, 0, 813, 1, 27, 9, 5}},
    [FEMALE] = {{23, 0, 31, 5, 35, 31, 271, 394, 135, 12, 4, 43, 15, 1},
                {119, 0, 28, 31, 9, 35, 116, 378, 35, 21, 6, 204, 6, 12},
                {309, 0, 32, 85, 7, 29, 87, 229, 15, 32, 7, 133, 19, 16},
                {356, 0, 20, 116, 8, 11, 28, 169, 6, 67, 11, 154, 46, 8},
                {300, 0, 21, 128, 4, 7, 20, 127, 6, 195, 8, 85, 92, 7},
                {173, 0, 9, 214, 2, 3, 9, 49, 3, 375, 9, 106, 47, 1},
                {57, 0, 4, 206, 0, 0, 4, 24, 0, 650, 0, 41, 14, 0},
                {18, 0, 5, 119, 0, 0, 5, 6, 0, 804, 0, 30, 12, 1}},
};

// Private, self-employed (not incorporated, incorporated), local, state, federal, without pay.
static const uint16_t workclass_weights[N_OCCUPATION][N_WORKCLASS] = {
    {7500, 130, 80, 760, 670, 850, 10},
    {0, 0, 0, 0, 0, 1, 0},
    {7800, 1300, 250, 350, 140, 157, 3},
    {6630, 960, 960, 530, 470, 450, 0},
    {4550, 4330, 520, 290, 150, 95, 65},
    {9300, 110, 15, 340, 70, 155, 10},
    {9560, 180, 55, 65, 65, 70, 5},
    {8300, 540, 80, 590, 380, 107, 3},
    {1, 0, 0, 0, 0, 0, 0},
    {5580, 900, 390, 1710, 1005, 415, 0},
    {2890, 90, 80, 4720, 1800, 420, 0},
    {8080, 1050, 780, 20, 30, 40, 0},
    {7930, 290, 30, 420, 610, 720, 0},
    {7930, 750, 170, 730, 265, 150, 5},
};

// Salary: the chance of more than 50K is a product of five factors, each in thousandths, the first
// that of a married man in his forties or fifties with an average occupation.
static const uint16_t salary_by_level[N_LEVEL] = {115, 200, 410, 510, 540, 740, 850, 1050};
static const uint16_t salary_by_age[N_SCHOOL_BAND] = {20, 230, 720, 1000, 1050, 620};
static const uint16_t salary_by_marital[N_MARITAL] = {1000, 210, 310, 260, 320, 250, 900};
static const uint16_t salary_by_sex[N_SEX] = {1000, 860};
static const uint16_t salary_by_occupation[N_OCCUPATION] = {880, 600, 940,  1340, 480,  560,  720,
                                                            440, 150, 1100, 1080, 1090, 1140, 870};
enum { SALARY_CEILING = 950 };

// Of --wide: the first digit of the zip.
static const uint16_t zip_weights[10] = {80, 110, 100, 120, 100, 60, 70, 110, 60, 190};

// --- Drawing ----------------------------------------------------------------------------------

// SplitMix64: the state counts, the value is the count well mixed.
static inline uint64_t next_random(uint64_t *state) {
  uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
  z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
  return z ^ (z >> 31);
}

// An evenly distributed number below n.
static inline uint32_t below(uint32_t random, uint32_t n) {
  return (uint32_t)(((uint64_t)random * n) >> 32);
}

enum { MAX_OUTCOMES = 80 };
_Static_assert(COUNT(age_weights) <= MAX_OUTCOMES, "ages are the largest table");
_Static_assert(COUNT(countries) <= MAX_OUTCOMES, "or countries");

// A distribution as n columns of one height, the sum of the weights. Column i holds outcome i up to
// keep[i] and other[i] above: an even draw of a column and of a point in it draws by weight.
struct dist {
  uint32_t n;
  uint32_t height;
  uint32_t keep[MAX_OUTCOMES];
  uint8_t other[MAX_OUTCOMES];
};

// Fill the alias columns: each outcome has weight x n to give, a column takes `height`, so what is
// short is filled up by what is tall. Exact, since both are whole numbers.
static void dist_init(struct dist *d, const uint16_t *weights, size_t n) {
  uint64_t left[MAX_OUTCOMES];
  uint8_t small[MAX_OUTCOMES];
  uint8_t tall[MAX_OUTCOMES];
  size_t n_small = 0;
  size_t n_tall = 0;

  d->n = (uint32_t)n;
  d->height = 0;
  for (size_t i = 0; i < n; i++) d->height += weights[i];
  for (size_t i = 0; i < n; i++) {
    left[i] = (uint64_t)weights[i] * n;
    d->keep[i] = d->height;
    d->other[i] = (uint8_t)i;
    if (left[i] < d->height) small[n_small++] = (uint8_t)i;
    else tall[n_tall++] = (uint8_t)i;
  }
  while (n_small > 0 && n_tall > 0) {
    uint8_t s = small[--n_small];
    uint8_t t = tall[n_tall - 1];
    d->keep[s] = (uint32_t)left[s];
    d->other[s] = t;
    left[t] -= d->height - left[s];
    if (left[t] < d->height) {
      n_tall--;
      small[n_small++] = t;
    }
  }
}

static inline unsigned draw(const struct dist *d, uint64_t *state) {
  uint64_t random = next_random(state);
  uint32_t column = below((uint32_t)(random >> 32), d->n);
  uint32_t point = below((uint32_t)random, d->height);
  return point < d->keep[column] ? column : d->other[column];
}

// --- Prepared tables --------------------------------------------------------------------------

// A cell's text with the comma after it. It is copied whole, and the copy cut at `length`.
enum { CELL_ROOM = 31 };
struct cell {
  char text[CELL_ROOM];
  uint8_t length;
};

struct tables {
  struct dist sex, age, country;
  struct dist race[N_ORIGIN];
  struct dist marital[N_SEX][N_MARITAL_BAND];
  struct dist education[N_SCHOOL_ROW];
  struct dist occupation[N_SEX][N_LEVEL];
  struct dist workclass[N_OCCUPATION];
  struct dist zip;
  // Of 2^32, how many draws give more than 50K.
  uint32_t salary[N_SEX][N_SCHOOL_BAND][N_MARITAL][N_LEVEL][N_OCCUPATION];
  uint8_t marital_band[N_AGE];
  uint8_t school_band[N_AGE];

  struct cell sex_cell[N_SEX], age_cell[N_AGE], race_cell[N_RACE], marital_cell[N_MARITAL];
  struct cell education_cell[N_EDUCATION], country_cell[N_COUNTRY], workclass_cell[N_WORKCLASS];
  struct cell occupation_cell[N_OCCUPATION], salary_cell[N_SALARY];
};

static void cell_init(struct cell *c, const char *text) {
  int length = snprintf(c->text, sizeof c->text, "%s,", text);
  c->length = (uint8_t)length;
}

static void cells_init(struct cell *cells, const char *const *names, size_t n) {
  for (size_t i = 0; i < n; i++) cell_init(&cells[i], names[i]);
}

static void all_cells_init(struct tables *t) {
  cells_init(t->sex_cell, sex_names, N_SEX);
  cells_init(t->race_cell, race_names, N_RACE);
  cells_init(t->marital_cell, marital_names, N_MARITAL);
  cells_init(t->education_cell, education_names, N_EDUCATION);
  cells_init(t->workclass_cell, workclass_names, N_WORKCLASS);
  cells_init(t->occupation_cell, occupation_names, N_OCCUPATION);
  cells_init(t->salary_cell, salary_names, N_SALARY);
  for (size_t i = 0; i < N_COUNTRY; i++) cell_init(&t->country_cell[i], countries[i].name);
  for (size_t i = 0; i < N_AGE; i++) {
    char text[8];
    (void)snprintf(text, sizeof text, "%u", (unsigned)(AGE_MIN + i));
    cell_init(&t->age_cell[i], text);
  }
}

static void bands_init(uint8_t *band_of_age, const uint8_t *ends) {
  uint8_t band = 0;
  for (unsigned age = AGE_MIN; age <= AGE_MAX; age++) {
    if (age > ends[band]) band++;
    band_of_age[age - AGE_MIN] = band;
  }
}

// The share of 2^32 that earns more than 50K.
static uint32_t salary_share(size_t sex, size_t band, size_t marital, size_t level, size_t job) {
  uint64_t share = salary_by_level[level]; // in thousandths, to the fifth power
  share *= salary_by_age[band];
  share *= salary_by_marital[marital];
  share *= salary_by_sex[sex];
  share *= salary_by_occupation[job];
  uint64_t ppm = share / UINT64_C(1000000000);
  if (ppm > SALARY_CEILING * UINT64_C(1000)) ppm = SALARY_CEILING * UINT64_C(1000);
  return (uint32_t)((ppm << 32) / UINT64_C(1000000));
}

static void salary_init(struct tables *t) {
  for (size_t s = 0; s < N_SEX; s++)
    for (size_t b = 0; b < N_SCHOOL_BAND; b++)
      for (size_t m = 0; m < N_MARITAL; m++)
        for (size_t l = 0; l < N_LEVEL; l++)
          for (size_t o = 0; o < N_OCCUPATION; o++)
            t->salary[s][b][m][l][o] = salary_share(s, b, m, l, o);
}

static void tables_init(struct tables *t) {
  uint16_t country_weights[N_COUNTRY];
  for (size_t i = 0; i < N_COUNTRY; i++) country_weights[i] = countries[i].weight;
  dist_init(&t->sex, sex_weights, N_SEX);
  dist_init(&t->age, age_weights, N_AGE);
  dist_init(&t->country, country_weights, N_COUNTRY);
  dist_init(&t->zip, zip_weights, COUNT(zip_weights));
  for (size_t i = 0; i < N_ORIGIN; i++) dist_init(&t->race[i], race_weights[i], N_RACE);
  for (size_t i = 0; i < N_SCHOOL_ROW; i++)
    dist_init(&t->education[i], education_weights[i], N_EDUCATION);
  for (size_t i = 0; i < N_OCCUPATION; i++)
    dist_init(&t->workclass[i], workclass_weights[i], N_WORKCLASS);
  for (size_t s = 0; s < N_SEX; s++) {
    for (size_t i = 0; i < N_MARITAL_BAND; i++)
      dist_init(&t->marital[s][i], marital_weights[s][i], N_MARITAL);
    for (size_t i = 0; i < N_LEVEL; i++)
      dist_init(&t->occupation[s][i], occupation_weights[s][i], N_OCCUPATION);
  }
  bands_init(t->marital_band, marital_band_ends);
  bands_init(t->school_band, school_band_ends);
  salary_init(t);
  all_cells_init(t);
}

// --- Rows -------------------------------------------------------------------------------------

static inline char *put(char *to, const struct cell *c) {
  memcpy(to, c->text, CELL_ROOM);
  return to + c->length;
}

// A number in exactly `width` digits, leading zeros kept.
static inline char *put_digits(char *to, uint64_t value, unsigned width) {
  for (unsigned i = width; i > 0; i--) {
    to[i - 1] = (char)('0' + value % 10);
    value /= 10;
  }
  return to + width;
}

// The nine columns, a comma after each. *age_index receives the age, for --wide.
static char *put_person(char *to, const struct tables *t, uint64_t *state, unsigned *age_index) {
  unsigned sex = draw(&t->sex, state);
  unsigned age = draw(&t->age, state);
  unsigned country = draw(&t->country, state);
  unsigned origin = countries[country].origin;
  unsigned race = draw(&t->race[origin], state);
  unsigned marital = draw(&t->marital[sex][t->marital_band[age]], state);
  unsigned band = t->school_band[age];
  unsigned school_row = origin == LATIN && band > 0 ? (unsigned)LATIN_BAND : band;
  unsigned education = draw(&t->education[school_row], state);
  unsigned level = level_of_education[education];
  unsigned job = draw(&t->occupation[sex][level], state);
  unsigned workclass = draw(&t->workclass[job], state);
  uint32_t luck = (uint32_t)(next_random(state) >> 32);
  unsigned salary = luck < t->salary[sex][band][marital][level][job];

  to = put(to, &t->sex_cell[sex]);
  to = put(to, &t->age_cell[age]);
  to = put(to, &t->race_cell[race]);
  to = put(to, &t->marital_cell[marital]);
  to = put(to, &t->education_cell[education]);
  to = put(to, &t->country_cell[country]);
  to = put(to, &t->workclass_cell[workclass]);
  to = put(to, &t->occupation_cell[job]);
  to = put(to, &t->salary_cell[salary]);
  *age_index = age;
  return to;
}

// Ages are those on the last day of this year, so the year of birth is the difference.
enum { CENSUS_YEAR = 1994 };

// Any day of the year of birth, as an ISO date.
static char *put_birth(char *to, unsigned age, uint32_t random) {
  static const uint8_t month_days[12] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  unsigned year = CENSUS_YEAR - age;
  bool leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
  unsigned day = below(random, leap ? 366 : 365);
  unsigned month = 0;
  for (;;) {
    unsigned days = month_days[month] + (month == 1 && leap ? 1u : 0u);
    if (day < days) break;
    day -= days;
    month++;
  }
  to = put_digits(to, year, 4);
  *to++ = '-';
  to = put_digits(to, month + 1, 2);
  *to++ = '-';
  return put_digits(to, day + 1, 2);
}

// zip, birth and id, a comma after each. Zip areas differ in size: the second and third digits are
// the lesser of two draws, so low ones are crowded and high ones nearly empty.
static char *put_wide(char *to, const struct tables *t, uint64_t *state, unsigned age_index,
                      uint64_t row) {
  unsigned first = draw(&t->zip, state);
  uint64_t area_random = next_random(state);
  uint32_t one = below((uint32_t)(area_random >> 32), 100);
  uint32_t two = below((uint32_t)area_random, 100);
  uint64_t rest_random = next_random(state);
  uint32_t last = below((uint32_t)(rest_random >> 32), 100);

  to = put_digits(to, first, 1);
  to = put_digits(to, one < two ? one : two, 2);
  to = put_digits(to, last, 2);
  *to++ = ',';
  to = put_birth(to, AGE_MIN + age_index, (uint32_t)rest_random);
  *to++ = ',';
  *to++ = 'P';
  unsigned width = 7;
  for (uint64_t limit = 10000000; width < 19 && row >= limit; limit *= 10) width++;
  to = put_digits(to, row, width);
  *to++ = ',';
  return to;
}

enum { BUFFER_SIZE = 1 << 18, ROW_ROOM = 512 };
_Static_assert(ROW_ROOM > 9 * CELL_ROOM + CELL_ROOM + 64, "a row must fit");

// Write the table; false if the stream takes no more.
static bool write_census(FILE *out, uint64_t n_rows, uint64_t seed, bool wide) {
  static struct tables tables;
  static char buffer[BUFFER_SIZE];
  static const char header[] =
      "sex,age,race,marital-status,education,native-country,workclass,occupation,salary-class";
  uint64_t state = seed;
  uint64_t wide_state = ~seed; // a sequence of its own, so that --wide changes nothing else
  wide_state = next_random(&wide_state);

  tables_init(&tables);
  if (fprintf(out, "%s%s\n", header, wide ? ",zip,birth,id" : "") < 0) return false;
  char *to = buffer;
  for (uint64_t row = 1; row <= n_rows; row++) {
    unsigned age;
    to = put_person(to, &tables, &state, &age);
    if (wide) to = put_wide(to, &tables, &wide_state, age, row);
    to[-1] = '\n';
    if (buffer + BUFFER_SIZE - to < ROW_ROOM) {
      size_t size = (size_t)(to - buffer);
      if (fwrite(buffer, 1, size, out) != size) return false;
      to = buffer;
    }
  }
  size_t size = (size_t)(to - buffer);
  return fwrite(buffer, 1, size, out) == size && fflush(out) == 0;
}

// --- The command line -------------------------------------------------------------------------

enum { EXIT_USAGE = 2, EXIT_MACHINE = 3 };

static const char usage_text[] =
    "usage: census ROWS [SEED] [--wide] > census.csv\n"
    "\n"
    "Write ROWS rows of an invented, Adult-like census as CSV to standard output.\n"
    "\n"
    "  ROWS      how many rows, besides the header\n"
    "  SEED      a whole number, 1 unless given; the same seed gives the same file\n"
    "  --wide    add the columns zip, birth and id, so that nearly all rows are distinct\n"
    "            (--distinct is the same)\n"
    "  --help    show this\n";

// A whole number written in digits only, no sign, no space, no overflow.
static bool parse_number(const char *text, uint64_t *value) {
  if (*text == '\0') return false;
  uint64_t sum = 0;
  for (; *text != '\0'; text++) {
    if (*text < '0' || *text > '9') return false;
    uint64_t digit = (uint64_t)(*text - '0');
    if (sum > (UINT64_MAX - digit) / 10) return false;
    sum = sum * 10 + digit;
  }
  *value = sum;
  return true;
}

static int usage_error(const char *problem, const char *what) {
  (void)fprintf(stderr, "census: %s%s\n\n%s", problem, what, usage_text);
  return EXIT_USAGE;
}

int main(int argc, char **argv) {
  uint64_t numbers[2] = {0, 1}; // rows and seed
  size_t n_numbers = 0;
  bool wide = false;

  for (int i = 1; i < argc; i++) {
    const char *word = argv[i];
    if (strcmp(word, "--help") == 0) {
      return fputs(usage_text, stdout) < 0 || fflush(stdout) != 0 ? EXIT_MACHINE : EXIT_SUCCESS;
    } else if (strcmp(word, "--wide") == 0 || strcmp(word, "--distinct") == 0) {
      wide = true;
    } else if (word[0] == '-') {
      return usage_error("no such option: ", word);
    } else if (n_numbers == COUNT(numbers)) {
      return usage_error("one word too many: ", word);
    } else if (!parse_number(word, &numbers[n_numbers])) {
      return usage_error("not a whole number: ", word);
    } else {
      n_numbers++;
    }
  }
  if (n_numbers == 0) return usage_error("how many rows?", "");
  if (!write_census(stdout, numbers[0], numbers[1], wide)) {
    perror("census: cannot write");
    return EXIT_MACHINE;
  }
  return EXIT_SUCCESS;
}
