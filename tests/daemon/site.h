// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <gtest/gtest.h>

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "daemon/daemon.h"
#include "io/stream.h"
#include "wire/client.h"

// Daemons that run in threads of this process, and clients that send any bytes that a test chooses.

namespace peal::daemon::test {

/// A new folder. The destructor removes it.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

/// Options of node `self` of `count` nodes, which permit everything to every user. The timeouts are
/// long enough for a machine that runs many tests at once.
Options options_of(const Folder& folder, std::uint32_t self, std::uint32_t count);

/// Ignores all calls.
class NoOwner final : public Owner {
  void on_view(Instant, const ViewNotice&) override {}
  void on_message(std::string_view, const node::Message&) override {}
  void on_warning(Instant, const std::string&) override {}
  void on_address(Instant, std::string_view, const io::AddressBook::Change&) override {}
  void on_nodes(Instant, const std::vector<std::string>&) override {}
  void on_refused(Instant, const std::string&, const io::IoError&) override {}
  void on_end(bool, const std::string&) override {}
  session::Answer on_ask(std::string_view, bool) override { return {}; }
};

/// A daemon, and the thread in which it runs.
class Site final : private Owner {
 public:
  explicit Site(const Options& options);
  ~Site() override;
  void stop();  ///< stops the daemon and waits for its end
  /// Makes the daemon take new options, on the daemon's thread. `once_connected` runs on the
  /// calling thread between the connection to the daemon and the request. Returns false if the
  /// daemon refuses the options.
  bool reconfigure(const Options& options, const std::function<void()>& once_connected = {});
  /// The reason why the daemon refused the newest reconfigure(); empty if the daemon accepted.
  const std::string& refused() const { return refused_; }
  /// Waits until the daemon's active list has exactly these nodes.
  void wait_nodes(const std::string& nodes);
  /// Waits until this daemon knows `at` as the address of `node`.
  void wait_address(const std::string& node, const std::string& at);
  const std::string& socket() const { return socket_; }
  std::string end() const;  ///< the reason in on_end()
  bool ended_well() const;

 private:
  void on_view(Instant, const ViewNotice&) override {}
  void on_message(std::string_view, const node::Message&) override {}
  void on_warning(Instant, const std::string&) override {}
  void on_address(Instant, std::string_view node, const io::AddressBook::Change& change) override;
  void on_nodes(Instant now, const std::vector<std::string>& nodes) override;
  void on_refused(Instant, const std::string&, const io::IoError&) override {}
  void on_end(bool on_request, const std::string& reason) override;
  session::Answer on_ask(std::string_view what, bool admin) override;

  std::string socket_;
  std::string refused_;
  std::unique_ptr<Daemon> daemon_;
  std::thread thread_;
  mutable std::mutex mutex_;
  std::condition_variable moved_;
  std::map<std::string, std::string> addresses_;  ///< by node: the newest address found
  std::string nodes_;                             ///< the active nodes in the last on_nodes()
  std::optional<Options> new_options_;
  std::string end_;
  bool ended_well_ = false;
};

/// A received record with its own copy of the bytes.
struct Got {
  wire::RecordKind kind{};
  std::vector<std::byte> body;

  /// Decodes the body as a T. Fails the test if the body is not a valid T.
  template <class T>
  T as() const {
    T out;
    EXPECT_EQ(decode(ByteView(body), out), wire::Drop::none);
    return out;
  }
};

/// One connection to a daemon. Each call waits up to a minute, and then fails the test.
class Client {
 public:
  /// Connects, and sends nothing yet.
  explicit Client(const std::string& socket);
  /// Uses a stream that is connected or still connecting. With TLS, first completes the handshake.
  explicit Client(std::unique_ptr<io::Stream> stream);
  /// Connects and sends hello. The answer is in welcome().
  Client(const std::string& socket, const wire::Hello& hello);

  template <class T>
  void say(const T& record) {
    std::vector<std::byte> bytes;
    wire::append(bytes, record);
    write(bytes);
  }
  void say(wire::RecordKind kind);
  void say(wire::RecordKind kind, const wire::Acked& record);
  /// Writes the bytes unchanged. Does not fail the test if the daemon hung up.
  void write(ByteView bytes);
  /// Ends this connection at once.
  void cut() { stream_.reset(); }
  /// Sends hello. The answer is in welcome().
  void greet(const wire::Hello& hello);
  /// The error of the stream; empty if the stream is not broken.
  std::string broken() const { return broken_; }

  /// The next record, or nothing if the daemon hung up.
  std::optional<Got> next();
  /// The next record of this kind, or a `closing` that comes before it. Skips other records.
  std::optional<Got> until(wire::RecordKind kind);
  /// Joins the group, and waits for the view that this join caused.
  void join(std::string_view group, const wire::SlowLimits& limits = {});
  /// Sends `text` to one group, with the next message number.
  void send(std::string_view group, std::string_view text);
  /// The text of the next message.
  std::string message();
  /// Waits for a `closing`. Returns its code and its text.
  std::pair<wire::ClientCode, std::string> closing();

  bool is_welcome() const { return welcome_.has_value(); }
  wire::Welcome welcome() const { return welcome_->as<wire::Welcome>(); }
  std::uint64_t sent() const { return sent_; }

 private:
  bool wait(short events);

  std::unique_ptr<io::Stream> stream_;
  std::string broken_;
  std::vector<std::byte> input_;
  std::optional<Got> welcome_;
  std::uint64_t sent_ = 0;
  std::uint32_t requests_ = 0;
};

wire::Hello hello_as(std::string_view name);

}  // namespace peal::daemon::test
