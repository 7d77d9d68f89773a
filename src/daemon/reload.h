// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "config/file/file.h"
#include "daemon/options.h"

// The configuration file of a daemon, and the reload of the options that may change while the
// daemon runs.

namespace peal::daemon {

class Daemon;

/// The options of a daemon that is configured by `file`, with the keys and secrets that the file
/// names. The error is one line.
Result<Options, std::string> options_of(const config::File& file);

/// The configuration file in use by a daemon. Thread: the loop's.
class RunningFile {
 public:
  /// `file` was read from `path`. If `name` is not empty, it replaces the value of the key `node`.
  RunningFile(config::File file, std::string path, std::string name)
      : file_(std::move(file)), path_(std::move(path)), name_(std::move(name)) {}

  const config::File& file() const { return file_; }

  /// Reads the file again, and takes from the file the options that may change while the node runs:
  /// rules and limits of clients, TLS files, the list of nodes, and the keys between nodes. Returns
  /// "key " and the key that seals packets from now on, or "insecure" without keys. The error is
  /// one line; after an error nothing has changed.
  Result<std::string, std::string> reload(Daemon& daemon);

  /// Adds to an error the line of the error's key in the file: "socket: …" becomes "peal.toml:3:
  /// socket: …".
  std::string placed(const std::string& problem) const;

 private:
  config::File file_;
  std::string path_;
  std::string name_;
};

}  // namespace peal::daemon
