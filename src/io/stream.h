// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "io/endpoint.h"
#include "io/error.h"
#include "io/fd.h"

namespace peal::io {

/// The other end of a stream, as identified by the operating system or TLS.
struct StreamPeer {
  enum class Kind : std::uint8_t {
    unix_user,    ///< a process on this machine: uid, gid, pid and groups are known
    certificate,  ///< `name` is the name in a verified certificate
    unknown,
  } kind = Kind::unknown;
  bool local = false;  ///< connected over a Unix socket
  std::uint32_t uid{};
  std::uint32_t gid{};
  std::int32_t pid{};                 ///< the process that called connect()
  std::vector<std::uint32_t> groups;  ///< gid and the supplementary groups; ascending, each once
  std::string name;                   ///< the name in the certificate; see certificate_name()
  Endpoint at;                        ///< over TCP: the address that connected
  std::string text;                   ///< for logs: "uid 1000, pid 4711", "10.0.0.7:51312"
};

/// The outcome of a call on a stream.
enum class StreamOutcome : std::uint8_t {
  ok,       ///< something was done; there may be more to do at once
  blocked,  ///< nothing more can be done now; the descriptor reports when more can be done
  end,      ///< reading: the other side will send nothing more
  broken,   ///< the stream is useless; error() says why
};

struct Transfer {
  std::size_t bytes = 0;  ///< bytes moved, whatever the outcome
  StreamOutcome outcome = StreamOutcome::ok;
};

/// A connected byte stream that never blocks: plain, or TLS. Never raises SIGPIPE. Thread: one at a
/// time.
class Stream {
 public:
  /// Maximum number of chunks that one call of write() uses.
  static constexpr std::size_t kChunksMax = 256;

  virtual ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Continues connecting, and the handshake of TLS. `ok`: read() and write() may be called from
  /// now on. `blocked`: call it again when the descriptor has an event of waits_for().
  virtual StreamOutcome advance() = 0;
  /// Reads the available bytes once. `ok` may return no bytes, if only bytes of the TLS protocol
  /// arrived. `blocked` may return bytes. `end` and `broken` are final. Wait for the descriptor
  /// only after `blocked`, because after `ok` TLS may hold bytes that the descriptor does not
  /// report. If write() or flush() was `broken` because the other side is gone, the bytes that the
  /// other side sent before can still be read.
  virtual Transfer read(ByteSpan into) = 0;
  /// Writes up to kChunksMax chunks with one system call. Returns the number of bytes taken; the
  /// caller continues from there. `blocked`: not all of these chunks were taken.
  virtual Transfer write(std::span<const ByteView> chunks) = 0;
  /// Sends a descriptor with the first byte of the next write(). The caller keeps the descriptor
  /// and must not close it before that write. On Unix sockets only.
  void attach(int fd) { attached_ = fd; }
  /// Keeps one descriptor that arrives with bytes read from now on. Any other descriptor is closed;
  /// without this call, all are closed. On Unix sockets only.
  void expect_descriptor() { expects_ = true; }
  bool expects_descriptor() const { return expects_; }
  /// The descriptor that arrived, or none. Afterwards, no descriptor is expected.
  Fd take_descriptor() {
    expects_ = false;
    return std::exchange(descriptor_, Fd());
  }
  /// Sends the bytes that write() took but could not send yet; `ok` if none are left. Plain streams
  /// never hold such bytes.
  virtual StreamOutcome flush() = 0;
  /// Ends writing; reading continues. The bytes that write() took are sent first. After `blocked`,
  /// flush() sends the rest of these bytes, and then the end of the stream.
  virtual StreamOutcome finish_writing() = 0;

  /// True for TLS: advance() then authenticates the other side, which costs time.
  virtual bool has_handshake() const = 0;
  /// The events for which advance() waits, if its last call returned `blocked`: POLLIN, POLLOUT or
  /// both.
  virtual short waits_for() const = 0;
  /// True if write() took bytes that are not sent yet.
  virtual bool has_unsent() const = 0;
  /// Reads the raw bytes that arrived, once. Use it for a stream whose content is no longer needed,
  /// or after a failed handshake.
  Transfer receive(ByteSpan into);
  int fd() const { return fd_.get(); }
  const StreamPeer& peer() const { return peer_; }
  /// The reason why the stream is broken.
  const IoError& error() const { return error_; }

 protected:
  /// Continues connect().
  StreamOutcome finish_connecting();
  static IoError lost(const char* doing, int number);
  Stream(Fd fd, StreamPeer peer) : fd_(std::move(fd)), peer_(std::move(peer)) {}
  StreamOutcome fail(IoError error) {
    error_ = std::move(error);
    return StreamOutcome::broken;
  }
  Fd fd_;
  StreamPeer peer_;
  IoError error_;
  int attached_ = -1;

 private:
  ssize_t receive_with_descriptor(ByteSpan into);
  bool expects_ = false;
  Fd descriptor_;
};

/// A plain stream on a descriptor that is connected or connecting (connect_tcp).
std::unique_ptr<Stream> make_plain_stream(Fd fd, StreamPeer peer);

/// Sets the options of TCP streams: bytes are sent without delay, and a silently lost peer is
/// noticed after about 20 seconds.
void tune_tcp(int fd);

/// Connects to a Unix socket. Blocks: never. Errors: closed (no process listens there), would_block
/// (too many connections wait there: try again), invalid_option (no path), not_permitted, system.
Result<Fd, IoError> connect_unix(const std::string& path);
/// Starts to connect to `to`. Unless `from` is unspecified, connects from that address; the port of
/// `from` is ignored. Stream::advance() continues and reports a failure. Errors: invalid_option
/// (`from` is not an address of this machine), not_permitted, system.
Result<Fd, IoError> connect_tcp(const Endpoint& to, const Endpoint& from = {});

}  // namespace peal::io
