/* SPDX-License-Identifier: Apache-2.0 */
/*
 * serve: `shoal serve`, a workbench for data stewards in the browser. It answers HTTP on the
 * loopback interface, with the page of web/ and a JSON API below /api/v1 (docs/api.md). It uses
 * shoal/shoal.h only.
 *
 *     server.c     listeners, the loop of the main thread, deadlines, end
 *     request.c    one request: checks (guard.c), body, route (routes.c), handler (handlers*.c)
 *     reply.c      responses and their headers
 *     session.c    what one tab works on: data, policy with its history, release
 *     jobs.c       long work on threads of its own (work*.c); stream.c sends its progress
 *     private.c    files that only this process can read;  directory.c: files of the steward
 *
 * The main thread runs every connection; nothing on it takes long. Jobs run on their own threads
 * and share with it only what a mutex guards (jobs.h, session.h).
 */
#pragma once

#include "shoal/shoal.h"

typedef struct serve_options {
  const char *data;      /* table that new sessions open; NULL: none */
  const char *policy;    /* policy that new sessions open; NULL: none */
  unsigned port;         /* 0: a free one */
  bool open_browser;     /* on a private file that redirects to the address */
  unsigned idle_minutes; /* without requests and jobs, after which the server ends; 0: never */
  bool (*stopped)(void); /* has a signal asked to stop? */
} serve_options;

/*
 * Serves until `stopped` or idle; prints one line with the address on standard output. SHOAL_OK
 * then; SHOAL_BAD_INPUT or SHOAL_FAILED if it cannot start.
 */
shoal_status serve_run(const serve_options *options, shoal_error *error) SHOAL_MUST_CHECK;
