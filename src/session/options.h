// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "group/options.h"
#include "wire/client.h"

// Who the clients are, what they may do, and how much of the daemon they may use.

namespace peal::session {

/// The other end of a connection, as the operating system or TLS reports it; never a claim of the
/// client.
struct Identity {
  enum class Kind : std::uint8_t { unix_user, certificate, unknown } kind = Kind::unknown;
  std::uint32_t uid{};                ///< of a unix_user
  std::vector<std::uint32_t> groups;  ///< of a unix_user: groups of the process, sorted
  std::string name;                   ///< name of the user or certificate; for logs and rules
  bool local = true;                  ///< connected by a Unix socket, which needs no pings
};

/// The persons that a rule matches.
struct Who {
  enum class Kind : std::uint8_t { everyone, uid, gid, certificate, secret } kind = Kind::everyone;
  std::uint32_t id{};
  std::string text;  ///< name of the certificate, or the secret itself
};

/// The largest quota of a client, in bytes per second.
inline constexpr std::uint64_t kQuotaBytesMax = 1'000'000'000'000;

/// Allows sessions, and limits how much of the daemon these sessions may use. The first rule that
/// matches a client decides; a client without a matching rule is turned away.
struct ClientRule {
  Who who;
  std::string names = "*";             ///< allowed names; '*' at the end matches any rest
  std::uint32_t sessions_max = 1'024;  ///< concurrent sessions under this rule
  std::uint32_t groups_max = 10'000;   ///< per session
  /// Quota of one session for messages and joins, at most kQuotaBytesMax; 0: no limit. Each message
  /// or join costs its bytes and 64 more.
  std::uint64_t bytes_per_second = 0;
  bool admin = false;  ///< may ask the daemon for more than "status"
};

/// Allows the use of groups (and private names). The first rule that matches person and target
/// decides; without such a rule, nothing is allowed.
struct GroupRule {
  Who who;
  std::string groups = "*";  ///< targets; '*' at the end matches any rest
  bool join = false;
  bool send = false;
  /// May join with policy `block`. If false, the policy is allowed only if it is the policy of
  /// Options::slow, and only up to the age limit of Options::slow.
  bool block = false;
};

/// Smallest value of a limit on the bytes that wait for a membership.
inline constexpr std::uint64_t kSlowBytesMin = 4'096;
/// Smallest size of shared memory, in bytes.
inline constexpr std::uint32_t kSharedBytesLeast = 64 * 1'024;
/// The number of ended sessions for which the daemon remembers the reason; it forgets the oldest
/// first.
inline constexpr std::size_t kEndedMax = 1'024;
/// The number of bytes that a group message may have in addition to its payload.
inline constexpr std::uint32_t kMessageOverheadMax = 16'384;
/// With disjoint domains a message fits into one unit, which may be small. So much of it is kept
/// free for the names of groups; a message with more or longer names is refused if it does not fit.
inline constexpr std::uint32_t kOverheadShare = 4;
/// Smallest limit of a message with disjoint domains.
inline constexpr std::uint32_t kUnitMessageBytesMin = 512;

struct Options {
  std::string cluster;
  std::string node;
  std::uint32_t nodes = 1;  ///< maximum number of nodes that the cluster may ever have
  std::uint32_t message_bytes_max = 64U << 20;
  /// Of a message with the tables of groups, if it may be larger than that of a client.
  std::uint32_t tables_bytes_max = 0;
  std::uint32_t sessions_max = 4'096;
  /// Limit of the bytes of unfinished records, over all connections. Each connection may have 16
  /// KiB in addition.
  std::uint64_t input_bytes_max = 128ULL << 20;
  std::uint32_t unsettled_messages_max = 65'536;    ///< unacknowledged messages of one session
  std::uint64_t unsettled_bytes_max = 64ULL << 20;  ///< unacknowledged bytes of one session
  /// Default policy and limits of a membership.
  wire::SlowLimits slow{wire::SlowPolicy::spill, 64ULL << 20, 1ULL << 30, 0};
  /// The largest limits that clients may ask for; 0: any limit.
  wire::SlowLimits slow_max{wire::SlowPolicy::normal, 256ULL << 20, 16ULL << 30, 0};
  std::uint64_t memory_bytes_max = 1ULL << 30;  ///< for all events that wait in memory
  std::uint64_t disk_bytes_max = 16ULL << 30;   ///< for all events that wait on disk
  /// Size of the memory in which the clients of one person on the Unix socket read events; if it is
  /// below kSharedBytesLeast, there is no such memory.
  std::uint32_t shared_bytes = 64U << 20;
  Duration keep_max = seconds(60);       ///< longest time that a session outlives its connection
  Duration hello_patience = seconds(5);  ///< time limit for a connection to send its hello
  Duration ping = seconds(5);  ///< longest time between two records of a client that is not local
  std::vector<ClientRule> clients;
  std::vector<GroupRule> groups;
  group::Domains domains;  ///< groups whose messages only some nodes learn
  bool companies = false;  ///< as in group::Options
};

/// The options of the groups below the sessions.
group::Options group_options(const Options& options);

/// Returns an empty text if the options are valid; otherwise one line that names the key, the value
/// and what is accepted.
std::string validate(const Options& options);

}  // namespace peal::session
