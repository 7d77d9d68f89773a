// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "client/dialer.h"
#include "io/fd.h"
#include "io/stream.h"
#include "model_daemon.h"

namespace peal::client::test {

/// Whether poll() reports `fd` as readable within `patience_ms`; -1 waits for ever.
bool readable(int fd, int patience_ms = 0);

/// A ModelDaemon that clients reach over a Unix socket or over TLS. It has its own thread.
class FakeDaemon {
 public:
  /// Makes the stream of an accepted connection. The default makes a plain stream.
  using Wrap = std::function<std::unique_ptr<io::Stream>(io::Fd)>;

  FakeDaemon();
  /// Listens at port() of the loopback interface.
  explicit FakeDaemon(Wrap wrap);
  ~FakeDaemon();
  FakeDaemon(const FakeDaemon&) = delete;
  FakeDaemon& operator=(const FakeDaemon&) = delete;

  const std::string& path() const { return path_; }
  int port() const { return port_; }
  /// Options with which a client connects to this daemon.
  v0::ClientOptions options() const;

  /// Changes or reads the model, with exclusive access.
  void with(const std::function<void(ModelDaemon&)>& what);
  /// Waits until the condition holds. The test's time limit ends a wait that takes too long.
  void wait_for(const std::function<bool(ModelDaemon&)>& condition);
  /// From now on the daemon passes `fd` to the client with the first byte of each connection.
  void share(int fd);
  /// Ends the connection, if there is one.
  void cut();
  /// Sends all pending output, and then ends the connection.
  void hang_up();
  /// Ends the connection, and accepts no connection until come_back().
  void go_away();
  void come_back();

 private:
  void start(io::Fd listener);
  void run();
  void serve(short events);
  void say();
  void drop();

  std::string folder_;
  std::string path_;
  int port_ = 0;
  Wrap wrap_;
  std::thread thread_;
  Signal wake_;

  std::mutex mutex_;
  std::condition_variable changed_;
  ModelDaemon model_;
  io::Fd listener_;
  std::unique_ptr<io::Stream> stream_;
  bool ready_ = false;
  std::vector<std::byte> unsaid_;
  std::vector<std::byte> buffer_;
  int shared_fd_ = -1;
  bool stop_ = false;
};

}  // namespace peal::client::test
