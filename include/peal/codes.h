// SPDX-License-Identifier: Apache-2.0
#pragma once

// The numbers of the C interface: see peal.h, which includes this.

#ifdef __cplusplus
extern "C" {
#endif

/// Why a call failed.
typedef enum peal_code {
  PEAL_OK = 0,               ///< success
  PEAL_WOULD_BLOCK = -1,     ///< full for now: read events, then try again
  PEAL_TOO_LARGE = -2,       ///< above the maximum size; nothing was sent
  PEAL_CLOSED = -3,          ///< the client has ended: make a new one
  PEAL_INVALID_OPTION = -4,  ///< an argument is wrong; the text names it
  PEAL_NOT_PERMITTED = -6,   ///< the operating system refused
  PEAL_SYSTEM = -7,          ///< another failure of the operating system
  PEAL_TIMED_OUT = -8,       ///< the time ran out; a request may still be carried out
  PEAL_UNREACHABLE = -9,     ///< no daemon answers there
  PEAL_UNTRUSTED = -10,      ///< TLS: the client or the daemon does not accept the other's
                             ///< certificate
  PEAL_REFUSED = -11,        ///< the daemon refused; peal_error_reason() says why
  PEAL_WRONG_VERSION = -12   ///< the header and the library do not match; the text has both
                             ///< versions
} peal_code;

/// Why a daemon refused, or why something ended; as Reason in types.h.
typedef enum peal_reason {
  PEAL_REASON_NONE = 0,            ///< no reason
  PEAL_REASON_BAD_RECORD = 1,      ///< the client or the daemon sent a record that the other cannot
                                   ///< decode
  PEAL_REASON_BAD_VERSION = 2,     ///< the daemon speaks another version
  PEAL_REASON_BAD_NAME = 3,        ///< not a valid name of a group, client or target
  PEAL_REASON_BAD_SECRET = 4,      ///< the daemon does not know the client's token
                                   ///< (peal_options.token)
  PEAL_REASON_NOT_PERMITTED = 5,   ///< no rule of the daemon allows it
  PEAL_REASON_NAME_IN_USE = 6,     ///< another client of this daemon has the name
  PEAL_REASON_SESSION_LOST = 7,    ///< the daemon does not know the session (any more)
  PEAL_REASON_MEMBER_ALREADY = 8,  ///< the client is in the group already
  PEAL_REASON_NO_MEMBER = 9,       ///< the client is not in the group
  PEAL_REASON_TOO_LARGE = 10,      ///< the message exceeds the maximum size
  PEAL_REASON_TOO_MANY = 11,       ///< too many sessions, groups or targets
  PEAL_REASON_OVER_QUOTA = 12,     ///< more bytes per second than the client's quota
  PEAL_REASON_SLOW = 13,           ///< the client did not read its events
  PEAL_REASON_SILENT = 14,         ///< the client was silent for too long
  PEAL_REASON_REPLACED = 15,       ///< the session continues on another connection
  PEAL_REASON_GOODBYE = 16,        ///< the client ended the session
  PEAL_REASON_EVICTED = 17,        ///< an administrator ended the session
  PEAL_REASON_SHUTDOWN = 18        ///< the daemon is stopping
} peal_reason;

/// The ordering guarantee of one message.
typedef enum peal_service {
  PEAL_FIFO = 0,    ///< delivered as agreed
  PEAL_CAUSAL = 1,  ///< delivered as agreed
  PEAL_AGREED = 2,  ///< delivered in one total order
  PEAL_SAFE = 3     ///< as agreed, but only once every daemon of the view has the message
} peal_service;

/// What happens to a member that does not read the messages of a group.
typedef enum peal_slow_policy {
  PEAL_SLOW_NORMAL = 0,  ///< as the daemon's configuration says
  PEAL_SLOW_BLOCK = 1,   ///< all senders wait for that member
  PEAL_SLOW_SPILL = 2,   ///< messages above the limit go to the daemon's disk, and return in order
  PEAL_SLOW_DROP = 3,    ///< messages above the limit are dropped, and PEAL_GAP says so
  PEAL_SLOW_EVICT = 4    ///< the member's session ends
} peal_slow_policy;

/// The kinds of events, and the fields of peal_event that each kind uses.
typedef enum peal_event_kind {
  PEAL_MESSAGE = 0,       ///< sender, targets, service, type, place, payload
  PEAL_GROUP_VIEW = 1,    ///< group, id, cause, reason, changed, members
  PEAL_TRANSITIONAL = 2,  ///< group: until its next view, some of its members are unreachable
  PEAL_LEFT = 3,          ///< group: this is its last event
  PEAL_GAP = 4,           ///< group (empty: this client's private name), gap_reason; messages,
                          ///< bytes, place (of the first missing message), last: all 0 if unknown
  PEAL_SLOW_WARNING = 5,  ///< group, policy, bytes, bytes_max, age_ms, age_ms_max
  PEAL_REFUSAL = 6,       ///< number, reason, text: a message of this client was refused
  PEAL_DISCONNECTED = 7,  ///< text; the client tries to reconnect
  PEAL_RECONNECTED = 8,   ///< the session continues where it was
  PEAL_ENDED = 9          ///< on_request, reason, text; number (of the first message without an
                          ///< acknowledgement) and messages (how many): 0 if there are none
} peal_event_kind;

/// Why the members of a group changed.
typedef enum peal_view_cause {
  PEAL_CAUSE_JOIN = 0,        ///< one client joined
  PEAL_CAUSE_LEAVE = 1,       ///< one client left
  PEAL_CAUSE_DISCONNECT = 2,  ///< one client's session ended
  PEAL_CAUSE_NETWORK = 3      ///< daemons came or went
} peal_view_cause;

/// Why messages are missing.
typedef enum peal_gap_reason {
  PEAL_GAP_SLOW = 0,  ///< this client was too slow: the daemon dropped them
  PEAL_GAP_AWAY = 1   ///< they were ordered in a partition without this client's daemon
} peal_gap_reason;

#ifdef __cplusplus
}
#endif
