// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "peal/events.h"
#include "peal/types.h"
#include "peal/version.h"

// A client of a daemon (`peal node`): it joins groups by name, sends to one or several of them, and
// is told everything in one order that is the same for all.
//
//   auto client = peal::Client::connect({});
//   client->join("chat");
//   client->send({"chat"}, "hello");
//   while (auto event = client->wait(peal::kForever)) { … }
//
// The application's threads read and write while they are inside these calls. Besides, a client has
// one thread of its own, which does so when they are elsewhere, answers the daemon and comes back
// after the connection broke, whatever the application does meanwhile.

namespace peal {
/// See types.h.
inline namespace v0 {

/// Where a client finds its daemon, and what it wants of it.
struct ClientOptions {
  /// "/run/peal/peal.sock", or "unix:" and a path: a Unix socket. "tls://host:port": TLS 1.3 over
  /// TCP; "tls://[fd00::1]:4810" for IPv6.
  std::string daemon = "/run/peal/peal.sock";
  std::string name;  ///< wished for, 0 to 32 bytes; empty: the daemon makes one
  std::string
      token;  ///< tells the daemon who this is, where a certificate does not; 0 to 256 bytes

  std::string tls_ca;           ///< PEM file whose certificates may sign the daemon's; empty: the
                                ///< system's
  std::string tls_certificate;  ///< PEM file that tells the daemon who this is; may be empty
  std::string tls_key;          ///< PEM file with the certificate's key; nobody else may read it
  std::string tls_name;         ///< the daemon's name in its certificate; empty: the host

  /// How long one attempt to connect may take, from the lookup of a host name up to the daemon's
  /// welcome. The addresses of the name share it.
  std::chrono::milliseconds connect_timeout = std::chrono::seconds(5);
  /// How long the session may outlive a broken connection; the daemon may grant less. 0: not at
  /// all.
  std::chrono::milliseconds keep = std::chrono::seconds(30);
  /// Bytes of events that may wait to be read here, 1 to 2^40. When there are more, the client
  /// reads nothing more from the daemon, whose rules for slow clients then apply.
  std::uint64_t receive_bytes_max = 4ULL << 20;
  /// How long wait() polls before it sleeps, at most; 0 to 1 s, 0: not at all. It does so only
  /// while most waits are no longer than that. It saves the time to wake up, some 10 to 100 us, and
  /// keeps a processor busy meanwhile, though others that want it come first.
  std::chrono::microseconds spin{};
};

/// What happens when this client does not take the messages of one group fast enough. 0: what the
/// daemon's configuration says.
struct JoinOptions {
  SlowPolicy policy = SlowPolicy::normal;  ///< at the first limit that is reached
  std::uint64_t memory_bytes_max = 0;      ///< that wait in the daemon's memory
  std::uint64_t disk_bytes_max = 0;        ///< and on its disk; `spill` only
  std::chrono::milliseconds age_max{};     ///< of the oldest that waits
};

/// What a sender says about a message besides its bytes.
struct SendOptions {
  Service service = Service::agreed;  ///< which promise
  std::uint16_t type = 0;             ///< the application's own number; receivers get it
  bool self_discard = false;          ///< not to this client, even if it is in a target
};

/// How a client is doing.
struct ClientStatus {
  std::string name;                   ///< private name: "#name#node"
  std::string node;                   ///< the daemon's
  std::string cluster;                ///< the daemon's
  bool connected = false;             ///< at this moment
  bool ended = false;                 ///< Ended comes, or has come
  std::uint64_t sent{};               ///< number of the last message that was taken
  std::uint64_t settled{};            ///< up to which number all have a place, or were refused
  std::uint64_t unread_events{};      ///< that wait to be read by next()
  std::uint64_t unread_bytes{};       ///< about
  std::uint32_t message_bytes_max{};  ///< of one message, as the daemon says
};

/// One client of a daemon.
/// Threads: everything from any thread, also at the same time; but next() and wait() from one
/// thread at a time, as what they return is valid until the next one. close() ends what waits in
/// other threads. One that was moved from can only be destroyed or assigned to.
/// fork(): a client is its maker's. In the child its descriptors are closed, it can be destroyed,
/// which the parent's session does not notice, and all else is refused (closed): make a new one.
class Client {
 public:
  /// Connects once, and starts a session.
  ///
  /// @return  the client; or invalid_option, unreachable, untrusted (the daemon's certificate is
  /// for
  ///          another name, expired, or signed by nobody we trust), refused (with the daemon's
  ///          reason), timed_out, not_permitted, system, wrong_version.
  /// Blocks: up to `options.connect_timeout`. `header` is for the compiler to fill in: the version
  /// of the headers that the application was compiled with.
  static Result<Client> connect(const ClientOptions& options, std::uint32_t header = PEAL_VERSION);

  Client(Client&&) noexcept;
  Client& operator=(Client&&) noexcept;
  /// As close() without patience, if it has not been called yet: what was sent and is not settled
  /// may be lost.
  ~Client();

  /// Becomes a member of a group. From its place in the order on, which is told by a GroupView with
  /// this client in it, the group's messages come.
  ///
  /// @param group  1 to 128 bytes, not beginning with '#'.
  /// @return  done; or refused (member_already, not_permitted, bad_name,
  ///          too_many), timed_out (it may still come about), closed.
  /// Blocks: up to `patience`. The answer comes behind events: if this thread is the only one that
  /// reads them, and more than receive_bytes_max wait, it does not come.
  Result<Done> join(std::string_view group, const JoinOptions& options = {},
                    std::chrono::milliseconds patience = std::chrono::seconds(10));
  /// Ends the membership; its last event is Left. May overtake messages that are not settled:
  /// flush() before, to read them. Otherwise as join(); refused: no_member.
  Result<Done> leave(std::string_view group,
                     std::chrono::milliseconds patience = std::chrono::seconds(10));

  /// Queues a message to groups and private names, which are told it at the same place of the
  /// order.
  ///
  /// @param targets  1 to 64 names, of 1 to 128 bytes each, in any order.
  /// @param payload  0 to ClientStatus::message_bytes_max bytes; copied before return.
  /// @return  a ticket: it was taken, and flush() or ClientStatus::settled say when it has its
  /// place.
  ///          Or would_block (as many messages are unsettled as the daemon allows: wait for
  ///          room_fd() or use send_for()), too_large, invalid_option (the targets), closed.
  /// Blocks: never for long.
  Result<Ticket> send(std::span<const std::string_view> targets, std::span<const std::byte> payload,
                      const SendOptions& options = {});
  Result<Ticket> send(std::initializer_list<std::string_view> targets, std::string_view text,
                      const SendOptions& options = {});
  /// The same, waiting up to `patience` for room. Acknowledgements come behind events: if this
  /// thread is the only one that reads them, and more than receive_bytes_max wait, there is no room
  /// ever.
  Result<Ticket> send_for(std::span<const std::string_view> targets,
                          std::span<const std::byte> payload, std::chrono::milliseconds patience,
                          const SendOptions& options = {});

  /// Waits until everything that was sent before is settled: it has its place in the order and
  /// every daemon of the view has it, or Refused was told.
  ///
  /// @return  done; or timed_out, closed (Ended says what is
  ///          unsettled).
  /// Blocks: up to `patience`; as send_for().
  Result<Done> flush(std::chrono::milliseconds patience = kForever);

  /// The next event, or nothing if there is none at the moment. After Ended there is never one.
  /// Blocks: never.
  std::optional<ClientEvent> next();
  /// The same, waiting up to `patience` for an event.
  std::optional<ClientEvent> wait(std::chrono::milliseconds patience);
  /// The same, up to a point in time.
  std::optional<ClientEvent> wait_until(std::chrono::steady_clock::time_point deadline);

  /// A descriptor for poll(2) and the like: readable when next() has an event, at times also when
  /// all that came is no event. Call next() until it has nothing before you wait for it. Do not
  /// read it. Valid as long as the client.
  int fd() const;
  /// The same for sending: readable when there is room again after send() said would_block.
  int room_fd() const;

  /// Asks the daemon: "status", or another word that it knows.
  ///
  /// @return  its answer, some lines of text; or refused, timed_out, closed.
  /// Blocks: up to `patience`; as join().
  Result<std::string> ask(std::string_view what,
                          std::chrono::milliseconds patience = std::chrono::seconds(10));

  /// Takes no more messages, waits up to `patience` until all is settled, says goodbye and stops
  /// the thread. What was told can still be read, and Ended behind it. Blocks: up to `patience`,
  /// and some milliseconds.
  void close(std::chrono::milliseconds patience = std::chrono::seconds(1));

  /// How the client is doing. Blocks: never for long.
  ClientStatus status() const;

 private:
  class Core;
  explicit Client(std::unique_ptr<Core> core);
  std::unique_ptr<Core> core_;
};

}  // namespace v0
}  // namespace peal
