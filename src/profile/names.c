/* SPDX-License-Identifier: Apache-2.0 */
/*
 * profile/names: guesses the meaning of a column from its name. A name is split into words
 * ("patient_id", "PatientID", "date of birth"), without capitals and accents. The words are looked
 * up in a list of groups, in several languages. The first group with a word of the name wins: the
 * surest groups come first.
 */
#include <string.h>

#include "profile/profile.h"

/*
 * "word" is a whole word of the name, "word*" begins one, "*word" ends one, and "*word*" occurs
 * anywhere in the name with its words joined. English first, then German, French, Spanish, Italian,
 * Portuguese, Dutch.
 */
static const shoal_name_hint hints[] = {
    {SHOAL_ROLE_QUASI, SHOAL_MEANS_AGE, SHOAL_HINT_SURE, "an age",
     "age ages *agegroup* alter altersgruppe edad eta idade leeftijd"},
    {SHOAL_ROLE_IDENTIFIER, SHOAL_MEANS_ANYTHING, SHOAL_HINT_SURE, "a row's name or number",
     "*rownames*"}, /* also what a column without a name is called */
    {SHOAL_ROLE_IDENTIFIER, SHOAL_MEANS_ANYTHING, SHOAL_HINT_SURE, "a way to reach the person",
     "email* mail phone* *phonenumber* telephone* mobile* fax tel telefon* handy* correo ip imei "
     "twitter* url homepage"},
    {SHOAL_ROLE_IDENTIFIER, SHOAL_MEANS_PERSON, SHOAL_HINT_SURE,
     "a number that belongs to one person",
     "ssn* *socialsecurity* *nationalid* *passport* *insurancenum* *insurancenr* *insuranceno* "
     "*insuranceid* *taxid* mrn "
     "*medicalrecordn* nhs* *driverlicen* *driverslicen* *licenseplate* *licenceplate* iban "
     "*accountn* *creditcard* *patientid* *patientnum* *patientnr* *personid* *personnr* *userid* "
     "*customerid* "
     "*clientid* *memberid* *householdid* *familyid* *subjectid* *studentid* *employeeid* "
     "*participantid* *respondentid* "
     "*sozialversicherung* svnr *versichertenn* *versichertenid* *versicherungsn* *steuernum* "
     "*steuerid* "
     "*ausweis* *kontonummer* *kennzeichen* *personalnum* *personalnr* *kundennum* *kundennr* "
     "personnummer ahv* insee nir *passeport* "
     "dni nif *pasaporte* curp *codicefiscale* cpf bsn *burgerservice*"},
    {SHOAL_ROLE_IDENTIFIER, SHOAL_MEANS_ANYTHING, SHOAL_HINT_SURE, "a person's name",
     "*firstname* *lastname* *surname* *fullname* *middlename* *forename* *givenname* "
     "*familyname* *maidenname* *username* *nickname* *patientname* login *vorname* *nachname* "
     "*familienname* *geburtsname* prenom* *nomdefamille* apellido* cognome sobrenome voornaam "
     "achternaam"},
    {SHOAL_ROLE_SENSITIVE, SHOAL_MEANS_ANYTHING, SHOAL_HINT_SURE,
     "an illness or other health matter",
     "diagnos* disease* illness* sick* icd* condition conditions symptom* hiv aids cancer tumor* "
     "tumour* covid* diabet* health* medic* drug* treatment* therap* surger* disab* pregnan* "
     "genotype* genetic* mutation* psych* *krank* befund behandlung* symptom* sucht* maladie* "
     "traitement* enfermedad* tratamiento* salud sante malattia* patologia* farmac* terapia* "
     "doenca* ziekte* aandoening* *gesund*"},
    {SHOAL_ROLE_SENSITIVE, SHOAL_MEANS_ANYTHING, SHOAL_HINT_SURE, "income or wealth",
     "salar* income* wage* earning* wealth* debt* credit* capital* revenu* pension* gehalt lohn "
     "*einkommen* vermogen* schulden sueldo* ingreso* renta stipendi* reddito renda rendimento* "
     "inkomen salaris loon"},
    {SHOAL_ROLE_SENSITIVE, SHOAL_MEANS_ANYTHING, SHOAL_HINT_SURE, "belief or opinion",
     "relig* faith belief* politic* vote* voting *tradeunion* opinion* konfession* glaube* partei "
     "gewerkschaft* syndicat* sindicat* geloof"},
    {SHOAL_ROLE_SENSITIVE, SHOAL_MEANS_ANYTHING, SHOAL_HINT_SURE, "sexual life",
     "sexual* sexuel* orientation orientierung"},
    {SHOAL_ROLE_SENSITIVE, SHOAL_MEANS_ANYTHING, SHOAL_HINT_SURE, "crimes or penalties",
     "crime* criminal* offence* offense* offender* arrest* convict* straf* delit* reato"},
    {SHOAL_ROLE_QUASI, SHOAL_MEANS_CATEGORY, SHOAL_HINT_SURE, "sex or gender",
     "sex gender* geschlecht sexe sexo genero sesso geslacht"},
    {SHOAL_ROLE_QUASI, SHOAL_MEANS_ANYTHING, SHOAL_HINT_SURE, "when or where someone was born",
     "*birth* dob yob born *geburt* geboren naissance* *nacimiento* *nascita* *nascimento* "
     "*geboorte*"},
    {SHOAL_ROLE_QUASI, SHOAL_MEANS_POSTCODE, SHOAL_HINT_SURE, "a postal code",
     "zip* *zipcode* *postcode* postal* plz *postleit* *codepostal* *codigopostal* cep"},
    {SHOAL_ROLE_QUASI, SHOAL_MEANS_CATEGORY, SHOAL_HINT_SURE, "race or ethnicity",
     "race races ethnic* ethni* raza etnia razza raca"},
    {SHOAL_ROLE_QUASI, SHOAL_MEANS_CATEGORY, SHOAL_HINT_SURE, "marital status",
     "marital* married marriage* civil spouse* relationship* *familienstand* matrimonial* "
     "*estadocivil* *statocivile* *burgerlijke*"},
    {SHOAL_ROLE_QUASI, SHOAL_MEANS_ANYTHING, SHOAL_HINT_SURE, "family or household",
     "household* family children kids dependents familie kinder haushalt* enfants foyer hijos "
     "figli filhos kinderen"},
    {SHOAL_ROLE_QUASI, SHOAL_MEANS_CATEGORY, SHOAL_HINT_SURE, "a country or nationality",
     "countr* nation* citizen* native nativity immigra* migrant* migration* staatsang* herkunft* "
     "pays pais "
     "paese land"},
    {SHOAL_ROLE_QUASI, SHOAL_MEANS_CATEGORY, SHOAL_HINT_SURE, "a place",
     "city cities town* village* county counties district* region* state province* municipal* "
     "residence* "
     "borough* canton* location* area stadt ort wohnort gemeinde* kreis landkreis bundesland "
     "kanton "
     "ville commune departement ciudad municipio provincia citta comune cidade plaats woonplaats "
     "gemeente"},
    {SHOAL_ROLE_QUASI, SHOAL_MEANS_ANYTHING, SHOAL_HINT_SURE, "an exact place",
     "latitude longitude lat lon lng gps coordinate*"},
    {SHOAL_ROLE_QUASI, SHOAL_MEANS_ANYTHING, SHOAL_HINT_SURE, "education",
     "educat* school* degree *ausbildung* bildung* schul* abschluss diplom* etudes estudios "
     "educac* escolar* istruzione opleiding*"},
    {SHOAL_ROLE_QUASI, SHOAL_MEANS_CATEGORY, SHOAL_HINT_SURE, "work or occupation",
     "occupation* profession* job jobs work working *workclass* employment employer* industry "
     "department veteran beruf* arbeit* arbeitgeber abteilung branche metier emploi ocupac* "
     "profesion empleo trabajo lavoro trabalho beroep"},
    {SHOAL_ROLE_QUASI, SHOAL_MEANS_CATEGORY, SHOAL_HINT_SURE, "a language",
     "language* *sprache* langue* idioma* lingua taal"},
    {SHOAL_ROLE_IDENTIFIER, SHOAL_MEANS_ANYTHING, SHOAL_HINT_SURE, "an address",
     "address* street* adress* anschrift stras* rue calle direccion indirizzo endereco adres "
     "straat"},
    {SHOAL_ROLE_IDENTIFIER, SHOAL_MEANS_ANYTHING, SHOAL_HINT_SURE,
     "free text, where names may stand",
     "comment* notes remark* text freetext freitext bemerkung* kommentar* anmerkung* commentaire* "
     "remarque* comentario* observacion* osservazion* opmerking*"},
    {SHOAL_ROLE_IDENTIFIER, SHOAL_MEANS_ANYTHING, SHOAL_HINT_IF_ALONE, "somebody's name",
     "name* *name nom nombre* nome naam"},
    {SHOAL_ROLE_IDENTIFIER, SHOAL_MEANS_PERSON, SHOAL_HINT_IF_ALONE,
     "a person's or record's number", "id ids identifier* uuid guid"},
    {SHOAL_ROLE_IDENTIFIER, SHOAL_MEANS_PERSON, SHOAL_HINT_IF_DIFFERENT,
     "a person's or record's number",
     "key no nr num number* nummer numero nro record* ref reference* patient* person* customer* "
     "client* user* member* subject* student* participant* employee* kunde* account* case*"},
};

