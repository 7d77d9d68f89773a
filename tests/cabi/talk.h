// SPDX-License-Identifier: Apache-2.0
#pragma once

#ifdef __cplusplus
extern "C" {
#endif

/* Each returns NULL if all is well, or else what is not. */

/* A message goes out and comes back, and everything else is called once. */
const char* talk(const char* path);
/* Arguments that are wrong are refused. */
const char* talk_nonsense(const char* path);
/* A header that does not go with the library is refused, by both numbers. */
const char* talk_across_versions(const char* path);
/* Structs of earlier and later headers are written as far as they go. */
const char* talk_of_sizes(const char* path);
/* The session is ended by the daemon: `end` makes it do so. */
const char* talk_to_the_end(const char* path, void (*end)(void*), void* context);

/* In a child by fork(), a client of the parent is refused, and freed. */
const char* talk_across_fork(const char* path);
/* The client is told that messages to `chat` are missing: `miss` makes the daemon say so. */
const char* talk_of_a_gap(const char* path, void (*miss)(void*), void* context);

#ifdef __cplusplus
}
#endif
