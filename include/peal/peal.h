// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "peal/codes.h"
#include "peal/version.h"

// The C interface of clients: libpeal.so, for C and for every language that can call C functions.
// client.h and events.h describe the same functions in C++ in more detail.
//
// String arguments end with a zero byte; texts in results have a size instead. Times are in
// milliseconds. A patience below 0 is infinite; with a patience of 0, a call does not wait.
// Functions with an integer result return 0 or more after success, and a peal_code below 0 after a
// failure. peal_error_text() then returns what was wrong. If memory is exhausted, the process
// stops.
//
// Threads: any thread may call any function, also concurrently with other threads. There are two
// limits: only one thread at a time may call peal_receive(), and peal_close() may run only while no
// other call runs. To make waiting calls return, call peal_end() first.
//
// fork(): a client belongs to the process that created it. In a child process, the client's
// descriptors are closed. There, peal_close() only frees the child's copy of the client, peal_end()
// does nothing and returns 0, and the first peal_receive() returns PEAL_ENDED. All other calls for
// the client return PEAL_CLOSED, and peal_error_text() explains why.
//
// Versions: peal_connect() fails with PEAL_WRONG_VERSION if the program was compiled with a later
// header than the library's, or with a header of another major version. While the major version is
// 0, the minor versions must also be equal. A program that looks up the functions by name does not
// use this header's macros; it must pass its version to peal_connect_from().
//
// Structs begin with their size, and later versions may append fields. So a program that was
// compiled with an earlier header has shorter structs. The library reads a program's struct up to
// the size in the struct. It writes a result up to the size of the program's struct, and stores in
// `size` how many of these bytes the library knows. peal_text, peal_place and peal_group_member are
// parts of other structs and never change.

