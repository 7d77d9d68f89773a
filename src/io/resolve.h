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

/// A host and a port as people write them.
struct HostPort {
  std::string host;  ///< a name, or an IP address without brackets
  std::uint16_t port{};

  friend bool operator==(const HostPort&, const HostPort&) = default;
};

/// Reads "name:port", "10.0.0.1:port" or "[fd00::1]:port"; nothing is looked up. `default_port`
/// stands in for a missing port, and 0 there makes it required. An IP address is given back as
/// to_string(Endpoint) writes it, so that equal ones are equal. What ends in a number and is no IP
/// address is no name either: it is a mistyped address. Errors: invalid_option.
Result<HostPort, IoError> parse_host_port(std::string_view text, std::uint16_t default_port);

/// "name:port" or "[fd00::1]:port".
std::string to_string(const HostPort& name);

/// The address, if `name` is one and needs no looking up.
std::optional<Endpoint> endpoint_of(const HostPort& name);

/// parse_host_port() for where only numbers are accepted. Errors: invalid_option.
Result<Endpoint, IoError> parse_endpoint(std::string_view text, std::uint16_t default_port);

/// Turns names into addresses. Behind an interface, so that tests need no name servers.
class Resolver {
 public:
  /// More addresses of one name are cut off.
  static constexpr std::size_t kAddressesMax = 256;

  virtual ~Resolver() = default;
  /// All addresses of the host, each once, IPv4 first, ascending: the same answer gives the same
  /// list. At least one. Errors: invalid_option (there is no such name), would_block (no answer in
  /// time, or none now: try again), system.
  virtual Result<std::vector<Endpoint>, IoError> look_up(const HostPort& name) = 0;
};

/// One question to the operating system, which may take as long as it likes to answer, on a thread
/// of its own. Who does not want to wait any more lets it go, and it goes on by itself; there are
/// never more than kQuestionsMax at a time. Thread: one at a time.
class LookUp {
 public:
  static constexpr int kQuestionsMax = 4;
  using Answer = Result<std::vector<Endpoint>, IoError>;
  /// What is asked; it may block, and runs on another thread.
  using Question = std::function<Answer(const HostPort&)>;

  /// Errors: would_block (kQuestionsMax wait for an answer already: try again), system.
  static Result<LookUp, IoError> begin(const HostPort& name);
  static Result<LookUp, IoError> begin(const HostPort& name, const Question& question);
  /// The answer, as Resolver::look_up() gives it; nothing if there is none after `patience`. Not to
  /// be called again after an answer. Blocks: up to `patience`.
  std::optional<Answer> wait(Duration patience);

 private:
  struct Asked;
  explicit LookUp(std::shared_ptr<Asked> asked) : asked_(std::move(asked)) {}
  std::shared_ptr<Asked> asked_;
};

/// Asks the operating system, and waits for `patience` at most; as LookUp. Thread: any.
/// Blocks: up to `patience`.
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
