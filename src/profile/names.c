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
 * anywhere in the name with its words joined. English with the abbreviations of statistical tables
 * first, then German, French, Spanish, Italian, Portuguese, Dutch. The first group wins: a group
 * without a noun stops the search.
 */
static const shoal_name_hint hints[] = {
    {SHOAL_ROLE_KEEP, SHOAL_MEANS_ANYTHING, SHOAL_HINT_SURE, NULL,
     "average* avg percentage* message* image* usage* storage damage* package* mileage* voltage "
     "candidate* update* agen*"},
    {SHOAL_ROLE_QUASI, SHOAL_MEANS_AGE, SHOAL_HINT_SURE, "an age",
     "age* *agegroup* alter altersgruppe edad eta idade leeftijd"},
    {SHOAL_ROLE_IDENTIFIER, SHOAL_MEANS_ANYTHING, SHOAL_HINT_SURE, "a row's name or number",
     "*rownames*"}, /* also what a column without a name is called */
    {SHOAL_ROLE_IDENTIFIER, SHOAL_MEANS_ANYTHING, SHOAL_HINT_SURE, "a way to reach the person",
     "email* mail phone* *phonenumber* telephone* mobile* fax tel telefon* handy* correo ip imei "
     "twitter* url homepage courriel telefono portable movil cellulare"},
    {SHOAL_ROLE_IDENTIFIER, SHOAL_MEANS_PERSON, SHOAL_HINT_SURE,
     "a number that belongs to one person",
     "ssn* *socialsecurity* *nationalid* *passport* *insurancenum* *insurancenr* *insuranceno* "
     "*insuranceid* *taxid* mrn pidnum "
     "*medicalrecordn* nhs* *driverlicen* *driverslicen* *licenseplate* *licenceplate* iban "
     "*accountn* *creditcard* *patientid* *patientnum* *patientnr* *personid* *personnr* *userid* "
     "*customerid* "
     "*clientid* *memberid* *subjectid* *studentid* *employeeid* "
     "*participantid* *respondentid* pid "
     "*sozialversicherung* svnr *versichertenn* *versichertenid* *versicherungsn* *steuernum* "
     "*steuerid* *patientenn* "
     "*ausweis* *kontonummer* *kennzeichen* *personalnum* *personalnr* *kundennum* *kundennr* "
     "personnummer ahv* insee nir *passeport* *numeroclient* "
     "dni nif *pasaporte* curp *codicefiscale* cpf bsn *burgerservice* *klantnummer*"},
    {SHOAL_ROLE_IDENTIFIER, SHOAL_MEANS_HOUSEHOLD, SHOAL_HINT_SURE,
     "a number that belongs to one household",
     "*householdid* *familyid* hhid famid *haushaltsid* *haushaltsn* *iddumenage*"},
    {SHOAL_ROLE_IDENTIFIER, SHOAL_MEANS_ANYTHING, SHOAL_HINT_SURE, "a person's name",
     "*firstname* *lastname* *surname* *fullname* *middlename* *forename* *givenname* "
     "*familyname* *maidenname* *username* *nickname* *patientname* login *vorname* *nachname* "
     "*familienname* *geburtsname* prenom* *nomdefamille* apellido* cognome sobrenome voornaam "
     "achternaam"},
    {SHOAL_ROLE_IDENTIFIER, SHOAL_MEANS_ANYTHING, SHOAL_HINT_SURE, "the number of the row",
     "*rownames* *rowname* *rownumber* *unnamed*"},
    {SHOAL_ROLE_QUASI, SHOAL_MEANS_POSTCODE, SHOAL_HINT_SURE, "a postal code",
     "zip* *zipcode* *postcode* postal* plz *postleit* *codepostal* *codigopostal* cep cap "
     "*codicepostale*"},
    {SHOAL_ROLE_KEEP, SHOAL_MEANS_ANYTHING, SHOAL_HINT_SURE, "a price or a tax, not the person's",
     "price* *price *prc *pric tax *tax preis* prix precio* prezzo prijs"},
    {SHOAL_ROLE_KEEP, SHOAL_MEANS_CENSORED, SHOAL_HINT_SURE, "how an observation ended", "cens*"},
    {SHOAL_ROLE_KEEP, SHOAL_MEANS_ANYTHING, SHOAL_HINT_SURE, "the design of a study",
     "study studie delta observed *subcohort* stratum stint votes rating* wave batch"},
    {SHOAL_ROLE_SENSITIVE, SHOAL_MEANS_ANYTHING, SHOAL_HINT_SURE, "crimes or penalties",
     "crime* criminal* offence* offense* offender* arrest* *arrest convict* prison* jail* parole* "
     "paro guilty straf* delit* delikt* vergehen* haft reato condanna* condena* prision* misdrijf* "
     "gevangen*"},
    {SHOAL_ROLE_SENSITIVE, SHOAL_MEANS_ANYTHING, SHOAL_HINT_SURE, "income or wealth",
     "salar* income* *income *inc inc wage* *wage wages earn* wealth* debt* credit* capital* "
     "revenu* pension* mortgage* loan* asset* budget* expend* poverty welfare benefit* pay *pay "
     "totexp ltv lvr dti ausgabe* depense* gasto* spesa spese uitgave* deny denied gehalt lohn "
     "*einkommen* vermogen* schulden rente renten "
     "sueldo* ingreso* renta stipendi* reddito renda rendimento* inkomen salaris loon salaire* "
     "gain gains dette* deuda*"},
    {SHOAL_ROLE_SENSITIVE, SHOAL_MEANS_ANYTHING, SHOAL_HINT_SURE, "insurance or support",
     "insur* *insurance* *insured* medicaid medicare hmo *privins* ui versicherung* assurance* "
     "seguro* assicurazion* verzekering*"},
    {SHOAL_ROLE_SENSITIVE, SHOAL_MEANS_ANYTHING, SHOAL_HINT_SURE, "belief or opinion",
     "relig* faith belief* happi* satisf* rate politic* vote voted voting party *tradeunion* union "
     "opinion* attitude* "
     "protest* catholic* muslim* jewish prot konfession* glaube* partei wahl gewerkschaft* "
     "syndicat* sindicat* partito partido geloof godsdienst* mening* opinie croyance* *statusquo*"},
    {SHOAL_ROLE_SENSITIVE, SHOAL_MEANS_ANYTHING, SHOAL_HINT_SURE, "sexual life",
     "sexual* sexuel* orientation orientierung affair* homo npartner condom"},
    {SHOAL_ROLE_QUASI, SHOAL_MEANS_CATEGORY, SHOAL_HINT_SURE, "marital status",
     "marital* married maried marr mar *marr *married marriage* civil spouse* husband* wife "
     "relationship* *familienstand* "
     "matrimonial* verheiratet marie mariee casado casada casad* coniug* sposat* gehuwd "
     "*estadocivil* *statocivile* *burgerlijke*"},
    {SHOAL_ROLE_QUASI, SHOAL_MEANS_CARE, SHOAL_HINT_IF_NAMES, "a place where people are treated",
     "hospital hospitals clinic krankenhaus klinik hopital hospitales ospedale ziekenhuis"},
    {SHOAL_ROLE_SENSITIVE, SHOAL_MEANS_HEALTH, SHOAL_HINT_SURE, "an illness or other health matter",
     "diagnos* diag disease* disea ndisease illness* ill illdays actdays sick* icd* atc condition "
     "conditions chcond symptom* hiv aids cancer tumor* tumour* covid* diabet* health* hlth* *hlth "
     "medic* medecine drug* treatment* treat trt rx therap* surg surger* disab* pregnan* genotype* "
     "genetic* mutation* transplant* psych* chron* *chron clinic* hosp* doctor* docvis *docvis* "
     "mdvis pharvis "
     "physician* *vis prescri* nonpresc* dose dosage stage tgrade tsize nodes *nodes histol* "
     "karno* *karno ecog cd lesion* rash infect* *infct inj* death deaths died dead mortal* "
     "surviv* futime los blood* systolic diastolic cholesterol chol bili* albumin creatinin* "
     "glucose hemo* platelet* meno* bmi pulse smok* cigs cig cigar* alcohol* drink* tobacco "
     "vaccin* contracept* *birthcontrol* allerg* asthma* pain* bweight bwt bwght *birthweight* "
     "*bwght* physlim physlm *krank* befund behandlung* sucht* "
     "maladie* traitement* enfermedad* tratamiento* salud sante malattia* patologia* farmac* "
     "terapia* doenca* ziekte* aandoening* *gesund* tod muerte mort morte overleden rauch* tabac* "
     "fum* hopital hospital* ospedale ziekenhuis verwundung* blessure*"},
    {SHOAL_ROLE_SENSITIVE, SHOAL_MEANS_ANYTHING, SHOAL_HINT_SURE, "the result of a test",
     "score* *score result* test tests iq gpa *gpa sat act gre rank *rank exam* midterm* homework* "
     "attend* absen* vocabular* math* "
     "*maths* ergebnis* "
     "noten prufung* resultat* examen* resultado* notas esito risultat* voto uitslag cijfer* "
     "toets* punkte"},
    {SHOAL_ROLE_QUASI, SHOAL_MEANS_CATEGORY, SHOAL_HINT_SURE, "sex or gender",
     "sex gender* female male men women woman geschlecht sexe sexo genero sesso geslacht"},
    {SHOAL_ROLE_QUASI, SHOAL_MEANS_ANYTHING, SHOAL_HINT_SURE, "when or where someone was born",
     "*birth* dob yob byear *yearborn* born *geburt* geboren jg jahrg* gebj* gebdat* *gebjahr* geb "
     "naissance* *annaiss* *nacimiento* *anonac* *nascita* *annonasc* *nascimento* *geboorte* "
     "*gebjaar*"},
    {SHOAL_ROLE_QUASI, SHOAL_MEANS_CATEGORY, SHOAL_HINT_SURE, "race or ethnicity",
     "race races racial ethnic* ethni* black white nonwhite hispan* hisp latino raza etnia razza "
     "raca"},
    {SHOAL_ROLE_QUASI, SHOAL_MEANS_COUNT, SHOAL_HINT_SURE, "family or household",
     "household* hhsize fsize famsize family child* children kids* *kid nsib* sibling* parity "
     "dependents familie kinder haushalt* enfants foyer menage hijos hogar figli famiglia filhos "
     "kinderen gezin huishoud*"},
    {SHOAL_ROLE_QUASI, SHOAL_MEANS_CATEGORY, SHOAL_HINT_SURE, "a language",
     "language* *sprache* langue* idioma* lingua taal"},
    {SHOAL_ROLE_QUASI, SHOAL_MEANS_CATEGORY, SHOAL_HINT_SURE, "a country or nationality",
     "countr* nation* citizen* native nativity immigra* migrant* migration* staatsang* herkunft* "
     "pays pais paese land"},
    {SHOAL_ROLE_QUASI, SHOAL_MEANS_CATEGORY, SHOAL_HINT_SURE, "a place",
     "city cities *city town* village* county counties district* region* state province* "
     "municipal* "
     "residence* urban rural south north west east smsa msa metro* population popul* inst "
     "institution* "
     "provnum "
     "borough* canton* location* area stadt ort wohnort gemeinde* kreis landkreis bundesland "
     "kanton kt ville commune departement ciudad municipio provincia citta comune cidade plaats "
     "woonplaats gemeente"},
    {SHOAL_ROLE_QUASI, SHOAL_MEANS_ANYTHING, SHOAL_HINT_SURE, "an exact place",
     "latitude longitude lat lon lng gps coordinate* breitengrad langengrad"},
    {SHOAL_ROLE_QUASI, SHOAL_MEANS_AGE, SHOAL_HINT_SURE, "an age", "*age"},
    {SHOAL_ROLE_QUASI, SHOAL_MEANS_ANYTHING, SHOAL_HINT_SURE, "education",
     "educ* *educ ed daded momed fathed* mothed* edlevel* college* school* *school degree* "
     "nodegree class dept department* "
     "*ausbildung* bildung* schul* klasse abschluss diplom* etudes ecole estudios escuela scuola "
     "educac* escolar* istruzione opleiding*"},
    {SHOAL_ROLE_QUASI, SHOAL_MEANS_ANYTHING, SHOAL_HINT_SURE, "work or occupation",
     "occupation* occup* profession* job jobs work working *work *workclass* employ* employer* "
     "indust* manuf* construc* sector self selfe selfemp* exper* *wexp tenure hours *hrs *whrs* "
     "inlf unemploy* "
     "veteran retired manager clerical beruf* arbeit* arbeitgeber abteilung branche metier emploi "
     "ocupac* profesion empleo trabajo lavoro trabalho beroep werk"},
    {SHOAL_ROLE_QUASI, SHOAL_MEANS_CATEGORY, SHOAL_HINT_SURE, "how someone lives",
     "own owned owner* home* house* housing rent* tenant* dwelling* condo* roof* car cars "
     "vehicle* wohnung* haus logement vivienda casa woning huis auto"},
    {SHOAL_ROLE_QUASI, SHOAL_MEANS_WEIGHT, SHOAL_HINT_SURE, "a weight",
     "weight* wght wgt wt wtkg kg *weight gewicht* poids peso"},
    {SHOAL_ROLE_QUASI, SHOAL_MEANS_ANYTHING, SHOAL_HINT_SURE, "someone's looks",
     "height stature eyes hair grosse grose groesse taille estatura altezza lengte statura"},
    {SHOAL_ROLE_QUASI, SHOAL_MEANS_DATE, SHOAL_HINT_SURE, "when something happened",
     "date* *date datum fecha year* yr timestamp* month* jahr* monat annee mois ano mes anno mese "
     "jaar maand admission* discharged"},
    {SHOAL_ROLE_SENSITIVE, SHOAL_MEANS_DURATION, SHOAL_HINT_SURE, "how long something lasted",
     "time *time duration durat spell days *days weeks week dauer duree duracion durata duur "
     "tage jours dias giorni dagen leis* relax* rlx* sleep* slp* freizeit* schlaf* loisir* "
     "sommeil* ocio sueno sonno slaap*"},
    {SHOAL_ROLE_IDENTIFIER, SHOAL_MEANS_ANYTHING, SHOAL_HINT_SURE, "an address",
     "address* street* adress* anschrift stras* rue calle direccion indirizzo endereco adres "
     "straat"},
    {SHOAL_ROLE_IDENTIFIER, SHOAL_MEANS_ANYTHING, SHOAL_HINT_SURE,
     "free text, where names may stand",
     "comment* notes remark* text freetext freitext bemerkung* kommentar* anmerkung* commentaire* "
     "remarque* comentario* observacion* osservazion* opmerking*"},
    {SHOAL_ROLE_IDENTIFIER, SHOAL_MEANS_ANYTHING, SHOAL_HINT_IF_ALONE, "somebody's name",
     "name* *name nom nombre* nome naam title titel titre titulo titolo"},
    {SHOAL_ROLE_IDENTIFIER, SHOAL_MEANS_PERSON, SHOAL_HINT_IF_ALONE,
     "a person's or record's number", "identifier* uuid guid"},
    {SHOAL_ROLE_IDENTIFIER, SHOAL_MEANS_PERSON, SHOAL_HINT_IF_MANY,
     "the number of a person, a household or a thing", "id ids"},
    {SHOAL_ROLE_IDENTIFIER, SHOAL_MEANS_PERSON, SHOAL_HINT_IF_KEYS, "the number of a person",
     "person subject patient participant respondent customer client member student employee "
     "proband patientin kunde sujet paciente paziente"},
    {SHOAL_ROLE_IDENTIFIER, SHOAL_MEANS_PERSON, SHOAL_HINT_IF_DIFFERENT,
     "a person's or record's number",
     "key no nr num number* nummer numero nro record* ref reference* patient* person* customer* "
     "client* user* member* subject* student* participant* employee* kunde* account* case* obs "
     "seq* index idx *num *nbr"},
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

/* Do the column's values agree with a word that is not sure? */
static bool is_likely(shoal_hint_strength strength, const shoal_column_stats *stats, bool alone) {
  bool mostly_differ = stats->distinct >= stats->present - stats->present / 2;
  switch (strength) {
  case SHOAL_HINT_IF_ALONE: return alone || mostly_differ;
  case SHOAL_HINT_IF_KEYS: return alone && stats->distinct > SHOAL_FEW_CODES;
  case SHOAL_HINT_IF_NAMES: return alone && stats->distinct > 2;
  case SHOAL_HINT_IF_MANY: return alone || mostly_differ || stats->distinct > SHOAL_FEW_CODES;
  case SHOAL_HINT_IF_DIFFERENT: return mostly_differ;
  default: return true;
  }
}

const shoal_name_hint *shoal_name_hint_find(const char *name, const shoal_column_stats *stats) {
  name_words words;
  take_apart(name, &words);
  for (size_t h = 0; h < sizeof hints / sizeof *hints; h++)
    if (is_likely(hints[h].strength, stats, words.n_words == 1) && hint_fits(&hints[h], &words))
      return hints[h].noun ? &hints[h] : NULL;
  return NULL;
}

bool shoal_name_is_of_people(const char *name) {
  const shoal_name_hint *hint = shoal_name_hint_find(name, &(shoal_column_stats){0});
  return hint && hint->meaning == SHOAL_MEANS_PERSON && hint->strength == SHOAL_HINT_SURE;
}
