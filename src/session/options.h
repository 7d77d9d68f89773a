// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/time.h"
#include "group/domains.h"
#include "wire/client.h"

// Who clients are, what they may do, and how much of the daemon they may use.

namespace peal::session {

/// Who is at the other end, as the operating system or TLS says; nothing that a client claims.
struct Identity {
  enum class Kind : std::uint8_t { unix_user, certificate, unknown } kind = Kind::unknown;
  std::uint32_t uid{};                ///< unix_user
  std::vector<std::uint32_t> groups;  ///< unix_user: of the process, sorted
  std::string name;                   ///< user name, or name of the certificate; for logs and rules
  bool local = true;                  ///< a Unix socket: needs no pings
};

/// Whom a rule is about.
struct Who {
  enum class Kind : std::uint8_t { everyone, uid, gid, certificate, secret } kind = Kind::everyone;
  std::uint32_t id{};
  std::string text;  ///< name of the certificate, or the secret itself
};

/// The largest quota of a client, in bytes per second.
inline constexpr std::uint64_t kQuotaBytesMax = 1'000'000'000'000;

/// Who may have a session, and how much of the daemon it may use. The first that fits decides; who
/// fits none is turned away.
struct ClientRule {
  Who who;
  std::string names = "*";             ///< that the client may have; '*' at the end: any rest
  std::uint32_t sessions_max = 1'024;  ///< by this rule, at a time
  std::uint32_t groups_max = 10'000;   ///< of one session
  /// Of messages and joins of one session, 64 for each besides its own, up to kQuotaBytesMax; 0:
  /// no limit.
  std::uint64_t bytes_per_second = 0;
  bool admin = false;  ///< may ask for more than "status"
};

/// What may be done with groups (and private names). The first that fits both decides; nothing that
/// fits none is allowed.
struct GroupRule {
  Who who;
  std::string groups = "*";  ///< name of a target; '*' at the end: any rest
  bool join = false;
  bool send = false;
  bool block = false;  ///< may join with policy `block`, for as long as the client likes
};

/// Least limit of what may wait for a membership.
inline constexpr std::uint64_t kSlowBytesMin = 4'096;
/// Of shared memory.
inline constexpr std::uint32_t kSharedBytesLeast = 64 * 1'024;
/// What a message of groups may need besides its payload.
inline constexpr std::uint32_t kMessageOverheadMax = 16'384;

struct Options {
  std::string cluster;
  std::string node;
  std::uint32_t nodes = 1;  ///< that the cluster may ever have
  std::uint32_t message_bytes_max = 64U << 20;
  std::uint32_t sessions_max = 4'096;
  /// Of unfinished records, all connections; besides 16 KiB that each may always have.
  std::uint64_t input_bytes_max = 128ULL << 20;
  std::uint32_t unsettled_messages_max = 65'536;                               ///< of one session
  std::uint64_t unsettled_bytes_max = 64ULL << 20;                             ///< of one session
  wire::SlowLimits slow{wire::SlowPolicy::spill, 64ULL << 20, 1ULL << 30, 0};  ///< of a membership
  wire::SlowLimits slow_max{wire::SlowPolicy::normal, 256ULL << 20, 16ULL << 30,
                            0};                 ///< that a client may ask for; 0: no bound
  std::uint64_t memory_bytes_max = 1ULL << 30;  ///< of all that waits for clients, in sum
  std::uint64_t disk_bytes_max = 16ULL << 30;   ///< and on disk
  /// Of memory in which clients of one person on the Unix socket read what they are told; below
  /// kSharedBytesLeast: none.
  std::uint32_t shared_bytes = 64U << 20;
  Duration keep_max = seconds(60);       ///< of a session without a connection
  Duration hello_patience = seconds(5);  ///< for a connection without a hello
  Duration ping = seconds(5);            ///< on connections that are not local
  std::vector<ClientRule> clients;
  std::vector<GroupRule> groups;
  group::Domains domains;  ///< of whose groups not all nodes learn
};

/// Empty if all is well, else one line that names the key, the value and what is accepted.
std::string validate(const Options& options);

}  // namespace peal::session
