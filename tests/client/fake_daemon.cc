// SPDX-License-Identifier: Apache-2.0
#include "fake_daemon.h"

#include <gtest/gtest.h>
#include <netinet/in.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstring>
#include <utility>

#include "io/fd.h"
#include "io/stream.h"

namespace peal::client::test {

bool readable(int fd, int patience_ms) {
  pollfd it{fd, POLLIN, 0};
  return ::poll(&it, 1, patience_ms) == 1;
}
namespace {

io::Fd listen_unix(const std::string& path) {
  io::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  path.copy(address.sun_path, sizeof address.sun_path - 1);
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0) << path;
  EXPECT_EQ(::listen(fd.get(), 16), 0);
  return fd;
}

io::Fd listen_tcp(int& port) {
  io::Fd fd(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  EXPECT_EQ(::bind(fd.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  EXPECT_EQ(::listen(fd.get(), 16), 0);
  EXPECT_EQ(::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&address), &size), 0);
  port = ntohs(address.sin_port);
  return fd;
}

}  // namespace

FakeDaemon::FakeDaemon()
    : wrap_([](io::Fd fd) { return io::make_plain_stream(std::move(fd), {}); }) {
  std::string pattern = testing::TempDir() + "peal-client-XXXXXX";
  EXPECT_NE(::mkdtemp(pattern.data()), nullptr);
  folder_ = pattern;
  path_ = folder_ + "/socket";
  start(listen_unix(path_));
}

FakeDaemon::FakeDaemon(Wrap wrap) : wrap_(std::move(wrap)) { start(listen_tcp(port_)); }

void FakeDaemon::start(io::Fd listener) {
  listener_ = std::move(listener);
  buffer_.resize(65'536);
  thread_ = std::thread([this] { run(); });
}

FakeDaemon::~FakeDaemon() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  wake_.set();
  thread_.join();
  EXPECT_EQ(model_.complaints, std::vector<std::string>{});
  if (!path_.empty()) ::unlink(path_.c_str());
  if (!folder_.empty()) ::rmdir(folder_.c_str());
}

v0::ClientOptions FakeDaemon::options() const {
  v0::ClientOptions options;
  options.daemon = path_;
  // Long timeouts, because a machine that runs many tests at once is slow.
  options.connect_timeout = std::chrono::seconds(60);
  options.keep = std::chrono::seconds(60);
  return options;
}

void FakeDaemon::with(const std::function<void(ModelDaemon&)>& what) {
  const std::lock_guard lock(mutex_);
  what(model_);
  wake_.set();
}

void FakeDaemon::wait_for(const std::function<bool(ModelDaemon&)>& condition) {
  std::unique_lock lock(mutex_);
  changed_.wait(lock, [&] { return condition(model_); });
}

void FakeDaemon::share(int fd) {
  const std::lock_guard lock(mutex_);
  shared_fd_ = fd;
}

void FakeDaemon::cut() {
  const std::lock_guard lock(mutex_);
  drop();
  wake_.set();
}

void FakeDaemon::hang_up() {
  const std::lock_guard lock(mutex_);
  say();
  EXPECT_TRUE(unsaid_.empty() && !stream_->has_unsent())
      << "more than the connection takes at once";
  drop();
  wake_.set();
}

void FakeDaemon::go_away() {
  const std::lock_guard lock(mutex_);
  drop();
  listener_.reset();
  ::unlink(path_.c_str());
  wake_.set();
}

void FakeDaemon::come_back() {
  const std::lock_guard lock(mutex_);
  listener_ = listen_unix(path_);
  wake_.set();
}

void FakeDaemon::drop() {
  stream_.reset();
  unsaid_.clear();
  model_.connect();
}

void FakeDaemon::run() {
  std::unique_lock lock(mutex_);
  while (!stop_) {
    short events = POLLIN;
    if (stream_ != nullptr && !ready_) events = stream_->waits_for();
    if (!unsaid_.empty()) events = static_cast<short>(events | POLLOUT);
    std::array<pollfd, 3> fds{pollfd{wake_.fd(), POLLIN, 0}, pollfd{listener_.get(), POLLIN, 0},
                              pollfd{stream_ == nullptr ? -1 : stream_->fd(), events, 0}};
    const io::Stream* polled = stream_.get();
    lock.unlock();
    ::poll(fds.data(), fds.size(), -1);
    lock.lock();
    if (fds[0].revents != 0) wake_.clear();
    if (fds[2].revents != 0 && stream_.get() == polled) serve(fds[2].revents);
    if (listener_ && fds[1].revents != 0) {
      io::Fd fd(::accept4(listener_.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK));
      if (fd) {
        drop();
        stream_ = wrap_(std::move(fd));
        if (shared_fd_ >= 0) stream_->attach(shared_fd_);
        ready_ = false;
        serve(0);
      }
    }
    if (stream_ != nullptr) say();
    changed_.notify_all();
  }
  stream_.reset();
}

void FakeDaemon::serve(short) {
  if (!ready_) {
    const io::StreamOutcome outcome = stream_->advance();
    if (outcome == io::StreamOutcome::blocked) return;
    if (outcome != io::StreamOutcome::ok) return drop();
    ready_ = true;
  }
  while (true) {
    const io::Transfer moved = stream_->read(buffer_);
    model_.received(ByteView(buffer_).first(moved.bytes));
    if (moved.outcome == io::StreamOutcome::blocked) return;
    if (moved.outcome != io::StreamOutcome::ok) return drop();
  }
}

void FakeDaemon::say() {
  if (!ready_) return;
  const std::vector<std::byte> more = model_.said();
  unsaid_.insert(unsaid_.end(), more.begin(), more.end());
  while (!unsaid_.empty()) {
    const std::array<ByteView, 1> chunks{ByteView(unsaid_)};
    const io::Transfer moved = stream_->write(chunks);
    unsaid_.erase(unsaid_.begin(), unsaid_.begin() + static_cast<std::ptrdiff_t>(moved.bytes));
    if (moved.outcome == io::StreamOutcome::blocked) return;
    if (moved.outcome != io::StreamOutcome::ok) return drop();
  }
  if (stream_->has_unsent()) ignore(stream_->flush(), "what is left goes with the next");
}

}  // namespace peal::client::test
