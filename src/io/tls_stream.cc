// SPDX-License-Identifier: Apache-2.0
#include <arpa/inet.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>
#include <vector>

#include "base/assert.h"
#include "io/tls.h"
#include "io/tls_failure.h"
#include "io/tls_files.h"

// OpenSSL reads and writes through a BIO that belongs to the stream. The BIO receives bytes from
// the socket, and puts outgoing bytes into unsent_. This has two advantages. No call of OpenSSL
// must be repeated with the same buffer, and many TLS records are sent with one system call.

namespace peal::io {
namespace {

constexpr std::size_t kRecordBytes = 16U << 10;  // the longest TLS record
/// While this many bytes wait to be sent, write() takes no more bytes.
constexpr std::size_t kUnsentEnough = 64U << 10;
/// While more than this many bytes wait to be sent, OpenSSL may add none. The limit allows all
/// messages of a handshake step with long certificate chains.
constexpr std::size_t kUnsentMax = 256U << 10;
constexpr std::size_t kUnsentKept = 32U << 10;  // a larger buffer is freed when empty
constexpr std::size_t kHandshakeBytesMax = 128U << 10;
constexpr std::size_t kReadBytesMax = 64U << 10;  // bytes of ciphertext in one call

struct FreeSsl {
  void operator()(SSL* ssl) const { ::SSL_free(ssl); }
};

class TlsStream final : public Stream {
 public:
  enum class Side { server, client };

  TlsStream(Fd fd, StreamPeer peer, SSL_CTX* context, Side side);
  /// Sets the name that the server's certificate must have.
  void expect(const std::string& server);

  StreamOutcome advance() override;
  Transfer read(ByteSpan into) override;
  Transfer write(std::span<const ByteView> chunks) override;
  StreamOutcome flush() override;
  StreamOutcome finish_writing() override;
  bool has_handshake() const override { return true; }
  short waits_for() const override {
    if (!connected_) return POLLOUT;
    return has_unsent() ? POLLIN | POLLOUT : POLLIN;
  }
  bool has_unsent() const override { return sent_ < unsent_.size(); }

 private:
  static BIO_METHOD* bio_method();
  static int bio_read(BIO* bio, char* into, std::size_t size, std::size_t* got);
  static int bio_write(BIO* bio, const char* bytes, std::size_t size, std::size_t* put);
  static long bio_control(BIO* bio, int command, long, void*);

  StreamOutcome finish_handshake();
  StreamOutcome fail_tls(int code);
  StreamOutcome fail_later(IoError error);
  StreamOutcome lose(const char* doing, int number);
  bool seal(ByteView bytes);

