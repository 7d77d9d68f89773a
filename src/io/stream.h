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

/// Who is at the other end of a stream, as the operating system or TLS says.
struct StreamPeer {
  enum class Kind : std::uint8_t {
    unix_user,    ///< a process of this machine: uid, gid, pid and groups are known
    certificate,  ///< `name` is that of a certificate that was verified
    unknown,
  } kind = Kind::unknown;
  bool local = false;  ///< a Unix socket
  std::uint32_t uid{};
  std::uint32_t gid{};
  std::int32_t pid{};                 ///< at the time of its connect()
  std::vector<std::uint32_t> groups;  ///< gid and the supplementary ones; ascending, each once
  std::string name;                   ///< certificate; see certificate_name() in io/tls_files.h
  Endpoint at;                        ///< where a connection over TCP came from
  std::string text;                   ///< for logs: "uid 1000, pid 4711", "10.0.0.7:51312"
};

/// How a call on a stream came out.
enum class StreamOutcome : std::uint8_t {
  ok,       ///< something was done; there may be more to do at once
  blocked,  ///< what could be done was done; the descriptor says when there is more to do
  end,      ///< reading: the other side has said all it had to say
  broken,   ///< the stream is of no use any more; error() says why
};

struct Transfer {
  std::size_t bytes = 0;  ///< moved, whatever the outcome
  StreamOutcome outcome = StreamOutcome::ok;
};

/// A connected byte stream that never blocks: plain, or TLS. Nothing raises SIGPIPE.
/// Thread: one at a time.
class Stream {
 public:
  /// Gather lists are used up to so many chunks per call.
  static constexpr std::size_t kChunksMax = 256;

  virtual ~Stream() = default;
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// Goes on with connecting, and with the handshake of TLS. `ok`: read() and write() may be called
  /// from now on. `blocked`: call it again when the descriptor has one of waits_for(). `broken`.
  virtual StreamOutcome advance() = 0;
  /// Reads what is there, once. `ok` may come with no bytes if what came was not for the reader.
  /// `end` and `broken` are final. Only after `blocked`, which may come with bytes, does the
  /// descriptor say when there is more: TLS holds bytes that the descriptor does not know of.
  /// Where write() or flush() was `broken` since the other side is gone, what it said before can
  /// still be read.
  virtual Transfer read(ByteSpan into) = 0;
  /// Writes up to kChunksMax chunks with one system call, and returns how many bytes were taken:
  /// the caller goes on from there. `blocked`: not everything that was looked at was taken.
  virtual Transfer write(std::span<const ByteView> chunks) = 0;
  /// A descriptor that goes with the first byte of the next write(); it stays the caller's, and
  /// open until then. On Unix sockets only.
  void attach(int fd) { attached_ = fd; }
  /// One descriptor that comes with what is read from now on is kept; any other is closed, as all
  /// are as long as nobody calls this. On Unix sockets only.
  void expect_descriptor() { expects_ = true; }
  bool expects_descriptor() const { return expects_; }
  /// The one that came; none if none did. No other is expected then.
  Fd take_descriptor() {
    expects_ = false;
    return std::exchange(descriptor_, Fd());
  }
  /// Sends what write() took and could not send yet; `ok` if nothing is left. Plain streams never
  /// have any.
  virtual StreamOutcome flush() = 0;
  /// Nothing more will be written; reading goes on. What write() took is sent before: if this says
  /// `blocked`, flush() ends it.
  virtual StreamOutcome finish_writing() = 0;

  /// advance() asks the other side who it is, which costs time: of TLS.
  virtual bool has_handshake() const = 0;
  /// POLLIN or POLLOUT: what the last advance() that was `blocked` waits for.
  virtual short waits_for() const = 0;
  /// write() took bytes that are not sent yet.
  virtual bool has_unsent() const = 0;
  /// Reads once what came, as it came: for a stream of which nothing is wanted any more, even if
  /// its handshake failed.
  Transfer receive(ByteSpan into);
  int fd() const { return fd_.get(); }
  const StreamPeer& peer() const { return peer_; }
  /// Why the stream is broken.
  const IoError& error() const { return error_; }

 protected:
  /// Goes on with connect().
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

/// A plain stream on a descriptor that is connected, or on its way (connect_tcp).
std::unique_ptr<Stream> make_plain_stream(Fd fd, StreamPeer peer);

/// What streams over TCP are told: no waiting for more bytes to send, and a peer that is gone
/// without a word is noticed after about 20 seconds.
void tune_tcp(int fd);

/// Connects to a Unix socket. Blocks: never. Errors: closed (nobody listens there), would_block
/// (too many others wait there: try again), invalid_option (no path), not_permitted, system.
Result<Fd, IoError> connect_unix(const std::string& path);
/// Begins to connect, from the address `from` (its port does not matter) unless that is
/// unspecified; Stream::advance() goes on, and says if it failed. Errors: invalid_option (`from` is
/// no address of this machine), not_permitted, system.
Result<Fd, IoError> connect_tcp(const Endpoint& to, const Endpoint& from = {});

}  // namespace peal::io
