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

// The command line of `peal`: arguments to one of these structs, or one line that says what is
// wrong.

namespace peal::cli {

struct UpCommand {
  std::uint32_t nodes = 3;
  std::string dir;  ///< empty: a folder of its own for each user
  bool trace = false;
};

struct NodeCommand {
  std::string config;
  std::string name;   ///< empty: as in the file
  std::string trace;  ///< empty: as in the file
  bool json = false;
  bool print_config = false;
};

struct SendCommand {
  std::string to;  ///< a socket, or a folder with sockets; empty: the folder of `peal up`
  Service service = Service::agreed;
  std::vector<std::string> files;  ///< empty: standard input
};

struct RecvCommand {
  std::string to;
  std::optional<std::uint64_t> count;  ///< stop after so many messages
  bool views = false;
  bool json = false;
  bool digest = false;
};

struct StatusCommand {
  std::string to;
  bool json = false;
  bool views = false;
  std::optional<std::uint32_t> wait_members;    ///< wait until all are in one view of so many
  std::optional<std::uint64_t> wait_delivered;  ///< wait until each delivered at least so many
  double timeout_s = 10;
};

struct CheckCommand {
  std::vector<std::string> files;
  bool json = false;
};

struct SimCommand {
  std::vector<std::string> arguments;
};

struct BenchCommand {
  std::uint32_t nodes = 3;
  std::uint32_t payload_bytes = 1'350;
  Service service = Service::agreed;
  std::uint64_t rate = 0;  ///< messages per second, all nodes together; 0: as many as possible
  double seconds = 5;
  bool json = false;
  /// Of one of its own processes: which node it is, and the folder of the run. Not for people.
  std::string worker;
  std::string dir;
};

struct VersionCommand {};

using Command = std::variant<UpCommand, NodeCommand, SendCommand, RecvCommand, StatusCommand,
                             CheckCommand, SimCommand, BenchCommand, VersionCommand>;

/// Why there is nothing to run: help was asked for (status 0), or the arguments are wrong (2).
struct Stop {
  int status = 0;
  std::string text;  ///< help for standard output, or one line for standard error
};

/// `arguments` are those after the program's name.
Result<Command, Stop> parse_arguments(std::span<const std::string> arguments);

}  // namespace peal::cli