  std::unique_ptr<SSL, FreeSsl> ssl_;
  std::vector<std::byte> unsent_;
  std::size_t sent_ = 0;                         ///< bytes at the front of unsent_ already sent
  std::size_t input_left_ = kHandshakeBytesMax;  ///< bytes that OpenSSL may still receive
  int input_error_ = 0;
  bool connected_ = true;
  bool open_ = false;
  bool input_over_ = false;
  bool broken_ = false;       ///< set by a failure; the next call reports the failure
  bool unreachable_ = false;  ///< nothing can be sent any more
  bool finishing_ = false;
  bool shut_ = false;
};

TlsStream::TlsStream(Fd fd, StreamPeer peer, SSL_CTX* context, Side side)
    : Stream(std::move(fd), std::move(peer)), ssl_(::SSL_new(context)) {
  BIO* bio = ::BIO_new(bio_method());
  PEAL_ASSERT(ssl_ != nullptr && bio != nullptr);  // fails only without memory
  ::BIO_set_data(bio, this);
  ::BIO_set_init(bio, 1);
  ::SSL_set_bio(ssl_.get(), bio, bio);
  if (side == Side::server) {
    ::SSL_set_accept_state(ssl_.get());
  } else {
    connected_ = false;
    ::SSL_set_connect_state(ssl_.get());
  }
}

void TlsStream::expect(const std::string& server) {
  X509_VERIFY_PARAM* rules = ::SSL_get0_param(ssl_.get());
  ::X509_VERIFY_PARAM_set_hostflags(
      rules, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT);
  std::array<unsigned char, 16> address{};
  const bool is_address = ::inet_pton(AF_INET, server.c_str(), address.data()) == 1 ||
                          ::inet_pton(AF_INET6, server.c_str(), address.data()) == 1;
  bool set = false;
  if (is_address) {
    set = ::X509_VERIFY_PARAM_set1_ip_asc(rules, server.c_str()) == 1;
  } else {
    // Does the same as the macro SSL_set_tlsext_host_name(), without the casts of the macro.
    // OpenSSL only reads the name.
    set = ::X509_VERIFY_PARAM_set1_host(rules, server.data(), server.size()) == 1 &&
          ::SSL_ctrl(ssl_.get(), SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name,
                     const_cast<char*>(server.c_str())) == 1;
  }
  // Without a name to compare, a trusted certificate for any name would be accepted.
  if (server.empty() || !set) {
    fail_later({Errc::invalid_option, "\"" + server + "\" is no name that a server can have"});
  }
}

StreamOutcome TlsStream::advance() {
  if (broken_) return StreamOutcome::broken;
  if (open_) return StreamOutcome::ok;
  if (!connected_) {
    const StreamOutcome outcome = finish_connecting();
    if (outcome != StreamOutcome::ok) return outcome;
    connected_ = true;
  }
  ::ERR_clear_error();
  const int result = ::SSL_do_handshake(ssl_.get());
  const int code = result == 1 ? SSL_ERROR_NONE : ::SSL_get_error(ssl_.get(), result);
  if (result == 1) return finish_handshake();
  if (code == SSL_ERROR_WANT_READ && input_left_ == 0) {
    return fail_later({Errc::closed, "its handshake is longer than " +
                                         std::to_string(kHandshakeBytesMax) + " bytes"});
  }
  if (code != SSL_ERROR_WANT_READ) return fail_tls(code);
  return flush() == StreamOutcome::broken ? StreamOutcome::broken : StreamOutcome::blocked;
}

StreamOutcome TlsStream::finish_handshake() {
  const unsigned char* protocol = nullptr;
  unsigned int size = 0;
  ::SSL_get0_alpn_selected(ssl_.get(), &protocol, &size);
  if (std::string_view(reinterpret_cast<const char*>(protocol), size) != kTlsProtocol) {
    return fail_later({Errc::not_permitted,
                       "it does not speak peal/1 inside TLS (ALPN): is it a "
                       "client or daemon of Peal?"});
  }
  const CertificatePtr certificate(::SSL_get1_peer_certificate(ssl_.get()));
  if (certificate != nullptr) {
    auto name = certificate_name(certificate.get());
    if (!name) {
      return fail_later({Errc::not_permitted,
                         "its certificate has no name that rules could know it by: accepted is a "
                         "URI, DNS name or single common name of 1 to 256 printable characters"});
    }
    peer_.kind = StreamPeer::Kind::certificate;
    peer_.text += " (" + *name + ")";
    peer_.name = std::move(*name);
  }
  open_ = true;
  return flush() == StreamOutcome::broken ? StreamOutcome::broken : StreamOutcome::ok;
}

Transfer TlsStream::read(ByteSpan into) {
  // Even if nothing can be sent any more, the bytes that arrived before can be read.
  if (broken_ && !(unreachable_ && open_)) return {0, StreamOutcome::broken};
  PEAL_ASSERT(open_);
  input_left_ = kReadBytesMax;
  std::size_t total = 0;
  while (total < into.size()) {
    std::size_t got = 0;
    ::ERR_clear_error();
    const int result = ::SSL_read_ex(ssl_.get(), into.data() + total, into.size() - total, &got);
    if (result == 1) {
      total += got;
      continue;
    }
    const int code = ::SSL_get_error(ssl_.get(), result);
    if (code == SSL_ERROR_WANT_READ) {
      if (broken_ && input_left_ > 0)
        return {total, total > 0 ? StreamOutcome::ok : StreamOutcome::broken};
      // If input_left_ is 0, this call reached its limit, and there may be more bytes.
      return {total, input_left_ == 0 ? StreamOutcome::ok : StreamOutcome::blocked};
    }
    if (code == SSL_ERROR_ZERO_RETURN) {
      return {total, total > 0 ? StreamOutcome::ok : StreamOutcome::end};
    }
    fail_tls(code);
    return {total, total > 0 ? StreamOutcome::ok : StreamOutcome::broken};
  }
  return {total, StreamOutcome::ok};
}

Transfer TlsStream::write(std::span<const ByteView> chunks) {
  if (broken_) return {0, StreamOutcome::broken};
  PEAL_ASSERT(open_ && !finishing_);
  chunks = chunks.first(std::min(chunks.size(), kChunksMax));
  std::array<std::byte, kRecordBytes> record;
  std::size_t filled = 0;
  std::size_t taken = 0;
  for (ByteView chunk : chunks) {
    while (!chunk.empty() && unsent_.size() - sent_ < kUnsentEnough) {
      const std::size_t part = std::min(chunk.size(), record.size() - filled);
      std::memcpy(record.data() + filled, chunk.data(), part);
      chunk = chunk.subspan(part);
      filled += part;
      taken += part;
      if (filled < record.size()) continue;
      if (!seal(record)) return {0, StreamOutcome::broken};
      filled = 0;
    }
    if (!chunk.empty()) break;
  }
  if (filled > 0 && !seal(ByteView(record).first(filled))) return {0, StreamOutcome::broken};
  return {taken, flush()};
}

/// Appends `bytes` to unsent_, as one TLS record.
bool TlsStream::seal(ByteView bytes) {
  std::size_t put = 0;
  ::ERR_clear_error();
  const int result = ::SSL_write_ex(ssl_.get(), bytes.data(), bytes.size(), &put);
  if (result == 1 && put == bytes.size()) return true;
  fail_tls(::SSL_get_error(ssl_.get(), result));
  return false;
}

/// Also sends bytes after a failure of TLS, so that the alert is sent.
StreamOutcome TlsStream::flush() {
  if (unreachable_) return StreamOutcome::broken;
  if (has_unsent()) {
    const ssize_t put =
        ::send(fd(), unsent_.data() + sent_, unsent_.size() - sent_, MSG_DONTWAIT | MSG_NOSIGNAL);
    if (put < 0 && errno != EAGAIN && errno != EINTR) return lose("write", errno);
    sent_ += static_cast<std::size_t>(std::max<ssize_t>(put, 0));
    if (has_unsent()) {
      // If the peer always leaves some bytes unread, the buffer must not grow without limit.
      if (sent_ > kUnsentEnough) {
        unsent_.erase(unsent_.begin(), unsent_.begin() + static_cast<std::ptrdiff_t>(sent_));
        sent_ = 0;
      }
      return StreamOutcome::blocked;
    }
    sent_ = 0;
    unsent_.clear();
    if (unsent_.capacity() > kUnsentKept) unsent_ = {};
  }
  if (finishing_ && !std::exchange(shut_, true) && ::shutdown(fd(), SHUT_WR) != 0) {
    return lose("end of writing", errno);
  }
  return StreamOutcome::ok;
}

StreamOutcome TlsStream::finish_writing() {
  if (open_ && !broken_ && !finishing_) {
    ::ERR_clear_error();
    ignore(::SSL_shutdown(ssl_.get()), "only says whether the other side did so too");
  }
  finishing_ = true;
  return flush();
}

StreamOutcome TlsStream::lose(const char* doing, int number) {
  unreachable_ = true;
  return fail_later(lost(doing, number));
}

StreamOutcome TlsStream::fail_tls(int code) {
  const HungUp hung_up = !input_over_ ? HungUp::no : open_ ? HungUp::later : HungUp::in_handshake;
  IoError error =
      input_error_ != 0 ? lost("read", input_error_) : tls_failure(ssl_.get(), code, hung_up);
  ::ERR_clear_error();
  fail_later(std::move(error));
  ignore(flush(), "an alert, which says to the other side what this says here");
  return StreamOutcome::broken;
}

StreamOutcome TlsStream::fail_later(IoError error) {
  if (!std::exchange(broken_, true)) error_ = std::move(error);
  return StreamOutcome::broken;
}

// ---- The BIO through which OpenSSL reads and writes
// ---------------------------------------------------------

BIO_METHOD* TlsStream::bio_method() {
  static BIO_METHOD* const method = [] {
    BIO_METHOD* made = ::BIO_meth_new(::BIO_get_new_index() | BIO_TYPE_SOURCE_SINK, "peal");
    PEAL_ASSERT(made != nullptr);
    ::BIO_meth_set_read_ex(made, bio_read);
    ::BIO_meth_set_write_ex(made, bio_write);
    ::BIO_meth_set_ctrl(made, bio_control);
    return made;
  }();
  return method;
}

int TlsStream::bio_read(BIO* bio, char* into, std::size_t size, std::size_t* got) {
  auto& stream = *static_cast<TlsStream*>(::BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  *got = 0;
  const std::size_t wanted = std::min(size, stream.input_left_);
  const ssize_t count = wanted == 0 ? 0 : ::recv(stream.fd(), into, wanted, MSG_DONTWAIT);
  if (wanted == 0 || (count < 0 && (errno == EAGAIN || errno == EINTR))) {
    BIO_set_retry_read(bio);
    return 0;
  }
  if (count < 0) stream.input_error_ = errno;
  if (count == 0) stream.input_over_ = true;
  if (count <= 0) return 0;
  *got = static_cast<std::size_t>(count);
  stream.input_left_ -= *got;
  return 1;
}

int TlsStream::bio_write(BIO* bio, const char* bytes, std::size_t size, std::size_t* put) {
  auto& stream = *static_cast<TlsStream*>(::BIO_get_data(bio));
  BIO_clear_retry_flags(bio);
  *put = 0;
  if (stream.unsent_.size() - stream.sent_ > kUnsentMax) return 0;  // the peer does not read
  const auto* begin = reinterpret_cast<const std::byte*>(bytes);
  stream.unsent_.insert(stream.unsent_.end(), begin, begin + size);
  *put = size;
  return 1;
}

long TlsStream::bio_control(BIO* bio, int command, long, void*) {
  if (command == BIO_CTRL_EOF) return static_cast<TlsStream*>(::BIO_get_data(bio))->input_over_;
  return command == BIO_CTRL_FLUSH ? 1 : 0;
}

}  // namespace

std::unique_ptr<Stream> make_tls_server_stream(Fd fd, StreamPeer peer,
                                               const std::shared_ptr<const TlsContext>& context) {
  return std::make_unique<TlsStream>(std::move(fd), std::move(peer), context->get(),
                                     TlsStream::Side::server);
}

std::unique_ptr<Stream> make_tls_client_stream(Fd fd, StreamPeer peer,
                                               const std::shared_ptr<const TlsContext>& context,
                                               const std::string& server) {
  auto stream = std::make_unique<TlsStream>(std::move(fd), std::move(peer), context->get(),
                                            TlsStream::Side::client);
  stream->expect(server);
  return stream;
}

}  // namespace peal::io
