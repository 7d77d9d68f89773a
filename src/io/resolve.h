// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/time.h"
#include "io/endpoint.h"
#include "io/error.h"

namespace peal::io {

/// A host and a port, as people write them.
struct HostPort {
  std::string host;  ///< a name, or an IP address without brackets
  std::uint16_t port{};

  friend bool operator==(const HostPort&, const HostPort&) = default;
};

/// Parses "name:port", "10.0.0.1:port" or "[fd00::1]:port", without a look-up. `default_port`
/// replaces a missing port; if `default_port` is 0, `text` must have a port. An IP address is
/// returned as to_string(Endpoint) writes it, so that equal addresses are equal texts. A host that
/// ends in a number and is no IP address is refused as a mistyped address. Errors: invalid_option.
Result<HostPort, IoError> parse_host_port(std::string_view text, std::uint16_t default_port);

/// Formats a host and a port: "name:port" or "[fd00::1]:port".
std::string to_string(const HostPort& name);

/// The address, if `name` is an IP address and needs no look-up.
std::optional<Endpoint> endpoint_of(const HostPort& name);

/// As parse_host_port(), but accepts IP addresses only. Errors: invalid_option.
Result<Endpoint, IoError> parse_endpoint(std::string_view text, std::uint16_t default_port);

/// Turns names into addresses. This class is an interface, so that tests need no name servers.
class Resolver {
 public:
  /// Maximum number of addresses of one name; further addresses are dropped.
  static constexpr std::size_t kAddressesMax = 256;

  virtual ~Resolver() = default;
  /// All addresses of the host: at least one, without duplicates. They are sorted, IPv4 first, so
  /// that the same addresses always give the same list. Errors: invalid_option (the name does not
  /// exist), would_block (no answer in time: try again), system.
  virtual Result<std::vector<Endpoint>, IoError> look_up(const HostPort& name) = 0;
};

/// One look-up by the operating system, on a separate thread. It may take any time. Destroying this
/// object abandons the look-up; its thread then ends after the answer. At most kQuestionsMax
/// look-ups of a process run at a time. Thread: one at a time.
class LookUp {
 public:
  static constexpr int kQuestionsMax = 4;
  using Answer = Result<std::vector<Endpoint>, IoError>;
  /// Looks a host up; runs on another thread and may block.
  using Question = std::function<Answer(const HostPort&)>;

  /// Errors: would_block (kQuestionsMax look-ups run already: try again), system.
  static Result<LookUp, IoError> begin(const HostPort& name);
  static Result<LookUp, IoError> begin(const HostPort& name, const Question& question);
  /// The answer, as from Resolver::look_up(); nothing if there is none within `patience`. Do not
  /// call again after an answer. Blocks: up to `patience`.
  std::optional<Answer> wait(Duration patience);

 private:
  struct Asked;
  explicit LookUp(std::shared_ptr<Asked> asked) : asked_(std::move(asked)) {}
  std::shared_ptr<Asked> asked_;
};

/// Asks the operating system through LookUp, and waits at most `patience`. Thread: any. Blocks: up
/// to `patience`.
class SystemResolver : public Resolver {
 public:
  static constexpr int kQuestionsMax = LookUp::kQuestionsMax;
  using Answer = LookUp::Answer;
  using Question = LookUp::Question;

  explicit SystemResolver(Duration patience);
  SystemResolver(Duration patience, Question question)
      : patience_(patience), question_(std::move(question)) {}
  Answer look_up(const HostPort& name) override;

 private:
  Duration patience_;
  Question question_;
};

}  // namespace peal::io
