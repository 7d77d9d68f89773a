// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "io/stream.h"
#include "io/unix_path.h"

namespace peal::io {

/// Accepts connections on one Unix socket or TCP endpoint. Thread: one at a time.
class StreamListener {
 public:
  /// Makes a stream of a connection: plain, or TLS.
  using Wrap = std::function<std::unique_ptr<Stream>(Fd, StreamPeer)>;

  /// Listens as io::listen_unix() does. The destructor removes the socket file.
  static Result<std::unique_ptr<StreamListener>, IoError> unix_socket(const std::string& path,
                                                                      mode_t mode);
  /// Listens on TCP. [::] accepts IPv4 as well; with port 0 the system chooses a port. Errors:
  /// address_in_use, invalid_option (not an address of this machine), not_permitted, system.
  static Result<std::unique_ptr<StreamListener>, IoError> tcp(const Endpoint& at, Wrap wrap);
  ~StreamListener();
  StreamListener(const StreamListener&) = delete;
  StreamListener& operator=(const StreamListener&) = delete;

  enum class Answer : std::uint8_t {
    taken,    ///< a connection; there may be more
    nothing,  ///< no connection waits; the descriptor reports the next one
    /// The listener closed a connection (no descriptor was left, or the user is unknown), or the
    /// connection ended by itself. More connections may wait.
    refused,
    exhausted,  ///< the machine lacks resources; try again later
  };
  struct Accepted {
    Answer answer = Answer::nothing;
    std::unique_ptr<Stream> stream;  ///< set if the answer is `taken`
    int limit = 0;                   ///< EMFILE or ENFILE if no descriptor was free
  };
  Accepted accept();
  /// From now on, refuses connections that would need one of the last descriptors
  /// (io/descriptors.h).
  void spare_reserve() { spares_reserve_ = true; }

  int fd() const { return socket_.fd.get(); }
  bool is_local() const { return local_; }
  /// "/run/peal/n1.sock" or "10.0.0.1:4900", with the actual port.
  const std::string& text() const { return text_; }
  /// Unspecified for Unix sockets.
  const Endpoint& endpoint() const { return endpoint_; }

 private:
  StreamListener(UnixSocket socket, std::string text, Wrap wrap);
  Answer answer_of(int number);
  std::optional<StreamPeer> peer_of(int fd, const Endpoint& from) const;

  UnixSocket socket_;
  std::string text_;
  Endpoint endpoint_;
  bool local_ = true;
  bool spares_reserve_ = false;
  Wrap wrap_;
  /// Closed when no other descriptor is left, so that a connection can be accepted and closed.
  Fd spare_;
};

}  // namespace peal::io
