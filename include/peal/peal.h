// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "peal/codes.h"
#include "peal/version.h"

// The C interface of clients: libpeal.so, for C and for every language that can call C. client.h
// and events.h describe the same functions in C++ in more detail.
//
// String arguments end with a zero byte; results are pointers with a size. Times are milliseconds;
// a patience below 0 is infinite, and 0 does not wait. Functions return 0 or more, or a peal_code
// below 0, and then peal_error_text() says what was wrong.
// Threads: all functions from any thread, also concurrently; but peal_receive from one thread at a
// time, and peal_close() while no other call runs: call peal_end() first, which makes waiting calls
// return. If memory is exhausted, the process stops.
// fork(): a client belongs to the process that created it. In the child its descriptors are closed,
// peal_close() frees it without telling the daemon, peal_end() does nothing, and all other calls
// return PEAL_CLOSED, with an explanation in peal_error_text().
// Versions: peal_connect() refuses (PEAL_WRONG_VERSION) if the program was compiled with a later
// header than the library's, or with a header of another major version; while the major version is
// 0, also with a header of another minor version. Programs that look the functions up by name,
// without this header's macros, pass their version to peal_connect_from().
// Structs begin with their size and may grow at their ends: a program that was compiled with an
// earlier header has shorter ones. The library reads a program's struct up to its size. It writes
// results up to the size of the program's struct, and stores in `size` how many of these bytes the
// library knows. peal_text, peal_place and peal_group_member are parts of other structs and never
// change.