/* ------------------------------------------------------------ a name's words */

enum { LONGEST_NAME = 192 }; /* bytes of the name that are examined */

typedef struct name_words {
  char apart[2 * LONGEST_NAME + 3]; /* " patient id " */
  char together[LONGEST_NAME + 1];  /* "patientid" */
  size_t n_words;
} name_words;

typedef enum letter { SEPARATOR, LOWER, UPPER, DIGIT } letter;

/* Appends one letter without accent, in lower case; returns the bytes it took. */
static size_t fold_letter(const unsigned char *s, char *out, letter *kind) {
  /* U+00C0 .. U+00DF and, but for the last, U+00E0 .. U+00FF */
  static const char latin[] = "aaaaaaaceeeeiiiidnooooo ouuuuyts";
  if (s[0] == 0xc3 && s[1] >= 0x80 && s[1] <= 0xbf) {
    *out = latin[s[1] & 0x1f];
    *kind = *out == ' ' ? SEPARATOR : s[1] < 0x9f ? UPPER : LOWER;
    if (s[1] == 0xbf) *out = 'y';
    return 2;
  }
  *out = (char)s[0];
  *kind = SEPARATOR;
  if ((s[0] >= 'a' && s[0] <= 'z') || s[0] >= 0x80) *kind = LOWER;
  if (s[0] >= '0' && s[0] <= '9') *kind = DIGIT;
  if (s[0] >= 'A' && s[0] <= 'Z') {
    *kind = UPPER;
    *out = (char)(s[0] - 'A' + 'a');
  }
  return 1;
}

