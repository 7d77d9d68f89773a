/* SPDX-License-Identifier: Apache-2.0 */
#define _POSIX_C_SOURCE 200809L
#include "talk.h"

#include <peal/peal.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define CHECK(condition)                                                               \
  do {                                                                                 \
    if (!(condition)) {                                                                \
      snprintf(text, sizeof text, "line %d: %s; last error: %s", __LINE__, #condition, \
               peal_error_text());                                                     \
      return text;                                                                     \
    }                                                                                  \
  } while (0)

static char text[1024];

static int is(peal_text got, const char* wanted) {
  return got.size == strlen(wanted) && memcmp(got.data, wanted, got.size) == 0;
}

static int32_t open_client(const char* path, peal_client** client) {
  peal_options options;
  peal_options_init(&options);
  options.daemon = path;
  options.connect_timeout_ms = 60000;
  return peal_connect(&options, client);
}

const char* talk(const char* path) {
  const char* chat = "chat";
  peal_client* client = NULL;
  peal_event event;
  peal_status status;
  char answer[3];
  CHECK(open_client(path, &client) == PEAL_OK);
  CHECK(peal_join(client, chat, NULL, -1) == PEAL_OK);
  peal_send_options safe = PEAL_SEND_OPTIONS_INIT;
  CHECK(safe.size == sizeof safe && safe.service == PEAL_AGREED);
  safe.service = PEAL_SAFE;
  safe.type = 7;
  CHECK(peal_send(client, &chat, 1, "hello", 5, &safe, 0) == 1);
  CHECK(peal_flush(client, -1) == PEAL_OK);
  struct pollfd readable = {peal_fd(client), POLLIN, 0};
  CHECK(poll(&readable, 1, -1) == 1);
  CHECK(peal_receive(client, &event, -1) == 1);
  CHECK(event.kind == PEAL_MESSAGE);
  CHECK(is(event.sender, "#ada#n1"));
  CHECK(event.target_count == 1 && is(event.targets[0], "chat"));
  CHECK(event.payload_bytes == 5 && memcmp(event.payload, "hello", 5) == 0);
  CHECK(event.place.position == 1);
  CHECK(peal_receive(client, &event, 0) == 0);
  CHECK(peal_room_fd(client) >= 0);
  CHECK(peal_ask(client, "status", answer, sizeof answer, -1) == 4);
  CHECK(strcmp(answer, "fi") == 0);
  CHECK(peal_get_status(client, &status) == PEAL_OK);
  CHECK(strcmp(status.name, "#ada#n1") == 0 && strcmp(status.cluster, "test") == 0);
  CHECK(status.connected && status.sent == 1 && status.settled == 1);
  CHECK(peal_leave(client, chat, -1) == PEAL_OK);
  CHECK(peal_end(client, -1) == PEAL_OK);
  CHECK(peal_receive(client, &event, 0) == 1);
  CHECK(event.kind == PEAL_ENDED && event.on_request);
  CHECK(peal_end(client, -1) == PEAL_OK);
  peal_close(client, -1);
  return NULL;
}

const char* talk_of_services(const char* path, int causal) {
  const char* chat = "chat";
  const int32_t services[] = {PEAL_FIFO, PEAL_CAUSAL, PEAL_AGREED, PEAL_SAFE};
  peal_client* client = NULL;
  peal_event event;
  CHECK(open_client(path, &client) == PEAL_OK);
  for (uint64_t number = 1; number <= 4; ++number) {
    peal_send_options options = PEAL_SEND_OPTIONS_INIT;
    options.service = services[number - 1];
    CHECK(peal_send(client, &chat, 1, "x", 1, &options, -1) == (int64_t)number);
    CHECK(peal_receive(client, &event, -1) == 1 && event.kind == PEAL_MESSAGE);
    CHECK(event.service == options.service);
    const int placed = !causal || options.service >= PEAL_AGREED;
    CHECK(event.place.view == 1 && event.place.index == 0);
    CHECK(event.place.position == (placed ? number : 0));
    CHECK(event.number == (placed ? 0 : number));
  }
  CHECK(peal_flush(client, -1) == PEAL_OK);
  peal_close(client, -1);
  return NULL;
}

