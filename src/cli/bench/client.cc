// SPDX-License-Identifier: Apache-2.0
#include "cli/bench/client.h"

#include <sys/prctl.h>
#include <time.h>

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "cli/bench/daemon.h"
#include "cli/bench/worker.h"
#include "cli/commands.h"
#include "peal/client.h"

namespace peal::cli {
namespace {

constexpr const char* kGroup = "bench";
constexpr std::int64_t kDaemonStartNs = 10 * kSecondNs;
constexpr int kAttemptMs = 10;  // between two attempts to connect
constexpr std::size_t kReceiveBytesMax = 64U << 20;
// How long the client polls before it sleeps: as long as a member that runs on the application's
// thread.
constexpr auto kSpin = std::chrono::milliseconds(1);

/// A Link (see worker.h) to a client of a daemon.
class ClientLink {
 public:
  ClientLink(Client& client, const BenchDaemon& daemon)
      : client_(client), daemon_(daemon), own_name_(client.status().name) {}

  BenchSent submit(ByteView payload, Service service) {
    const std::string_view target = kGroup;
    SendOptions options;
    options.service = service;
    const auto ticket = client_.send(std::span(&target, 1), payload, options);
    if (ticket) return BenchSent::taken;
    return ticket.error().code == ErrorCode::would_block ? BenchSent::full : BenchSent::refused;
  }
  template <class W>
  bool take(W& worker) {
    const auto event = client_.next();
    return event && tell(worker, *event);
  }
  template <class W>
  void wait(W& worker, std::int64_t until_ns) {
    const auto event = client_.wait_until(steady_time(until_ns));
    worker.on_woken();
    if (event) tell(worker, *event);
  }
  void begin(std::int64_t, std::int64_t) {}
  void poll(std::int64_t) {}
  void finish(BenchResult&) {}
  static std::uint64_t placed() { return 0; }
  double cpu_seconds() const { return cli::cpu_seconds() + daemon_.cpu_seconds(); }
  std::string waits_for() const { return {}; }

 private:
  template <class W>
  bool tell(W& worker, const ClientEvent& event) {
    if (const auto* message = std::get_if<GroupMessage>(&event)) {
      if (message->payload.size() < BenchHead::kBytes) {
        worker.on_closed("a message was delivered that nobody sent");
        return true;
      }
      const std::uint64_t number = number_of(*message);
      worker.on_message(BenchMessage{message->sender, number, message->place.position,
                                     message->payload, message->sender == own_name_});
    } else if (const auto* view = std::get_if<GroupView>(&event)) {
      worker.on_view(view->id, view->members.size());
    } else if (const auto* refused = std::get_if<Refused>(&event)) {
      worker.on_closed("the daemon refused a message: " + refused->message);
    } else if (const auto* ended = std::get_if<Ended>(&event)) {
      worker.on_closed("the client's session ended: " + ended->message);
    }
    return true;
  }
  /// The number that the sender gave to the message. The message has only the number's lowest bits;
  /// the other bits follow from the number of the sender's previous message.
  std::uint64_t number_of(const GroupMessage& message) {
    auto at = last_.find(message.sender);
    if (at == last_.end()) at = last_.emplace(std::string(message.sender), 0).first;
    const std::uint64_t mask = (std::uint64_t{1} << BenchHead::kNumberBits) - 1;
    const std::uint32_t low = BenchHead::read(message.payload.data(), 0).number;
    return at->second = ((at->second + 1) & ~mask) | low;
  }

  Client& client_;
  const BenchDaemon& daemon_;
  std::string own_name_;
  std::map<std::string, std::uint64_t, std::less<>> last_;
};

/// Connects as soon as the daemon listens.
Result<Client, std::string> connect(const BenchCommand& command, BenchDaemon& daemon) {
  ClientOptions options;
  options.daemon = daemon.socket();
  options.name = command.worker;
  options.receive_bytes_max = kReceiveBytesMax;
  options.spin = kSpin;
  const std::int64_t deadline = now_ns() + kDaemonStartNs;
  while (true) {
    auto client = Client::connect(options);
    if (client) return std::move(*client);
    if (const auto ended = daemon.ended()) return unexpected(*ended);
    if (client.error().code != ErrorCode::unreachable || now_ns() > deadline) {
      return unexpected("the daemon cannot be used: " + client.error().message);
    }
    timespec pause{0, kAttemptMs * 1'000'000};
    ::nanosleep(&pause, nullptr);
  }
}

BenchResult measure(const BenchCommand& command, const BenchPlan& plan, std::uint32_t index,
                    BenchDaemon& daemon) {
  BenchResult result;
  auto client = connect(command, daemon);
  if (!client) {
    result.problem = client.error();
    return result;
  }
  if (auto joined = client->join(kGroup); !joined) {
    result.problem = joined.error().message;
    return result;
  }
  ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  ClientLink link(*client, daemon);
  result = BenchWorker(link, plan, index).run();
  client->close();
  return result;
}

}  // namespace

int run_bench_client(const BenchCommand& command, const BenchPlan& plan, const config::File& file) {
  auto daemon = BenchDaemon::start(command.dir, command.worker);
  if (!daemon) return fail(1, "bench: " + daemon.error());
  const config::Settings& settings = file.settings;
  const auto index = static_cast<std::uint32_t>(&settings.own() - settings.nodes.data());
  const BenchResult result = measure(command, plan, index, *daemon);
  if (!write_result(command.dir, command.worker, result)) return fail(1, "bench: no result");
  wait_for_results(command.dir, settings.nodes, [](std::int64_t until_ns) {
    timespec pause{0, static_cast<long>(until_ns - now_ns())};
    if (pause.tv_nsec > 0) ::nanosleep(&pause, nullptr);
  });
  daemon->stop();
  return result.problem.empty() ? 0 : fail(1, "bench: " + command.worker + ": " + result.problem);
}

}  // namespace peal::cli
