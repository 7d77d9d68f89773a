// SPDX-License-Identifier: Apache-2.0
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Each function returns NULL if all its checks hold, or else the text of the failed check. */

/* Sends a message, receives it back, and calls most other functions of the C interface once. */
const char* talk(const char* path);
/* Sends a message with each service. `causal`: the daemon gives fifo and causal messages no place.
 */
const char* talk_of_services(const char* path, int causal);
/* Calls functions with wrong arguments, which the library must refuse. */
const char* talk_nonsense(const char* path);
/* The library must refuse a program whose header has another version. */
const char* talk_across_versions(const char* path);
/* The library must not write behind the end of a struct of an older or newer header. */
const char* talk_of_sizes(const char* path);
/* `end` makes the daemon end the session. */
const char* talk_to_the_end(const char* path, void (*end)(void*), void* context);

/* A child by fork() cannot use a client of its parent, but can free its copy of the client. */
const char* talk_across_fork(const char* path);
/* `miss` makes the daemon report to the client that messages to the group `chat` are missing. */
const char* talk_of_a_gap(const char* path, void (*miss)(void*), void* context);

#ifdef __cplusplus
}
#endif