/* Whether a word begins at a letter. "patientId", "IDNumber" and "icd10" have two words. */
static bool begins_word(letter before, letter here, letter after) {
  if (here == SEPARATOR) return false;
  if (before == SEPARATOR) return true;
  if ((before == DIGIT) != (here == DIGIT)) return true;
  return here == UPPER && (before == LOWER || (before == UPPER && after == LOWER));
}

static void take_apart(const char *name, name_words *words) {
  char letters[LONGEST_NAME];
  letter kinds[LONGEST_NAME + 1];
  size_t n = 0, apart = 0, together = 0;
  for (const unsigned char *s = (const unsigned char *)name; *s && n < LONGEST_NAME; n++)
    s += fold_letter(s, &letters[n], &kinds[n]);
  kinds[n] = SEPARATOR;
  words->n_words = 0;
  for (size_t i = 0; i < n; i++) {
    if (begins_word(i ? kinds[i - 1] : SEPARATOR, kinds[i], kinds[i + 1])) {
      words->apart[apart++] = ' ';
      words->n_words++;
    }
    if (kinds[i] == SEPARATOR) continue;
    words->apart[apart++] = letters[i];
    words->together[together++] = letters[i];
  }
  words->apart[apart++] = ' ';
  words->apart[apart] = '\0';
  words->together[together] = '\0';
}

/* ------------------------------------------------------------ looking them up */

/* Whether pattern[0 .. size) occurs in the name. */
static bool pattern_fits(const char *pattern, size_t size, const name_words *words) {
  char wanted[64];
  bool open_start = pattern[0] == '*', open_end = pattern[size - 1] == '*';
  size_t skip = open_start, n = size - open_start - open_end, at = 0;
  if (!open_start) wanted[at++] = ' ';
  memcpy(wanted + at, pattern + skip, n);
  at += n;
  if (!open_end) wanted[at++] = ' ';
  wanted[at] = '\0';
  return strstr(open_start && open_end ? words->together : words->apart, wanted) != NULL;
}

static bool hint_fits(const shoal_name_hint *hint, const name_words *words) {
  const char *at = hint->words;
  while (*at) {
    size_t size = strcspn(at, " ");
    if (pattern_fits(at, size, words)) return true;
    at += size + (at[size] == ' ');
  }
  return false;
}

const shoal_name_hint *shoal_name_hint_find(const char *name, bool mostly_differ) {
  name_words words;
  take_apart(name, &words);
  for (size_t h = 0; h < sizeof hints / sizeof *hints; h++) {
    bool alone = hints[h].strength == SHOAL_HINT_IF_ALONE && words.n_words == 1;
    if (hints[h].strength != SHOAL_HINT_SURE && !mostly_differ && !alone) continue;
    if (hint_fits(&hints[h], &words)) return &hints[h];
  }
  return NULL;
}
