/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/routes.h"

#include "serve/handlers.h"
#include "serve/work.h"

#define SESSION "/api/v1/sessions/*"

const serve_route serve_routes[] = {
    {"GET", "/api/v1/catalog", SERVE_BODY_NONE, serve_get_catalog,
     "version, models, algorithms, preferences, hierarchy kinds, attacks and kinds of jobs"},
    {"GET", "/api/v1/files", SERVE_BODY_NONE, serve_get_files,
     "tables and policies below the start directory, and examples"},
    {"POST", "/api/v1/sessions", SERVE_BODY_NONE, serve_post_session,
     "start a session, with the table and the policy of the command line if given"},
    {"GET", SESSION, SERVE_BODY_NONE, serve_get_session,
     "its table, policy, history and downloads"},
    {"DELETE", SESSION, SERVE_BODY_NONE, serve_delete_session,
     "end it: its jobs are cancelled, its memory is freed"},
    {"POST", SESSION "/open", SERVE_BODY_JSON, serve_post_open,
     "open a file below the start directory or an example: {\"data\": PATH}, {\"policy\": PATH} or "
     "{\"example\": NAME}; {\"delimiter\": \";\"} reads the open table again"},
    {"PUT", SESSION "/data", SERVE_BODY_UPLOAD, serve_put_data,
     "open an uploaded table; the header Shoal-Name has its file name"},
    {"PUT", SESSION "/policy", SERVE_BODY_TEXT, serve_put_policy,
     "set the policy, as YAML; a policy with errors is kept, with its error"},
    {"POST", SESSION "/undo", SERVE_BODY_NONE, serve_post_undo, "go back to the policy before"},
    {"POST", SESSION "/redo", SERVE_BODY_NONE, serve_post_redo, "go forward again"},
    {"POST", SESSION "/rows", SERVE_BODY_JSON, serve_post_rows,
     "raw rows, once the table is read: {\"from\": 0, \"n\": 20}"},
    {"POST", SESSION "/jobs/*", SERVE_BODY_JSON, serve_post_job,
     "run a job and stream its progress and result; a job of the same kind is replaced"},
    {"DELETE", SESSION "/jobs/*", SERVE_BODY_NONE, serve_delete_job, "cancel a job"},
    {"GET", SESSION "/download/*", SERVE_BODY_NONE, serve_get_download,
     "release, certificate, report, mapping or policy of the last release"},
    {NULL, NULL, SERVE_BODY_NONE, NULL, NULL}};

const serve_job_kind serve_job_kinds[] = {
    {"open", "read the table; its first rows", serve_work_open},
    {"profile", "columns, suggested roles, a first policy, shapes and first rows",
     serve_work_profile},
    {"values", "values of a column with their rows: {\"column\": NAME}", serve_work_values},
    {"check", "as 'shoal check'", serve_work_check},
    {"conditions", "as 'shoal conditions'", serve_work_conditions},
    {"lattice", "as 'shoal lattice'", serve_work_lattice},
    {"explain", "as 'shoal explain'", serve_work_explain},
    {"hierarchy", "as 'shoal hierarchy build': {\"column\": NAME, \"spec\": YAML}",
     serve_work_hierarchy},
    {"nodes",
     "figures of single nodes: {\"nodes\": [{\"age\": 1, ..}]}; with \"classes\": [NAME, NAME] "
     "also "
     "the classes of the last one, and how its labels of two columns occur together",
     serve_work_nodes},
    {"frontier", "releases in memory against k and p: {\"k\": [2, 3], \"p\": [1, 2]}",
     serve_work_frontier},
    {"anonymize", "as 'shoal anonymize': makes, writes and verifies the release",
     serve_work_anonymize},
    {"measure", "as 'shoal measure', on the last release", serve_work_measure},
    {"attack", "as 'shoal attack', on the last release: {\"rule_out\": 2}", serve_work_attack},
    {NULL, NULL, NULL}};

_Static_assert(sizeof serve_job_kinds / sizeof *serve_job_kinds == SERVE_N_JOB_KINDS + 1,
               "session.h has a place for each kind");
