// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <ctime>

#include "cli/bench_plan.h"
#include "cli/commands.h"
#include "cli/config.h"

// Last: see cli/inner_names.h.
#include "cli/member_config.h"

namespace peal::cli {
namespace {

constexpr std::int64_t kSecondNs = 1'000'000'000;
constexpr std::int64_t kGatherNs = 20 * kSecondNs;  // for all nodes to come into one view
constexpr std::int64_t kFinishNs = 30 * kSecondNs;  // after the end, for what is still on its way
constexpr std::int64_t kStartDelayNs = kSecondNs / 5;
constexpr int kEventsPerTurn = 1'024;
constexpr int kSendsPerTurn = 64;

/// One clock for all processes of a machine.
std::int64_t now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * kSecondNs + now.tv_nsec;
}

double cpu_seconds() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& time) {
    return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

/// The beginning of each message. `start` says when to begin and comes from one node; `done` says
/// that a node sends no more. Being in the order themselves, they need no other channel.
struct Head {
  enum Kind : std::uint32_t { data, start, done };
  std::int64_t time_ns;  ///< data: when it was due; start: when to begin
  std::uint32_t kind;
  std::uint32_t unused;
};
static_assert(sizeof(Head) == 16);

class Worker {
 public:
  Worker(v0::Member member, const BenchPlan& plan, std::uint32_t index)
      : member_(std::move(member)), plan_(plan), index_(index), payload_(plan.payload_bytes) {
    if (plan.rate > 0) interval_ns_ = static_cast<double>(kSecondNs) / plan.rate;
    // Without a rate, enough is under way to keep the ring busy, and no more: what would wait in
    // queues says nothing about the ring.
    window_ = std::clamp<std::uint64_t>((1U << 20) / plan.payload_bytes, 64, 8'192);
  }

  BenchResult run() {
    deadline_ns_ = now_ns() + kGatherNs;
    while (result_.problem.empty() && done_ < plan_.nodes) {
      const std::int64_t now = now_ns();
      if (now > deadline_ns_) {
        result_.problem = begin_ns_ == 0 ? "the nodes did not find each other in 20 s"
                                         : "messages were not delivered 30 s after the end";
        break;
      }
      note_time(now);
      const bool sent = send(now);
      if (!receive() && !sent) sleep(now);
    }
    note_time(now_ns());
    for (BenchView& view : views_) result_.views.push_back(std::move(view));
    member_.leave(std::chrono::milliseconds(500));
    return std::move(result_);
  }

 private:
  std::int64_t measure_from() const {
    return begin_ns_ + static_cast<std::int64_t>(plan_.warm_up_s * 1e9);
  }
  std::int64_t end() const {
    return measure_from() + static_cast<std::int64_t>(plan_.seconds * 1e9);
  }

  /// CPU time is read at both ends of the measured time.
  void note_time(std::int64_t now) {
    if (begin_ns_ == 0) return;
    if (cpu_from_ < 0 && now >= measure_from()) cpu_from_ = cpu_seconds();
    if (cpu_from_ >= 0 && result_.cpu_s == 0 && now >= end()) {
      result_.cpu_s = cpu_seconds() - cpu_from_;
    }
  }

  bool submit(Head::Kind kind, std::int64_t time) {
    const Head head{time, kind, 0};
    std::memcpy(payload_.data(), &head, sizeof head);
    // The last message of a node is safe: whoever delivers all of them may go, since the others
    // have everything before them.
    const bool safe = is_safe(plan_.service) || kind == Head::done;
    const auto service = safe ? v0::Service::safe : v0::Service::agreed;
    const auto ticket = member_.multicast(payload_, service);
    if (!ticket && ticket.error().code != v0::ErrorCode::would_block) {
      result_.problem = ticket.error().message;
    }
    return ticket.ok();
  }

  /// Sends what is due; true if something was sent.
  bool send(std::int64_t now) {
    if (begin_ns_ == 0) {
      if (index_ != 0 || !all_here_ || start_sent_) return false;
      return start_sent_ = submit(Head::start, now + kStartDelayNs);
    }
    bool sent = false;
    for (int i = 0; i < kSendsPerTurn && !done_sent_; ++i) {
      std::int64_t due = now;
      if (interval_ns_ > 0) {
        // Nodes take turns, as independent senders would on average.
        const double place = static_cast<double>(sent_) +
                             static_cast<double>(index_) / static_cast<double>(plan_.nodes);
        due = begin_ns_ + static_cast<std::int64_t>(place * interval_ns_);
      }
      if (due >= end()) {
        done_sent_ = submit(Head::done, now);
        return true;
      }
      if (due > now || (interval_ns_ == 0 && sent_ - own_delivered_ >= window_) ||
          !submit(Head::data, due)) {
        break;
      }
      ++sent_;
      if (due >= measure_from()) ++result_.sent;
      sent = true;
    }
    return sent;
  }

  /// Takes events; true if there were some.
  bool receive() {
    int count = 0;
    for (; count < kEventsPerTurn; ++count) {
      auto event = member_.next();
      if (!event) break;
      if (const auto* message = std::get_if<v0::Message>(&*event)) {
        on_message(*message);
      } else if (const auto* view = std::get_if<v0::View>(&*event)) {
        if (view->transitional) continue;
        views_.push_back({view->id, {}});
        all_here_ = view->members.size() == plan_.nodes;
      } else if (const auto* closed = std::get_if<v0::Closed>(&*event)) {
        result_.problem = closed->reason;
      }
    }
    return count > 0;
  }

  void on_message(const v0::Message& message) {
    Head head{};
    if (message.payload.size() < sizeof head) return;
    std::memcpy(&head, message.payload.data(), sizeof head);
    // The first bytes tell messages apart: the order is what is judged here.
    if (!views_.empty()) {
      views_.back().digest.add(message.sender, message.number, message.payload.first(sizeof head));
    }
    if (head.kind == Head::start) {
      begin_ns_ = head.time_ns;
      deadline_ns_ = end() + kFinishNs;
    } else if (head.kind == Head::done) {
      ++done_;
    } else {
      if (message.own) ++own_delivered_;
      const std::int64_t now = now_ns();
      if (now >= measure_from() && now < end()) {
        ++result_.delivered;
        result_.delivered_bytes += message.payload.size();
      }
      if (head.time_ns >= measure_from()) {
        const auto latency =
            static_cast<std::uint64_t>(std::max<std::int64_t>(0, now - head.time_ns));
        result_.latency_ns.add(latency);
        result_.latency_max_ns = std::max(result_.latency_max_ns, latency);
      }
    }
  }

  /// Until an event comes, or the next message is due.
  void sleep(std::int64_t now) {
    std::int64_t time = kSecondNs / 100;
    if (interval_ns_ > 0 && begin_ns_ != 0 && !done_sent_) {
      const double place = static_cast<double>(sent_) +
                           static_cast<double>(index_) / static_cast<double>(plan_.nodes);
      const std::int64_t due = begin_ns_ + static_cast<std::int64_t>(place * interval_ns_);
      time = std::clamp<std::int64_t>(due - now, 0, time);
    }
    pollfd wait{member_.fd(), POLLIN, 0};
    const timespec timeout{time / kSecondNs, time % kSecondNs};
    ::ppoll(&wait, 1, &timeout, nullptr);
  }

  v0::Member member_;
  const BenchPlan plan_;
  const std::uint32_t index_;
  std::vector<std::byte> payload_;
  double interval_ns_ = 0;
  std::uint64_t window_ = 0;
  std::int64_t deadline_ns_ = 0;
  std::int64_t begin_ns_ = 0;  ///< 0: not known yet
  double cpu_from_ = -1;
  bool all_here_ = false;
  bool start_sent_ = false;
  bool done_sent_ = false;
  std::uint32_t done_ = 0;
  std::uint64_t sent_ = 0;
  std::uint64_t own_delivered_ = 0;
  std::vector<BenchView> views_;
  BenchResult result_;
};

}  // namespace

int run_bench_worker(const BenchCommand& command) {
  const auto plan = read_plan(command.dir);
  const auto config = read_config(command.dir + "/peal.toml", command.worker);
  if (!plan || !config) return fail(2, "bench: no plan in " + command.dir);
  auto member = v0::Member::embed(member_config(*config));
  if (!member) return fail(1, "bench: " + member.error().message);
  std::uint32_t index = 0;
  while (config->nodes[index].name != config->node) ++index;
  const BenchResult result = Worker(std::move(*member), *plan, index).run();
  if (!write_result(command.dir, command.worker, result)) return fail(1, "bench: no result");
  return result.problem.empty() ? 0 : fail(1, "bench: " + result.problem);
}

}  // namespace peal::cli
