// SPDX-License-Identifier: Apache-2.0
#pragma once

// The constants of the C interface; peal.h includes this file.

#ifdef __cplusplus
extern "C" {
#endif

/// Why a call failed. peal_error_text() returns the details.
typedef enum peal_code {
  PEAL_OK = 0,               ///< success
  PEAL_WOULD_BLOCK = -1,     ///< a queue is full: read events, then try again
  PEAL_TOO_LARGE = -2,       ///< the message exceeds the maximum size; it was not sent
  PEAL_CLOSED = -3,          ///< the client has ended: make a new one
  PEAL_INVALID_OPTION = -4,  ///< an argument is wrong; peal_error_text() names it
  PEAL_NOT_PERMITTED = -6,   ///< access was denied, or a TLS file has unsafe permissions
  PEAL_SYSTEM = -7,          ///< another error of the operating system
  PEAL_TIMED_OUT = -8,       ///< the time ran out; a request may still be carried out
  PEAL_UNREACHABLE = -9,     ///< no daemon answers at the address
  /// TLS: the client or the daemon does not accept the other's certificate.
  PEAL_UNTRUSTED = -10,
  PEAL_REFUSED = -11,  ///< the daemon refused a request or a session; see peal_error_reason()
  /// The header and the library do not match; peal_error_text() has both versions.
  PEAL_WRONG_VERSION = -12
} peal_code;

/// Why the daemon refused a request or a message, or why a session ended. The values are those of
/// Reason in types.h.
typedef enum peal_reason {
  PEAL_REASON_NONE = 0,  ///< no reason
  /// The client or the daemon sent a record that the other side cannot decode or does not expect.
  PEAL_REASON_BAD_RECORD = 1,
  PEAL_REASON_BAD_VERSION = 2,  ///< the daemon uses another version of the protocol
  PEAL_REASON_BAD_NAME = 3,     ///< not a valid name of a group, client or target
  /// The daemon does not know the client's token (peal_options.token).
  PEAL_REASON_BAD_SECRET = 4,
  PEAL_REASON_NOT_PERMITTED = 5,  ///< no rule of the daemon permits the request
  PEAL_REASON_NAME_IN_USE = 6,    ///< another client of this daemon has the name
  /// The daemon no longer knows the session, or the client could not reconnect in time.
  PEAL_REASON_SESSION_LOST = 7,
  PEAL_REASON_MEMBER_ALREADY = 8,  ///< the client is in the group already
  PEAL_REASON_NO_MEMBER = 9,       ///< the client is not in the group
  PEAL_REASON_TOO_LARGE = 10,      ///< the message exceeds the maximum size
  PEAL_REASON_TOO_MANY = 11,       ///< too many sessions, groups or targets
  PEAL_REASON_OVER_QUOTA = 12,     ///< more bytes or queries per second than the client's quota
  PEAL_REASON_SLOW = 13,           ///< the client did not read its events fast enough
  PEAL_REASON_SILENT = 14,         ///< the client sent nothing for too long
  PEAL_REASON_REPLACED = 15,       ///< the session continues on another connection
  PEAL_REASON_GOODBYE = 16,        ///< the client ended the session
  PEAL_REASON_EVICTED = 17,        ///< an administrator ended the session
  PEAL_REASON_SHUTDOWN = 18,       ///< the daemon is stopping
  /// too many messages for clients of the daemon waited for views of their groups: the daemon
  /// dropped them, and ended all sessions
  PEAL_REASON_DROPPED = 19
} peal_reason;

/// The ordering guarantee of one message. PEAL_FIFO and PEAL_CAUSAL differ from PEAL_AGREED with
/// the engine "toto" only: such a message has no place in the order, and needs no acknowledgement
/// of its own. The other engines deliver it like a PEAL_AGREED message. service.h and
/// docs/client.md have the details.
typedef enum peal_service {
  PEAL_FIFO = 0,    ///< like PEAL_CAUSAL
  PEAL_CAUSAL = 1,  ///< delivered after everything that the sender had sent or delivered before
  /// Delivered in one total order; with "toto", equal at daemons that leave a view together.
  PEAL_AGREED = 2,
  PEAL_SAFE = 3  ///< in the same order, but only once every daemon of the view has the message
} peal_service;

/// What the daemon does if a member does not read the messages of a group fast enough.
typedef enum peal_slow_policy {
  PEAL_SLOW_NORMAL = 0,  ///< the policy that the daemon's configuration sets
  PEAL_SLOW_BLOCK = 1,   ///< all senders to the group wait for the member; needs a permission
  /// The daemon stores messages above the limit on its disk, and delivers them later in order.
  PEAL_SLOW_SPILL = 2,
  PEAL_SLOW_DROP = 3,  ///< the daemon drops messages above the limit; a PEAL_GAP reports them
  PEAL_SLOW_EVICT = 4  ///< the daemon ends the member's session
} peal_slow_policy;

/// The kinds of events. Each comment lists the fields of peal_event that the kind uses.
typedef enum peal_event_kind {
  /// Uses sender, targets, service, type, place, payload; and number if place.position is 0.
  PEAL_MESSAGE = 0,
  PEAL_GROUP_VIEW = 1,    ///< uses group, id, cause, reason, changed, members
  PEAL_TRANSITIONAL = 2,  ///< uses group: some members of the group are unreachable
  PEAL_LEFT = 3,          ///< uses group: this client has left the group
  /// Uses group (empty: this client's private name), gap_reason, messages, bytes, place and last
  /// (of the first and the last missing message that has a place). With PEAL_GAP_AWAY, all but
  /// group and gap_reason are 0.
  PEAL_GAP = 4,
  PEAL_SLOW_WARNING = 5,  ///< uses group, policy, bytes, bytes_max, age_ms, age_ms_max
  PEAL_REFUSAL = 6,  ///< uses number, reason, text: the daemon refused a message of this client
  PEAL_DISCONNECTED = 7,  ///< uses text: the connection broke, and the client tries to reconnect
  PEAL_RECONNECTED = 8,   ///< uses no field: the session continues where it was
  /// Uses on_request, reason, text, number (of the first message without an acknowledgement),
  /// messages (number of messages without an acknowledgement). number and messages are 0 if all
  /// messages are acknowledged.
  PEAL_ENDED = 9
} peal_event_kind;

/// Why the members of a group changed.
typedef enum peal_view_cause {
  PEAL_CAUSE_JOIN = 0,        ///< one client joined
  PEAL_CAUSE_LEAVE = 1,       ///< one client left
  PEAL_CAUSE_DISCONNECT = 2,  ///< one client's session ended
  PEAL_CAUSE_NETWORK = 3      ///< daemons, with their clients, joined or left the view of daemons
} peal_view_cause;

/// Why messages are missing.
typedef enum peal_gap_reason {
  PEAL_GAP_SLOW = 0,  ///< this client read too slowly: the daemon dropped the messages
  PEAL_GAP_AWAY = 1   ///< the messages were ordered in a view without this client's daemon
} peal_gap_reason;

#ifdef __cplusplus
}
#endif