#ifdef __cplusplus
extern "C" {
#endif

/// One client of a daemon.
typedef struct peal_client peal_client;

/// The address of the daemon, and the options of the session. Call peal_options_init() first.
typedef struct peal_options {
  uint32_t size;                ///< size of this struct in bytes; peal_options_init() sets it
  uint32_t connect_timeout_ms;  ///< as ClientOptions::connect_timeout, 1 or more
  uint32_t keep_ms;             ///< how long the session may outlive a broken connection
  uint32_t spin_us;             ///< how long peal_receive() may poll before it sleeps, 0 to 10^6
  uint64_t receive_bytes_max;   ///< limit of bytes of events that wait to be read, 1 to 2^40
  const char* daemon;           ///< as ClientOptions::daemon; NULL: "/run/peal/peal.sock"
  const char* name;             ///< requested name, 0 to 32 bytes; NULL: the daemon chooses
  const char* token;            ///< identifies this client, 0 to 256 bytes; NULL: none
  /// PEM file with the authorities that may sign the daemon's certificate; NULL: the authorities
  /// that the system trusts.
  const char* tls_ca;
  /// PEM file with the certificate that identifies this client to the daemon; NULL: none.
  const char* tls_certificate;
  /// PEM file with the key of tls_certificate, readable by its owner only; NULL: none.
  const char* tls_key;
  /// The name that the daemon's certificate must have; NULL: the host in `daemon`.
  const char* tls_name;
} peal_options;

/// What happens if this client does not read the messages of one group fast enough. A limit of 0
/// stands for the limit in the daemon's configuration.
typedef struct peal_join_options {
  uint32_t size;              ///< size of this struct in bytes; set by PEAL_JOIN_OPTIONS_INIT
  int32_t policy;             ///< a peal_slow_policy; applies when a limit is reached
  uint64_t memory_bytes_max;  ///< limit of bytes of messages that wait in the daemon's memory
  /// Limit of bytes of messages that wait on the daemon's disk; with PEAL_SLOW_SPILL only.
  uint64_t disk_bytes_max;
  uint32_t age_ms_max;  ///< limit of the age of the oldest message that waits
  uint32_t reserved;    ///< must be 0
} peal_join_options;
#define PEAL_JOIN_OPTIONS_INIT \
  { sizeof(peal_join_options), PEAL_SLOW_NORMAL, 0, 0, 0, 0 }

/// The options of one message.
typedef struct peal_send_options {
  uint32_t size;      ///< size of this struct in bytes; set by PEAL_SEND_OPTIONS_INIT
  int32_t service;    ///< a peal_service
  uint16_t type;      ///< a number that the application chooses; receivers get it
  uint16_t reserved;  ///< must be 0
  /// Not 0: this client does not get the message, even if a target includes this client.
  int32_t self_discard;
} peal_send_options;
#define PEAL_SEND_OPTIONS_INIT \
  { sizeof(peal_send_options), PEAL_AGREED, 0, 0, 0 }

/// A text that is not ended by a zero byte.
typedef struct peal_text {
  const char* data;  ///< the first byte of the text
  size_t size;       ///< number of bytes
} peal_text;

/// A place in the order. Later places are larger in (view, position, index). With the engine
/// "toto", PEAL_FIFO and PEAL_CAUSAL messages have no place: position and index are 0.
typedef struct peal_place {
  uint64_t view;      ///< number of the view of daemons in which the event was delivered
  uint64_t position;  ///< position in `view`, from 1; 0: the message has no place
  uint32_t index;     ///< distinguishes events of the same position, from 0
  uint32_t reserved;  ///< always 0
} peal_place;

/// One member of a group.
typedef struct peal_group_member {
  peal_text name;  ///< private name of the member
  /// Not 0: the member and this client were together in the group's previous view, and stayed
  /// together until this view.
  int32_t came_with_us;
  int32_t reserved;  ///< always 0
} peal_group_member;

/// One event. `kind` determines which fields are used: see peal_event_kind. All other fields are 0.
/// The data that the event points to are valid until the next peal_receive() or peal_close().
typedef struct peal_event {
  uint32_t size;       ///< bytes of this struct that the library wrote
  int32_t kind;        ///< a peal_event_kind
  int32_t service;     ///< a peal_service
  int32_t cause;       ///< a peal_view_cause
  int32_t reason;      ///< a peal_reason
  int32_t policy;      ///< a peal_slow_policy
  int32_t on_request;  ///< not 0: peal_end() was called
  uint32_t type;       ///< a number that the sending application chose
  int32_t gap_reason;  ///< a peal_gap_reason
  int32_t reserved;    ///< always 0
  peal_text sender;    ///< private name of the sender
  peal_text group;     ///< name of the group
  /// Identifies this view of the group; equal at all its members.
  peal_text id;
  peal_text changed;                 ///< the client that joined, left or disconnected
  peal_text text;                    ///< an explanation for a person
  const peal_text* targets;          ///< groups and private names of the message; sorted
  size_t target_count;               ///< number of targets
  const peal_group_member* members;  ///< the members of the group
  size_t member_count;               ///< number of members
  const void* payload;               ///< the bytes of the message
  size_t payload_bytes;              ///< size of `payload` in bytes
  /// Place of the message. PEAL_GAP: place of the first missing message that has a place. If none
  /// has one, the positions of `place` and `last` are 0.
  peal_place place;
  peal_place last;  ///< PEAL_GAP: place of the last missing message that has a place
  /// Number of a message, as returned by peal_send(). In a PEAL_MESSAGE without a place: as
  /// GroupMessage::number.
  uint64_t number;
  /// PEAL_GAP: number of missing messages. PEAL_ENDED: number of messages without an
  /// acknowledgement.
  uint64_t messages;
  /// PEAL_GAP: bytes of the missing messages' payloads. PEAL_SLOW_WARNING: bytes of messages that
  /// wait at the daemon.
  uint64_t bytes;
  uint64_t bytes_max;   ///< limit of `bytes` in PEAL_SLOW_WARNING
  uint64_t age_ms;      ///< age of the oldest message that waits
  uint64_t age_ms_max;  ///< limit of age_ms; 0: no limit
} peal_event;

/// The status of a client.
typedef struct peal_status {
  uint32_t size;      ///< bytes of this struct that the library wrote
  char name[160];     ///< private name of the client; ends with a zero byte
  char node[256];     ///< name of the node that the daemon runs; ends with a zero byte
  char cluster[256];  ///< name of the daemon's cluster; ends with a zero byte
  int32_t connected;  ///< not 0: the session has a connection now
  int32_t ended;      ///< not 0: the client has ended; PEAL_ENDED may still be unread
  uint64_t sent;      ///< number of the last message that peal_send() accepted
  /// All messages up to this number are acknowledged: see peal_flush().
  uint64_t settled;
  uint64_t unread_events;      ///< number of events that wait to be read
  uint64_t unread_bytes;       ///< bytes of the unread events, approximately
  uint64_t message_bytes_max;  ///< maximum size of one message in bytes
} peal_status;

/// The version of the library, in the form of PEAL_VERSION.
uint32_t peal_version(void);

/// Sets the size of the struct and the default of each option.
void peal_options_init(peal_options* options);
/// Like peal_options_init(), for a struct of `size` bytes, which may be shorter in an earlier
/// version of the header.
void peal_options_init_sized(peal_options* options, size_t size);

/// Connects once, and starts a session. `options` may be NULL: then all options have their
/// defaults. After success, `*out` is the client, which peal_close() frees; after a failure, `*out`
/// is NULL. Returns 0; or PEAL_INVALID_OPTION, PEAL_UNREACHABLE, PEAL_UNTRUSTED, PEAL_REFUSED,
/// PEAL_TIMED_OUT, PEAL_NOT_PERMITTED, PEAL_SYSTEM, PEAL_WRONG_VERSION. Blocks: up to
/// options->connect_timeout_ms.
int32_t peal_connect(const peal_options* options, peal_client** out);
/// Like peal_connect(). `header` is the PEAL_VERSION of the header that the program was compiled
/// with.
int32_t peal_connect_from(const peal_options* options, peal_client** out, uint32_t header);
/// Accepts no more messages, waits up to `patience_ms` until all queued messages are acknowledged,
/// and then ends the session. Calls that wait in other threads return. Received events can still be
/// read; the last one is PEAL_ENDED. Returns 0, or PEAL_INVALID_OPTION if `client` is NULL. Blocks:
/// up to `patience_ms`, and some milliseconds.
int32_t peal_end(peal_client* client, int64_t patience_ms);
/// Does what peal_end() does, and frees the client. `client` may be NULL. Blocks: like peal_end().
void peal_close(peal_client* client, int64_t patience_ms);

/// Becomes a member of a group; `options` may be NULL. Returns 0; or PEAL_REFUSED, PEAL_TIMED_OUT
/// (the join may still succeed later), PEAL_CLOSED, PEAL_INVALID_OPTION. Blocks: up to
/// `patience_ms`. The daemon's answer arrives after earlier events. If no thread reads events, and
/// receive_bytes_max bytes of events wait, the answer cannot arrive.
int32_t peal_join(peal_client* client, const char* group, const peal_join_options* options,
                  int64_t patience_ms);
/// Ends the membership in a group. peal_leave() may overtake messages that this client sent and
/// that are not acknowledged. To receive these messages, call peal_flush() first. Result and
/// blocking are as for peal_join().
int32_t peal_leave(peal_client* client, const char* group, int64_t patience_ms);

/// Queues a message to 1 to 64 groups and private names; `options` may be NULL (agreed). Returns
/// the message's number, 1 or more; or PEAL_WOULD_BLOCK, PEAL_TOO_LARGE, PEAL_INVALID_OPTION,
/// PEAL_CLOSED. The payload is copied before return. Blocks: up to `patience_ms` while as many
/// messages lack acknowledgements as the daemon allows.
int64_t peal_send(peal_client* client, const char* const* targets, size_t target_count,
                  const void* payload, size_t payload_bytes, const peal_send_options* options,
                  int64_t patience_ms);
/// Waits until all messages sent before are acknowledged. Each of them was then delivered, at its
/// place in the order if it has one, and every daemon of the view has it; or the daemon refused it
/// (PEAL_REFUSAL). Returns 0; or PEAL_TIMED_OUT, PEAL_CLOSED, PEAL_INVALID_OPTION. Blocks: up to
/// `patience_ms`.
int32_t peal_flush(peal_client* client, int64_t patience_ms);

/// Waits up to `patience_ms` for the next event. Returns 1 if `*event` is an event, and 0 if there
/// was none in time. Returns PEAL_CLOSED after PEAL_ENDED was read, and PEAL_INVALID_OPTION if an
/// argument is wrong.
int32_t peal_receive(peal_client* client, peal_event* event, int64_t patience_ms);
/// Like peal_receive(), for a struct of `size` bytes, which may have another size in another
/// version of the header.
int32_t peal_receive_sized(peal_client* client, peal_event* event, size_t size,
                           int64_t patience_ms);
/// A descriptor for poll(2) and similar calls. It is readable when there is an event, and sometimes
/// when only other data arrived. Before you wait for the descriptor, call peal_receive() with a
/// patience of 0 until it returns 0. Do not read from the descriptor. It is valid as long as the
/// client exists. Returns PEAL_INVALID_OPTION if `client` is NULL, and PEAL_CLOSED in a forked
/// child.
int peal_fd(const peal_client* client);
/// A descriptor like peal_fd(), but for sending: readable when there is space again after
/// PEAL_WOULD_BLOCK. Errors are those of peal_fd().
int peal_room_fd(const peal_client* client);

/// Sends a query to the daemon, for example "status". Writes the beginning of the answer to
/// `answer`: at most `size` bytes, of which the last is a zero byte. `answer` may be NULL if `size`
/// is 0. Returns the size of the whole answer in bytes, without the zero byte; or an error, as for
/// peal_join(). Blocks: like peal_join().
int64_t peal_ask(peal_client* client, const char* what, char* answer, size_t size,
                 int64_t patience_ms);
/// Writes the client's status to `*status`. Returns 0, PEAL_INVALID_OPTION if an argument is wrong,
/// or PEAL_CLOSED in a forked child: all of `*status` but its size is then 0. Blocks: never for
/// long.
int32_t peal_get_status(const peal_client* client, peal_status* status);
/// Like peal_get_status(), for a struct of `size` bytes, which may have another size in another
/// version of the header.
int32_t peal_get_status_sized(const peal_client* client, peal_status* status, size_t size);

/// What was wrong with the last call that failed in this thread, in one line; never NULL. The text
/// is valid until the next call that fails in this thread.
const char* peal_error_text(void);
/// The peal_reason of the last call that failed in this thread; PEAL_REASON_NONE unless the call
/// returned PEAL_REFUSED.
int32_t peal_error_reason(void);
/// The name of a peal_reason, such as "slow" or "not_permitted"; "unknown" for other numbers.
const char* peal_reason_name(int32_t reason);

// These macros pass the version of the header, or the size of the struct, to the functions.
#define peal_options_init(options) peal_options_init_sized((options), sizeof(peal_options))
#define peal_connect(options, out) peal_connect_from((options), (out), PEAL_VERSION)
#define peal_receive(client, event, patience_ms) \
  peal_receive_sized((client), (event), sizeof(peal_event), (patience_ms))
#define peal_get_status(client, status) \
  peal_get_status_sized((client), (status), sizeof(peal_status))

#ifdef __cplusplus
}
#endif