const char* talk_nonsense(const char* path) {
  const char* chat = "chat";
  const char* none = NULL;
  peal_client* client = NULL;
  peal_event event;
  char byte;
  peal_options options;
  peal_options_init(&options);
  options.size = 0;
  CHECK(peal_connect(&options, &client) == PEAL_INVALID_OPTION && client == NULL);
  CHECK(peal_connect(&options, NULL) == PEAL_INVALID_OPTION);
  CHECK(open_client("/no/such/socket", &client) == PEAL_UNREACHABLE && client == NULL);
  CHECK(strstr(peal_error_text(), "/no/such/socket") != NULL);
  peal_close(NULL, 0);

  CHECK(open_client(path, &client) == PEAL_OK);
  peal_join_options join = PEAL_JOIN_OPTIONS_INIT;
  CHECK(join.size == sizeof join && join.policy == PEAL_SLOW_NORMAL);
  join.policy = 99;
  CHECK(peal_join(client, chat, &join, -1) == PEAL_INVALID_OPTION);
  CHECK(peal_join(client, "", NULL, -1) == PEAL_INVALID_OPTION);
  CHECK(peal_join(NULL, chat, NULL, -1) == PEAL_INVALID_OPTION);
  CHECK(peal_leave(client, NULL, -1) == PEAL_INVALID_OPTION);
  peal_send_options send = {sizeof send, 99, 0, 0, 0};
  CHECK(peal_send(client, &chat, 1, "x", 1, &send, 0) == PEAL_INVALID_OPTION);
  CHECK(peal_send(client, &chat, 65, "x", 1, NULL, 0) == PEAL_INVALID_OPTION);
  CHECK(peal_send(client, &chat, 0, "x", 1, NULL, 0) == PEAL_INVALID_OPTION);
  CHECK(peal_send(client, &none, 1, "x", 1, NULL, 0) == PEAL_INVALID_OPTION);
  CHECK(peal_send(client, NULL, 1, "x", 1, NULL, 0) == PEAL_INVALID_OPTION);
  CHECK(peal_send(client, &chat, 1, NULL, 1, NULL, 0) == PEAL_INVALID_OPTION);
  CHECK(peal_end(NULL, -1) == PEAL_INVALID_OPTION);
  CHECK(peal_flush(NULL, -1) == PEAL_INVALID_OPTION);
  CHECK(peal_receive(client, NULL, -1) == PEAL_INVALID_OPTION);
  CHECK(peal_receive(NULL, &event, -1) == PEAL_INVALID_OPTION);
  CHECK(peal_fd(NULL) == PEAL_INVALID_OPTION && peal_room_fd(NULL) == PEAL_INVALID_OPTION);
  CHECK(peal_ask(client, NULL, &byte, 1, -1) == PEAL_INVALID_OPTION);
  CHECK(peal_ask(client, "status", NULL, 1, -1) == PEAL_INVALID_OPTION);
  CHECK(peal_get_status(client, NULL) == PEAL_INVALID_OPTION);
  CHECK(strcmp(peal_reason_name(PEAL_REASON_SLOW), "slow") == 0);
  CHECK(strcmp(peal_reason_name(99), "unknown") == 0);
  peal_close(client, -1);
  return NULL;
}

/* The call of a program that was compiled with another version of the header. */
static int32_t connect_from(const char* path, uint32_t header) {
  peal_client* client = NULL;
  peal_options options;
  peal_options_init(&options);
  options.daemon = path;
  options.connect_timeout_ms = 60000;
  const int32_t result = peal_connect_from(&options, &client, header);
  peal_close(client, -1);
  return result;
}

const char* talk_across_versions(const char* path) {
  peal_options options;
  CHECK(peal_version() == PEAL_VERSION);
  CHECK(connect_from(path, PEAL_VERSION) == PEAL_OK);
  /* The header of a later patch, of other minor versions, and of another major version. */
  CHECK(connect_from(path, PEAL_VERSION + 1) == PEAL_WRONG_VERSION);
  CHECK(strstr(peal_error_text(), PEAL_VERSION_TEXT) != NULL);
  CHECK(connect_from(path, 2034) == PEAL_WRONG_VERSION);
  CHECK(strstr(peal_error_text(), "0.2.34") != NULL);
  CHECK(connect_from(path, 999) == PEAL_WRONG_VERSION);
  CHECK(strstr(peal_error_text(), "0.0.999") != NULL);
  CHECK(connect_from(path, 1000000) == PEAL_WRONG_VERSION);
  /* The version is checked even without options. */
  peal_client* client = NULL;
  CHECK(peal_connect_from(NULL, &client, 2034) == PEAL_WRONG_VERSION && client == NULL);

  /* The struct of an earlier version is shorter: nothing behind it is written. */
  memset(&options, 0x5a, sizeof options);
  peal_options_init_sized(&options, offsetof(peal_options, daemon));
  CHECK(options.size == offsetof(peal_options, daemon) && options.connect_timeout_ms == 5000);
  unsigned char behind[sizeof options.daemon];
  memcpy(behind, &options.daemon, sizeof behind);
  CHECK(behind[0] == 0x5a && behind[sizeof behind - 1] == 0x5a);
  /* The struct of a later version is longer: `size` says how much of it this library knows. */
  peal_options_init_sized(&options, 4096);
  CHECK(options.size == sizeof options);
  /* The functions behind the macros are for other languages. */
  memset(&options, 0, sizeof options);
  (peal_options_init)(&options);
  CHECK(options.size == sizeof options);
  options.daemon = path;
  CHECK((peal_connect)(&options, &client) == PEAL_OK);
  peal_close(client, -1);
  return NULL;
}