#ifdef __cplusplus
extern "C" {
#endif

/// One client of a daemon.
typedef struct peal_client peal_client;

/// The address of the daemon, and the options of the session. Call peal_options_init() first.
typedef struct peal_options {
  uint32_t size;                ///< of this struct, in bytes; set by peal_options_init()
  uint32_t connect_timeout_ms;  ///< maximum time of one attempt to connect, 1 or more
  uint32_t keep_ms;             ///< how long the session may outlive a broken connection
  uint32_t spin_us;             ///< how long peal_receive() may poll before it sleeps, 0 to 10^6
  uint64_t receive_bytes_max;   ///< limit of bytes of events that wait to be read, 1 to 2^40
  const char* daemon;           ///< "/run/peal/peal.sock", or "tls://host:port"
  const char* name;             ///< requested name of this client; NULL: the daemon makes one
  const char* token;            ///< identifies this client to the daemon; NULL: none
  const char* tls_ca;           ///< PEM file with the authorities that may sign the daemon's
                                ///< certificate; NULL: those that the system trusts
  const char* tls_certificate;  ///< PEM file that identifies this client to the daemon; NULL: none
  const char* tls_key;          ///< PEM file with the key of tls_certificate; NULL: none
  const char* tls_name;         ///< the name that the daemon's certificate must have; NULL: the
                                ///< host in `daemon`
} peal_options;

/// What happens if this client does not read the messages of a group fast enough. A limit of 0
/// stands for the limit in the daemon's configuration.
typedef struct peal_join_options {
  uint32_t size;              ///< of this struct, in bytes; set by PEAL_JOIN_OPTIONS_INIT
  int32_t policy;             ///< peal_slow_policy
  uint64_t memory_bytes_max;  ///< limit of bytes of messages that wait in the daemon's memory
  uint64_t disk_bytes_max;    ///< limit of bytes of messages that wait on the daemon's disk; with
                              ///< PEAL_SLOW_SPILL only
  uint32_t age_ms_max;        ///< limit of the age of the oldest message that waits
  uint32_t reserved;          ///< 0
} peal_join_options;
#define PEAL_JOIN_OPTIONS_INIT \
  { sizeof(peal_join_options), PEAL_SLOW_NORMAL, 0, 0, 0, 0 }

/// A sender's options for a message.
typedef struct peal_send_options {
  uint32_t size;         ///< of this struct, in bytes; set by PEAL_SEND_OPTIONS_INIT
  int32_t service;       ///< peal_service
  uint16_t type;         ///< a number of the application's choice; receivers get it
  uint16_t reserved;     ///< 0
  int32_t self_discard;  ///< not 0: this client does not get the message, even if a target includes
                         ///< it
} peal_send_options;
#define PEAL_SEND_OPTIONS_INIT \
  { sizeof(peal_send_options), PEAL_AGREED, 0, 0, 0 }

/// Some text; not ended by a zero byte.
typedef struct peal_text {
  const char* data;  ///< its first byte
  size_t size;       ///< bytes
} peal_text;

/// A place in the order; ascends in (view, position, index).
typedef struct peal_place {
  uint64_t view;      ///< number of the view of daemons
  uint64_t position;  ///< in that view, from 1
  uint32_t index;     ///< distinguishes events of the same position, from 0
  uint32_t reserved;  ///< 0
} peal_place;

/// One member of a group.
typedef struct peal_group_member {
  peal_text name;        ///< private name
  int32_t came_with_us;  ///< continued together with this client from the group's previous view
  int32_t reserved;      ///< 0
} peal_group_member;

/// One event. Its kind determines which fields are used; the others are 0. All that it points to is
/// valid until the next peal_receive() or peal_close().
typedef struct peal_event {
  uint32_t size;                     ///< bytes of this struct that the library wrote
  int32_t kind;                      ///< peal_event_kind
  int32_t service;                   ///< peal_service
  int32_t cause;                     ///< peal_view_cause
  int32_t reason;                    ///< peal_reason
  int32_t policy;                    ///< peal_slow_policy
  int32_t on_request;                ///< not 0: peal_end() was called
  uint32_t type;                     ///< a number of the sending application's choice
  int32_t gap_reason;                ///< peal_gap_reason
  int32_t reserved;                  ///< 0
  peal_text sender;                  ///< private name
  peal_text group;                   ///< its name
  peal_text id;                      ///< identifies this state of the group: equal at all its
                                     ///< members
  peal_text changed;                 ///< the client that joined, left or disconnected
  peal_text text;                    ///< for a person
  const peal_text* targets;          ///< groups and private names, sorted
  size_t target_count;               ///< number of targets
  const peal_group_member* members;  ///< of the group
  size_t member_count;               ///< number of members
  const void* payload;               ///< of the message
  size_t payload_bytes;              ///< of the message
  peal_place place;                  ///< of the message, or of the first missing one
  peal_place last;                   ///< of the last missing message
  uint64_t number;                   ///< of a message, as peal_send() returned it
  uint64_t messages;                 ///< PEAL_GAP: number of missing messages; PEAL_ENDED: number
                                     ///< of messages without an acknowledgement
  uint64_t bytes;                    ///< PEAL_GAP: bytes of the missing messages' payloads;
                                     ///< PEAL_SLOW_WARNING: of messages that wait at the daemon
  uint64_t bytes_max;                ///< limit of bytes of messages that wait
  uint64_t age_ms;                   ///< age of the oldest message that waits
  uint64_t age_ms_max;               ///< limit of age_ms; 0: none
} peal_event;

/// The status of a client.
typedef struct peal_status {
  uint32_t size;               ///< bytes of this struct that the library wrote
  char name[160];              ///< private name; zero-terminated, like the next two
  char node[256];              ///< name of the daemon's node
  char cluster[256];           ///< name of the daemon's cluster
  int32_t connected;           ///< at this moment
  int32_t ended;               ///< the client has ended; PEAL_ENDED may still be unread
  uint64_t sent;               ///< number of the last accepted message
  uint64_t settled;            ///< all messages up to this number are acknowledged: see
                               ///< peal_flush()
  uint64_t unread_events;      ///< events that wait to be read
  uint64_t unread_bytes;       ///< bytes of these events, approximately
  uint64_t message_bytes_max;  ///< maximum size of one message
} peal_status;

/// The version of the library, as PEAL_VERSION of its header.
uint32_t peal_version(void);

/// Fills in the size and the defaults.
void peal_options_init(peal_options* options);
/// The same for a struct of `size` bytes, which may be an earlier version's.
void peal_options_init_sized(peal_options* options, size_t size);

/// Connects once, and starts a session. `*out` is the client, to be passed to peal_close(); NULL
/// after an error. Returns 0; or PEAL_INVALID_OPTION, PEAL_UNREACHABLE, PEAL_UNTRUSTED,
/// PEAL_REFUSED, PEAL_TIMED_OUT, PEAL_NOT_PERMITTED, PEAL_SYSTEM, PEAL_WRONG_VERSION. Blocks: up to
/// options->connect_timeout_ms.
int32_t peal_connect(const peal_options* options, peal_client** out);
/// The same; `header` is PEAL_VERSION of the header that the program was compiled with.
int32_t peal_connect_from(const peal_options* options, peal_client** out, uint32_t header);
/// Accepts no more messages, waits up to `patience_ms` until all are acknowledged, and ends the
/// session. Calls that wait in other threads return. Received events can still be read, with
/// PEAL_ENDED as the last one. Returns 0, or PEAL_INVALID_OPTION.
int32_t peal_end(peal_client* client, int64_t patience_ms);
/// Does what peal_end() does, and frees the client. NULL is allowed.
void peal_close(peal_client* client, int64_t patience_ms);

/// Becomes a member of a group; `options` may be NULL. Returns 0; or PEAL_REFUSED, PEAL_TIMED_OUT,
/// PEAL_CLOSED, PEAL_INVALID_OPTION. Blocks: up to `patience_ms`. The daemon's answer arrives
/// behind events: if receive_bytes_max bytes of events wait and no thread reads them, the answer
/// does not arrive.
int32_t peal_join(peal_client* client, const char* group, const peal_join_options* options,
                  int64_t patience_ms);
/// Ends the membership. peal_leave() may overtake messages of this client that are not
/// acknowledged: call peal_flush() first to receive them here. Otherwise like peal_join().
int32_t peal_leave(peal_client* client, const char* group, int64_t patience_ms);

/// Queues a message to 1 to 64 groups and private names; `options` may be NULL (agreed). Returns
/// its number, 1 or more; or PEAL_WOULD_BLOCK, PEAL_TOO_LARGE, PEAL_INVALID_OPTION, PEAL_CLOSED.
/// The payload is copied before return. Blocks: up to `patience_ms` while too many messages lack
/// acknowledgements.
int64_t peal_send(peal_client* client, const char* const* targets, size_t target_count,
                  const void* payload, size_t payload_bytes, const peal_send_options* options,
                  int64_t patience_ms);
/// Waits until all messages sent before are acknowledged: each has its place in the order and every
/// daemon of the view has it, or the daemon refused it (PEAL_REFUSAL). Returns 0; or
/// PEAL_TIMED_OUT, PEAL_CLOSED, PEAL_INVALID_OPTION.
int32_t peal_flush(peal_client* client, int64_t patience_ms);

/// The next event, waiting up to `patience_ms` for one. Returns 1 if there is one, 0 if not;
/// PEAL_CLOSED after PEAL_ENDED; or PEAL_INVALID_OPTION.
int32_t peal_receive(peal_client* client, peal_event* event, int64_t patience_ms);
/// The same for a struct of `size` bytes, which may be another version's.
int32_t peal_receive_sized(peal_client* client, peal_event* event, size_t size,
                           int64_t patience_ms);
/// A descriptor for poll(2) and similar calls: readable when there is an event, and sometimes when
/// only other data arrived. Call peal_receive() until it returns 0 before you wait for the
/// descriptor. Do not read from it. Valid as long as the client. Returns PEAL_INVALID_OPTION if
/// `client` is NULL.
int peal_fd(const peal_client* client);
/// The same for sending: readable when there is space again after PEAL_WOULD_BLOCK.
int peal_room_fd(const peal_client* client);

/// Queries the daemon, for example "status". Writes up to `size` bytes of the daemon's answer, with
/// a zero byte as the last one, to `answer`. Returns the size of the whole answer in bytes, without
/// the zero byte; or errors like peal_join().
int64_t peal_ask(peal_client* client, const char* what, char* answer, size_t size,
                 int64_t patience_ms);
/// The client's status. Returns 0, or PEAL_INVALID_OPTION.
int32_t peal_get_status(const peal_client* client, peal_status* status);
/// The same for a struct of `size` bytes, which may be another version's.
int32_t peal_get_status_sized(const peal_client* client, peal_status* status, size_t size);

/// What was wrong with the last call that failed in this thread, in one line; never NULL. Valid
/// until the next call that fails in this thread.
const char* peal_error_text(void);
/// With PEAL_REFUSED: the peal_reason of the last call that failed in this thread.
int32_t peal_error_reason(void);
/// "slow", "not_permitted": the name of a peal_reason; "unknown" for anything else.
const char* peal_reason_name(int32_t reason);

// These macros pass the header's version or the struct's size.
#define peal_options_init(options) peal_options_init_sized((options), sizeof(peal_options))
#define peal_connect(options, out) peal_connect_from((options), (out), PEAL_VERSION)
#define peal_receive(client, event, patience_ms) \
  peal_receive_sized((client), (event), sizeof(peal_event), (patience_ms))
#define peal_get_status(client, status) \
  peal_get_status_sized((client), (status), sizeof(peal_status))

#ifdef __cplusplus
}
#endif
