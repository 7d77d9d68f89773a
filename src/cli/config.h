// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/clients_config.h"
#include "io/endpoint.h"
#include "io/resolve.h"
#include "order/registry/registry.h"
#include "order/ring/options.h"

// The configuration file of a node: TOML, one file for the whole cluster or one per node. Each key
// is one row in config_keys.cc; the parser, the range checks, --print-config and the error messages
// read the same row.

namespace peal::cli {

struct NodeEntry {
  std::string name;
  io::HostPort address;      ///< tokens and control; data travel on the port above it
  std::uint32_t number = 0;  ///< of its NodeId; the file's, or its place there, from 1
  bool numbered = false;     ///< the file says so
  std::uint32_t line = 0;    ///< of the address in the file
};

/// Some nodes with an ensemble of their own.
struct DomainEntry {
  std::string name;
  std::vector<std::uint32_t> nodes;      ///< numbers
  std::vector<std::uint32_t> acceptors;  ///< of these; empty: the engine's choice
  std::vector<std::string> groups;       ///< names, or beginnings with '*' behind
  std::uint32_t line = 0;                ///< of the table in the file

  bool same_as(const DomainEntry& other) const {
    return name == other.name && nodes == other.nodes && acceptors == other.acceptors &&
           groups == other.groups;
  }
};
inline constexpr std::size_t kDomainsMax = 15;

/// How values reach all nodes with ridge.
enum class Dissemination : std::uint8_t { distributors, ring };
std::string_view dissemination_name(Dissemination dissemination);
std::optional<Dissemination> dissemination_of_name(std::string_view name);
inline constexpr const char* kDisseminations = "\"distributors\" or \"ring\"";

/// How the orders of several ensembles become one.
enum class Merging : std::uint8_t { keys, rotation };
std::string_view merging_name(Merging merging);
std::optional<Merging> merging_of_name(std::string_view name);
inline constexpr const char* kMergings = "\"keys\" or \"rotation\"";

/// Where acceptors keep their votes.
enum class Storage : std::uint8_t { disk, memory };
std::string_view storage_name(Storage storage);
std::optional<Storage> storage_of_name(std::string_view name);
inline constexpr const char* kStorages = "\"disk\" or \"memory\"";

/// How many ensembles of ridge may order together.
inline constexpr std::uint32_t kEnsemblesMax = 16;

/// Takes what a name stands for; false if it stands for nothing.
template <class T>
bool take_named(std::optional<T> named, T& target) {
  if (named) target = *named;
  return named.has_value();
}

/// How data travel between nodes.
enum class Data : std::uint8_t { datagrams, streams };
std::string_view data_name(Data data);
std::optional<Data> data_of_name(std::string_view name);
inline constexpr const char* kDatas = "\"datagrams\" or \"streams\"";

enum class Multicast : std::uint8_t { automatic, off, group };

/// Everything a configuration file can say, checked: ranges, names and the rules between keys.
struct NodeConfig {
  std::string cluster;
  std::string node;              ///< this node's name, one of `nodes`
  std::vector<NodeEntry> nodes;  ///< in the order of the file
  std::string key_file;          ///< of `peal keygen`; empty only if `insecure`
  bool insecure = false;         ///< packets between nodes are neither encrypted nor authenticated
  Multicast multicast = Multicast::automatic;
  io::Endpoint multicast_group;  ///< if `multicast` is group
  Data data = Data::datagrams;
  const order::Descriptor* order = &order::default_engine();
  Dissemination dissemination = Dissemination::distributors;  ///< of ridge
  std::uint32_t ensembles = 1;                                ///< of ridge, that order together
  Merging merging = Merging::keys;                            ///< of several ensembles
  bool optimistic = false;  ///< of ridge: messages are told before they have their places, too
  std::vector<DomainEntry> domains;  ///< of ridge
  std::vector<std::uint32_t>
      acceptors;                    ///< numbers of nodes, on quorums; empty: the engine's choice
  Storage storage = Storage::disk;  ///< of votes, on quorums
  std::string data_dir;             ///< on quorums: where acceptors keep their logs
  order::ring::Options ring;
  std::uint32_t nodes_max = 32;
  std::uint32_t message_bytes_max = 64U << 20;
  std::uint64_t submit_bytes_max = 128ULL << 20;  ///< that wait to be ordered
  std::uint32_t submit_messages_max = 65'536;
  std::uint64_t receive_bytes_max = 64ULL << 20;  ///< delivered, that wait for the application
  ClientsConfig clients;
  std::string socket;                          ///< empty: NAME.sock beside the configuration file
  std::string trace;                           ///< empty: no trace
  std::string state_dir;                       ///< empty: none
  std::string file;                            ///< where all this was read
  std::map<std::string, std::uint32_t> lines;  ///< of keys in the file; 0: on the command line

  const NodeEntry& own() const;
  /// "peal.toml:12: socket"; "peal.toml: socket" if the file does not have it; or "--trace".
  std::string place_of(const std::string& key) const;
};

/// Why a key of the file does not go with the engine; empty if it does. Completes "KEY = VALUE does
/// not go with order = ".
std::string order_clash(std::string_view path, const NodeConfig& config);

/// The greatest configuration file that is read, in bytes.
inline constexpr std::size_t kConfigBytesMax = 1U << 20;
inline constexpr std::size_t kNodesMax = 128;
inline constexpr std::uint32_t kNodeNumberMax = 65'535;
inline constexpr std::string_view kAcceptedName = "1 to 32 characters of a-z, 0-9 and -";

/// Reads one configuration. `file` is only for messages; `name` overrides the key `node` if it is
/// not empty. Any bytes are legal as `text`. The error is one line that names the key, the value
/// and what is accepted, with the line of the file where it has one.
Result<NodeConfig, std::string> parse_config(std::string_view text, std::string_view file,
                                             std::string_view name);

/// The same from a file; `socket`, `key_file` and `data_dir` are made relative to the folder of
/// `path`.
Result<NodeConfig, std::string> read_config(const std::string& path, std::string_view name);

/// Whether the files and folders that the configuration names can be used. The error is one line,
/// as above.
Result<void, std::string> check_paths(const NodeConfig& config);
/// The configuration of a node that is to run: read, with `trace` in the place of the file's if it
/// is not empty, and its paths checked. The error is one line.
Result<NodeConfig, std::string> read_usable_config(const std::string& file, const std::string& name,
                                                   const std::string& trace);

/// A configuration file with every key, its default and what is accepted, as comments that teach.
std::string annotated_config();

/// True for 1 to 32 characters of a-z, 0-9 and -.
bool is_name(std::string_view text);

}  // namespace peal::cli