/* Structs that the library fills, with the sizes of earlier and of later headers. */
const char* talk_of_sizes(const char* path) {
  peal_client* client = NULL;
  CHECK(open_client(path, &client) == PEAL_OK);
  /* The struct of an earlier version is shorter: nothing behind it is written. */
  peal_status status;
  memset(&status, 0x5a, sizeof status);
  const size_t shorter = offsetof(peal_status, sent);
  CHECK(peal_get_status_sized(client, &status, shorter) == PEAL_OK);
  CHECK(status.size == shorter && status.connected && status.sent == 0x5a5a5a5a5a5a5a5a);
  /* The struct of a later version is longer: the part that this library does not know is 0. */
  struct {
    peal_status known;
    unsigned char later[16];
  } longer;
  memset(&longer, 0x5a, sizeof longer);
  CHECK(peal_get_status_sized(client, &longer.known, sizeof longer) == PEAL_OK);
  CHECK(longer.known.size == sizeof longer.known && longer.known.connected);
  CHECK(longer.later[0] == 0 && longer.later[15] == 0);
  CHECK(peal_get_status_sized(client, &status, 3) == PEAL_INVALID_OPTION);
  /* The functions behind the macros are for other languages. */
  CHECK((peal_get_status)(client, &status) == PEAL_OK && status.size == sizeof status);
  peal_event event;
  CHECK(peal_receive_sized(client, &event, 3, 0) == PEAL_INVALID_OPTION);
  CHECK(peal_receive_sized(client, &event, offsetof(peal_event, sender), 0) == 0);
  CHECK((peal_receive)(client, &event, 0) == 0);
  /* The last event does not fit the given size: only its beginning is written. */
  CHECK(peal_end(client, 0) == PEAL_OK);
  memset(&event, 0x5a, sizeof event);
  const size_t head = offsetof(peal_event, sender);
  int32_t got = 0;
  while ((got = peal_receive_sized(client, &event, head, -1)) == 1 && event.kind != PEAL_ENDED) {
  }
  CHECK(got == 1 && event.size == head && event.kind == PEAL_ENDED);
  CHECK(event.age_ms_max == 0x5a5a5a5a5a5a5a5a);
  peal_close(client, 0);
  return NULL;
}

const char* talk_to_the_end(const char* path, void (*end)(void*), void* context) {
  peal_client* client = NULL;
  peal_event event;
  CHECK(open_client(path, &client) == PEAL_OK);
  end(context);
  CHECK(peal_receive(client, &event, -1) == 1);
  CHECK(event.kind == PEAL_ENDED && event.reason == PEAL_REASON_EVICTED && !event.on_request);
  CHECK(is(event.text, "enough"));
  CHECK(peal_receive(client, &event, -1) == PEAL_CLOSED);
  CHECK(peal_error_reason() == PEAL_REASON_NONE);
  const char* chat = "chat";
  CHECK(peal_send(client, &chat, 1, "x", 1, NULL, 0) == PEAL_CLOSED);
  peal_close(client, 0);
  return NULL;
}

/* The number of the first call that is not refused as it should be, or 0. */
static int use_in_child(peal_client* client) {
  const char* chat = "chat";
  peal_event event;
  peal_status status;
  char answer[8];
  if (peal_send(client, &chat, 1, "x", 1, NULL, -1) != PEAL_CLOSED) return 1;
  if (strstr(peal_error_text(), "made before fork()") == NULL) return 2;
  if (peal_join(client, chat, NULL, -1) != PEAL_CLOSED) return 3;
  if (peal_leave(client, chat, -1) != PEAL_CLOSED) return 4;
  if (peal_flush(client, -1) != PEAL_CLOSED) return 5;
  if (peal_ask(client, "status", answer, sizeof answer, -1) != PEAL_CLOSED) return 6;
  if (peal_fd(client) != PEAL_CLOSED || peal_room_fd(client) != PEAL_CLOSED) return 7;
  if (peal_get_status(client, &status) != PEAL_CLOSED) return 8;
  if (peal_receive(client, &event, -1) != 1 || event.kind != PEAL_ENDED) return 9;
  if (peal_receive(client, &event, -1) != PEAL_CLOSED) return 10;
  if (strstr(peal_error_text(), "made before fork()") == NULL) return 11;
  if (peal_end(client, -1) != PEAL_OK) return 12;
  peal_close(client, -1);
  return 0;
}

const char* talk_across_fork(const char* path) {
  const char* chat = "chat";
  peal_client* client = NULL;
  int status = 0;
  CHECK(open_client(path, &client) == PEAL_OK);
  const pid_t child = fork();
  if (child == 0) {
    alarm(60);
    _exit(use_in_child(client));
  }
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  CHECK(peal_send(client, &chat, 1, "x", 1, NULL, -1) == 1);
  CHECK(peal_flush(client, -1) == PEAL_OK);
  peal_close(client, -1);
  return NULL;
}

const char* talk_of_a_gap(const char* path, void (*miss)(void*), void* context) {
  peal_client* client = NULL;
  peal_event event;
  CHECK(open_client(path, &client) == PEAL_OK);
  miss(context);
  CHECK(peal_receive(client, &event, -1) == 1);
  CHECK(event.kind == PEAL_GAP && event.gap_reason == PEAL_GAP_AWAY && is(event.group, "chat"));
  CHECK(event.messages == 0 && event.bytes == 0 && event.place.position == 0);
  peal_close(client, 0);
  return NULL;
}
