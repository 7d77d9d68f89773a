// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "base/ids.h"
#include "base/result.h"
#include "order/registry/registry.h"
#include "order/setup.h"
#include "seal/key.h"
#include "wire/client.h"

// Parses the command line of `peal`. The result is one of the command structs below, or one line
// with the error.

namespace peal::cli {

struct UpCommand {
  std::uint32_t nodes = 3;
  std::string dir;  ///< empty: a default folder for each user
  const order::Descriptor* order = &order::default_engine();
  order::OptionValues options;  ///< options of the engine
  bool streams = false;         ///< data packets use TCP
  std::uint32_t domains = 1;    ///< domains of equal size
  bool trace = false;
};

struct NodeCommand {
  std::string config;
  std::string name;   ///< empty: the name in the file `config`
  std::string trace;  ///< empty: the trace file in the file `config`
  bool json = false;
  bool print_config = false;
};

/// The group to send to or to join if the user names no group.
inline constexpr const char* kDefaultGroup = "all";

struct SendCommand {
  std::string to;    ///< a socket, or a folder with sockets; empty: the folder of `peal up`
  std::string name;  ///< requested name of the client; empty: the node makes a name
  std::vector<std::string> groups = {kDefaultGroup};  ///< groups, or private names of clients
  Service service = Service::agreed;
  std::vector<std::string> files;  ///< empty: standard input
};

struct RecvCommand {
  std::string to;
  std::string name;
  std::vector<std::string> groups = {kDefaultGroup};
  wire::SlowPolicy policy = wire::SlowPolicy::normal;
  std::optional<std::uint64_t> count;  ///< stop after this many messages
  bool views = false;
  bool json = false;
  bool digest = false;
};

struct StatusCommand {
  std::string to;
  bool json = false;
  bool views = false;
  std::optional<std::string> clients;  ///< show clients whose names have this prefix
  /// Wait until all nodes are in one view with this number of members.
  std::optional<std::uint32_t> wait_members;
  /// Wait until each node has delivered at least this number of messages.
  std::optional<std::uint64_t> wait_delivered;
  double timeout_s = 10;
};

struct ReloadCommand {
  std::string to;
};

struct CheckCommand {
  std::vector<std::string> files;
  bool json = false;
};

struct SimCommand {
  std::vector<std::string> arguments;
};

/// The maximum number of nodes of a benchmark.
inline constexpr std::uint32_t kBenchNodesMax = 32;
/// The default size of a node's queue (node::Limits::submit_messages_max). A node cannot have more
/// messages in progress.
inline constexpr std::uint32_t kBenchUnderWayMax = 65'536;
/// Maximum number of acceptors, with any engine on quorums. A chain of Ridge has at most 16
/// acceptors (wire::kChainMax), and the number must be odd.
inline constexpr std::uint32_t kBenchAcceptorsMax = 15;
/// The shortest payload has space for the fields of the measurement.
inline constexpr std::uint32_t kBenchPayloadMin = 10, kBenchPayloadMax = 1U << 20;

/// Which nodes of a benchmark send.
enum class BenchSenders : std::uint8_t { all, first, last };

/// The total rate of all nodes of a benchmark. If both fields are 0, the nodes send as fast as
/// possible.
struct BenchRate {
  double messages_per_s = 0;
  double payload_bits_per_s = 0;

  bool is_max() const { return messages_per_s == 0 && payload_bits_per_s == 0; }
  /// The total rate in messages per second, if each message has `payload_bytes`; 0: as fast as
  /// possible.
  double messages_of(std::uint32_t payload_bytes) const {
    return messages_per_s + payload_bits_per_s / (8.0 * payload_bytes);
  }
};

struct BenchCommand {
  bool limit_only = false;  ///< `peal bench limit`
  const order::Descriptor* order = &order::default_engine();
  order::OptionValues options;  ///< options of the engine
  /// On quorums: the number of acceptors. The first nodes are the acceptors.
  std::optional<std::uint32_t> acceptors;
  std::uint32_t nodes = 3;
  std::uint32_t payload_bytes = 1'350;
  Service service = Service::agreed;
  std::uint32_t domains = 1;  ///< domains of equal size
  bool outside = false;       ///< the last node is in no domain: it only sends
  BenchSenders senders = BenchSenders::all;
  /// How many nodes poll always; the others sleep then.
  std::optional<std::uint32_t> poll;
  BenchRate rate;
  /// Without a rate: the maximum number of messages in progress of each node.
  std::optional<std::uint32_t> under_way;
  double link_bits_per_s = 0;  ///< of each cable; 0: not limited
  double loss_percent = 0;     ///< of data packets, at each receiver
  std::optional<double> warm_up_s;
  double seconds = 5;
  std::uint32_t runs = 1;
  bool loopback = false;
  bool multicast = true;
  bool streams = false;        ///< data packets use TCP
  std::string place = "/tmp";  ///< the folder in which the run creates its own folder
  bool own_thread = false;     ///< each member has a thread of its own
  bool insecure = false;       ///< packets are not sealed
  bool daemon = false;         ///< measure clients of daemons, instead of members
  bool limit = false;          ///< also measure the limit of the machine
  bool json = false;
  const order::Descriptor* table = nullptr;  ///< the engine that `table_settings` are for
  std::string table_settings;                ///< keys with their values, separated by commas
  std::string plot;                          ///< a PNG file to draw; empty: none
  /// Set only in a process that `peal bench` started: `worker` is the name of the process's node,
  /// `dir` is the folder of the run.
  std::string worker;
  std::string dir;
};

/// `peal bench clients`.
struct BenchClientsCommand {
  std::uint32_t clients = 1'000;
  std::uint32_t groups = 10'000;
  std::uint32_t payload_bytes = 1'350;
  double seconds = 2;
  std::uint32_t runs = 1;
  bool json = false;
};

/// `peal bench failover`. It uses only those fields of `cluster` that set nodes, engine, network,
/// load, place and JSON.
struct BenchFailoverCommand {
  BenchCommand cluster;
  std::uint32_t kills = 20;
  double settle_s = 1;  ///< how long all nodes run before each kill
};

enum class KeygenAction : std::uint8_t { add, use, remove, list };

struct KeygenCommand {
  std::vector<std::string> files;     ///< exactly one key file
  std::vector<KeygenAction> actions;  ///< empty: create a file; else exactly one action
  seal::KeyId key{};                  ///< the key to use or to remove
};

struct VersionCommand {};

using Command =
    std::variant<UpCommand, NodeCommand, SendCommand, RecvCommand, StatusCommand, ReloadCommand,
                 CheckCommand, SimCommand, BenchCommand, BenchClientsCommand, BenchFailoverCommand,
                 KeygenCommand, VersionCommand>;

/// Why no command runs: help was requested (status 0), or the arguments are wrong (status 2).
struct Stop {
  int status = 0;
  std::string text;  ///< help for standard output, or one line for standard error
};

/// `arguments` does not include the program's name.
Result<Command, Stop> parse_arguments(std::span<const std::string> arguments);

}  // namespace peal::cli
