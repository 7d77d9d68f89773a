// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "client/signal.h"
#include "io/endpoint.h"
#include "io/resolve.h"
#include "io/stream.h"
#include "io/tls.h"
#include "peal/client.h"

namespace peal::client {

/// The address of a daemon.
struct Address {
  bool tls = false;
  std::string path;  ///< path of a Unix socket; used if `tls` is false
  std::string host;  ///< host name or IP address, IPv6 without brackets
  std::string port;
};

/// Reads ClientOptions::daemon. The text of the error says which addresses are accepted.
Result<Address, v0::Error> parse_address(std::string_view text);

/// Makes connections to one daemon. Thread: one at a time.
class Dialer {
 public:
  /// Resolves a host name; a test replaces the system's resolver.
  using Question = io::LookUp::Question;

  /// Checks the address, and reads the certificates. Errors: invalid_option, not_permitted.
  static Result<Dialer, v0::Error> make(const v0::ClientOptions& options, Question question = {});

  /// Connects to the first of the host's addresses that works, and returns a stream that can read
  /// and write. Each address gets an equal share of the remaining time. Errors: unreachable,
  /// untrusted, timed_out, not_permitted, invalid_option, system; closed if another thread set
  /// `stop` and then `wake`. Blocks: at most until `deadline`, or for some milliseconds after
  /// another thread set `stop`.
  Result<std::unique_ptr<io::Stream>, v0::Error> dial(Instant deadline, Signal& wake,
                                                      const std::atomic<bool>& stop);
  /// True if the daemon is on a Unix socket. A stream then expects a descriptor together with its
  /// first byte.
  bool is_local() const { return tls_ == nullptr; }
  /// The daemon's address, for error messages.
  const std::string& where() const { return where_; }

 private:
  using Dialed = Result<std::unique_ptr<io::Stream>, v0::Error>;

  Result<std::vector<io::Endpoint>, v0::Error> look_up(Instant deadline,
                                                       const std::atomic<bool>& stop) const;
  Dialed start(const io::Endpoint& to) const;
  Dialed finish(Dialed stream, Instant deadline, Signal& wake, const std::atomic<bool>& stop) const;

  Address address_;
  Question question_;  ///< empty: the system's resolver
  std::string tls_name_;
  std::shared_ptr<const io::TlsContext> tls_;  ///< null: a Unix socket
  std::string where_;
};

/// The timeout of poll(2) in milliseconds until `deadline`, rounded up; 0 if `deadline` has passed.
int poll_ms(Instant now, Instant deadline);

}  // namespace peal::client
