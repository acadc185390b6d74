/* SPDX-License-Identifier: Apache-2.0 */
/*
 * job/page_study: the release just written is read again as anyone can read it, attacked by an
 * intruder who knows everyone's quasi-identifiers, and measured against the table that it was made
 * from. Who made a release cannot judge it better than who gets it: nothing of the engine's own
 * classes is used.
 */
#include <stdio.h>

#include "job/attack.h"
#include "job/measure.h"
#include "job/page.h"

static shoal_status read_release(const shoal_release *release, int fd, const shoal_run *run,
                                 shoal_table **masked, shoal_error *error) {
  const shoal_prepared *p = &release->prepared;
  char path[40];
  const char delimiter[2] = {p->table->delimiter, '\0'};
  (void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
  return shoal_table_read(path, p->policy, SHOAL_FOR_REVIEW, delimiter, run, masked, error);
}

static shoal_status play_attacks(shoal_release *release, const shoal_table *masked,
                                 const shoal_run *run, shoal_error *error) {
  shoal_siege siege = {0};
  bool withstands; /* told attack by attack: the release satisfies its policy all the same */
  shoal_attack_options options = {.original = release->prepared.table};
  shoal_status status =
      shoal_siege_lay(&siege, masked, release->prepared.policy, &options, run, error);
  if (status == SHOAL_OK) status = shoal_siege_find_minimality(&siege, error);
  if (status == SHOAL_OK) status = shoal_attacks_run(&siege.attacked, &siege.findings, error);
  if (status == SHOAL_OK) status = shoal_siege_tell(&siege, release->result, &withstands, error);
  shoal_siege_reset(&siege);
  return status;
}

/* What cannot be read that way (a guard column is never released) is left out, not a failure. */
static shoal_status unless_unreadable(shoal_status status, const shoal_error *found,
                                      shoal_error *error) {
  if (status == SHOAL_BAD_INPUT) return SHOAL_OK;
  if (status != SHOAL_OK && error) *error = *found;
  return status;
}

shoal_status shoal_page_study(shoal_release *release, int fd, const shoal_run *run,
                              shoal_error *error) {
  shoal_table *masked = NULL;
  shoal_error found = {0};
  shoal_status status =
      unless_unreadable(read_release(release, fd, run, &masked, &found), &found, error);
  if (status != SHOAL_OK || !masked) return status;
  status = unless_unreadable(play_attacks(release, masked, run, &found), &found, error);
  if (status == SHOAL_OK)
    status = unless_unreadable(
        shoal_result_measure(release->result, &release->prepared, masked, NULL, &found), &found,
        error);
  shoal_table_free(masked);
  return status;
}

void shoal_page_sizes(const shoal_identity_risk *risk, shoal_sizes *sizes) {
  *sizes = (shoal_sizes){
      .n_records = risk->n_rows, .n_classes = risk->n_classes, .smallest = risk->smallest_class};
  for (size_t i = 0; i < SHOAL_N_SIZES; i++)
    sizes->records[i < SHOAL_SIZE_BINS ? i : SHOAL_SIZE_BINS - 1] += risk->sizes[i].n_rows;
}
