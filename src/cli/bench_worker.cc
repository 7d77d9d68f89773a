// SPDX-License-Identifier: Apache-2.0
#include <poll.h>
#include <sys/prctl.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "cli/bench_check.h"
#include "cli/bench_clock.h"
#include "cli/bench_plan.h"
#include "cli/bench_sampler.h"
#include "cli/commands.h"
#include "cli/config.h"
#include "member/core.h"
#include "trace/json.h"

// Last: see cli/inner_names.h.
#include "cli/member_config.h"
#include "member/config.h"

namespace peal::cli {
namespace {

constexpr std::int64_t kGatherNs = 20 * kSecondNs;  // for all nodes to come into one view
constexpr std::int64_t kFinishNs = 30 * kSecondNs;  // after the end, for what is still on its way
constexpr std::int64_t kStartDelayNs = kSecondNs / 5;
constexpr std::int64_t kGraceNs = kSecondNs / 10;  // after the end, for what was due before it
constexpr int kEventsPerTurn = 1'024;
constexpr int kEventsPerClock = 8;  // that were there already: reading the clock takes longer
constexpr int kSendsPerTurn = 64;

/// The beginning of each message, as short as the shortest message. `start` says when to begin and
/// comes from one node; `done` says that a node sends no more data, and `bye` that it has delivered
/// everybody's. Being in the order themselves, they need no other channel.
struct Head {
  enum Kind : std::uint8_t { data, start, done, bye };
  static constexpr std::size_t kTimeBytes = 6;  // of nanoseconds: three days
  static constexpr std::size_t kRestBytes = 4;
  static constexpr std::size_t kBytes = kTimeBytes + kRestBytes;
  static constexpr unsigned kNumberBits = 30;

  std::int64_t time_ns;  ///< data: when it was due; start: when to begin
  Kind kind;
  std::uint32_t number;  ///< the message's own, its lowest bits

  static std::uint32_t number_of(std::uint64_t number) {
    return static_cast<std::uint32_t>(number & ((1U << kNumberBits) - 1));
  }
  // Sender and receiver are on one machine.
  void write(std::byte* to) const {
    const std::uint32_t rest = static_cast<std::uint32_t>(kind) << kNumberBits | number;
    std::memcpy(to, &time_ns, kTimeBytes);
    std::memcpy(to + kTimeBytes, &rest, kRestBytes);
  }
  /// `now` tells which of the times with these lowest bits is meant.
  static Head read(const std::byte* from, std::int64_t now) {
    const ByteView bytes{from, kBytes};
    const std::uint64_t time =
        load<std::uint32_t>(bytes) | std::uint64_t{load<std::uint16_t>(bytes.subspan(4))} << 32;
    const auto rest = load<std::uint32_t>(bytes.subspan(kTimeBytes));
    constexpr unsigned kShift = 64 - 8 * kTimeBytes;
    const auto ahead =
        static_cast<std::int64_t>((time - static_cast<std::uint64_t>(now)) << kShift);
    return {now + (ahead >> kShift), static_cast<Kind>(rest >> kNumberBits), number_of(rest)};
  }
};
static_assert(Head::kBytes == kBenchPayloadMin);

class Worker {
 public:
  Worker(member::Core& core, const BenchPlan& plan, std::uint32_t index)
      : core_(core),
        sampler_(core),
        plan_(plan),
        index_(index),
        payload_(plan.payload_bytes),
        window_(messages_under_way(plan.payload_bytes)) {
    if (plan.rate > 0) interval_ns_ = static_cast<double>(kSecondNs) / plan.rate;
  }

  BenchResult run() {
    deadline_ns_ = now_ns() + kGatherNs;
    while (result_.problem.empty() && !finished()) {
      const std::int64_t now = now_ns();
      if (now > deadline_ns_) {
        result_.problem = begin_ns_ == 0 ? "the nodes did not find each other in 20 s"
                                         : "messages were not delivered 30 s after the end";
        result_.problem += "; the view has " + std::to_string(members_) + " of " +
                           std::to_string(plan_.nodes) + " nodes";
        break;
      }
      note_time(now);
      const bool sent = send(now);
      if (!receive() && !sent) sleep(now);
    }
    note_time(now_ns());
    if (result_.problem.empty()) result_.problem = check_.problem();
    sampler_.stop();
    result_.counters = sampler_.growth();
    result_.gauges = sampler_.gauges();
    if (begin_ns_ != 0) result_.due = interval_ns_ > 0 ? count_due() : result_.sent;
    for (BenchView& view : views_) result_.views.push_back(std::move(view));
    return std::move(result_);
  }

 private:
  /// Whoever leaves earlier makes the others wait for the next view, and that would be measured. A
  /// node that is gone has seen everybody's last message.
  bool finished() const { return byes_ == plan_.nodes || (bye_sent_ && members_ < plan_.nodes); }
  std::int64_t measure_from() const {
    return begin_ns_ + static_cast<std::int64_t>(plan_.warm_up_s * 1e9);
  }
  std::int64_t end() const {
    return measure_from() + static_cast<std::int64_t>(plan_.seconds * 1e9);
  }
  /// When message `i` of this node is due. Nodes take turns, as independent senders would on
  /// average.
  std::int64_t due_at(std::uint64_t i) const {
    const double place =
        static_cast<double>(i) + static_cast<double>(index_) / static_cast<double>(plan_.nodes);
    return begin_ns_ + static_cast<std::int64_t>(place * interval_ns_);
  }
  /// How many messages are due in the measured time.
  std::uint64_t count_due() const {
    const auto before = [this](std::int64_t time) {
      auto i = static_cast<std::uint64_t>(static_cast<double>(time - begin_ns_) / interval_ns_);
      while (i > 0 && due_at(i - 1) >= time) --i;
      while (due_at(i) < time) ++i;
      return i;
    };
    return before(end()) - before(measure_from());
  }

  /// CPU time is read at both ends of the measured time.
  void note_time(std::int64_t now) {
    if (begin_ns_ == 0) return;
    if (!plan_.own_thread) sampler_.poll(steady_time(now));
    if (cpu_from_ < 0 && now >= measure_from()) cpu_from_ = cpu_seconds();
    if (cpu_from_ >= 0 && result_.cpu_s == 0 && now >= end()) {
      result_.cpu_s = cpu_seconds() - cpu_from_;
    }
  }

  bool submit(Head::Kind kind, std::int64_t time) {
    Head{time, kind, Head::number_of(submitted_ + 1)}.write(payload_.data());
    // The last message of a node is safe: whoever delivers all of them may go, since the others
    // have them too.
    const bool safe = is_safe(plan_.service) || kind == Head::bye;
    const auto number = core_.submit(payload_, safe ? Service::safe : Service::agreed);
    blocked_ = !number;
    if (number) {
      ++submitted_;
    } else if (number.error() != Errc::would_block) {
      result_.problem = "the member takes no more messages";
    }
    return number.has_value();
  }

  /// Sends what is due; true if something was sent.
  bool send(std::int64_t now) {
    if (begin_ns_ == 0) {
      if (index_ != 0 || members_ != plan_.nodes || start_sent_) return false;
      return start_sent_ = submit(Head::start, now + kStartDelayNs);
    }
    if (done_ == plan_.nodes && !bye_sent_ && now >= end()) {
      return bye_sent_ = submit(Head::bye, now);
    }
    bool sent = false;
    for (int i = 0; i < kSendsPerTurn && !done_sent_; ++i) {
      const std::int64_t due = interval_ns_ > 0 ? due_at(sent_) : now;
      if (due >= end() || now >= end() + kGraceNs) {
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
      if (count % kEventsPerClock == 0) received_ns_ = now_ns();
      if (!take(core_.next())) break;
    }
    return count > 0;
  }

  /// False if it is none.
  bool take(const member::Reader::Out& event) {
    if (const auto* message = std::get_if<member::MessageOut>(&event)) {
      on_message(*message);
    } else if (const auto* notice = std::get_if<std::unique_ptr<member::Notice>>(&event)) {
      on_notice(**notice);
    } else {
      return false;
    }
    return true;
  }

  void on_notice(const member::Notice& notice) {
    if (notice.kind == member::Notice::Kind::closed) result_.problem = notice.text;
    if (notice.kind != member::Notice::Kind::view || notice.transitional) return;
    views_.push_back({trace::text_of(notice.id, core_.names()), {}});
    members_ = notice.members.size();
  }

  void on_message(const member::MessageOut& message) {
    if (message.payload.size() != payload_.size()) {
      result_.problem = "a message of another size was delivered";
      return;
    }
    const std::int64_t now = received_ns_;
    const Head head = Head::read(message.payload.data(), now);
    // The first bytes tell messages apart: the order is what is judged here.
    if (!views_.empty() && head.kind != Head::bye) {
      views_.back().digest.add(message.sender, message.number, message.payload.first(Head::kBytes));
    }
    if (head.number != Head::number_of(message.number)) {
      result_.problem = "a message was delivered with the number of another";
    }
    check_.on_message(message.sender, message.number);
    if (head.kind == Head::start) {
      begin(head.time_ns);
    } else if (head.kind == Head::done) {
      ++done_;
    } else if (head.kind == Head::bye) {
      ++byes_;
    } else {
      if (message.own) ++own_delivered_;
      note_delivery(now, head.time_ns, message.payload.size());
    }
  }

  void begin(std::int64_t time) {
    begin_ns_ = time;
    deadline_ns_ = end() + kFinishNs;
    sampler_.start(steady_time(measure_from()), steady_time(end()), plan_.own_thread);
  }

  void note_delivery(std::int64_t now, std::int64_t due, std::size_t bytes) {
    if (now >= measure_from() && now < end()) {
      ++result_.delivered;
      result_.delivered_bytes += bytes;
    }
    if (due >= measure_from()) {
      result_.latency.add(static_cast<std::uint64_t>(std::max<std::int64_t>(0, now - due)));
    }
  }

  /// Until an event comes, or the next message is due.
  void sleep(std::int64_t now) {
    // Where the member has no room, what is due waits for it, and must not keep a processor busy.
    std::int64_t time = blocked_ ? kSecondNs / 1'000 : kSecondNs / 100;
    if (!blocked_ && interval_ns_ > 0 && begin_ns_ != 0 && !bye_sent_) {
      const std::int64_t next = done_sent_ ? end() : due_at(sent_);
      if (!done_sent_ || next > now) time = std::clamp<std::int64_t>(next - now, 0, time);
    }
    if (!plan_.own_thread) {
      const auto event = core_.wait_until(steady_time(now + time));
      received_ns_ = now_ns();
      take(event);
      return;
    }
    pollfd wait{core_.fd(), POLLIN, 0};
    const timespec timeout{time / kSecondNs, time % kSecondNs};
    ::ppoll(&wait, 1, &timeout, nullptr);
  }

  member::Core& core_;
  BenchSampler sampler_;
  const BenchPlan plan_;
  const std::uint32_t index_;
  std::vector<std::byte> payload_;
  const std::uint64_t window_;  ///< messages under way without a rate
  double interval_ns_ = 0;
  std::int64_t deadline_ns_ = 0;
  std::int64_t begin_ns_ = 0;     ///< 0: not known yet
  std::int64_t received_ns_ = 0;  ///< when events were taken last
  double cpu_from_ = -1;
  std::size_t members_ = 0;  ///< of the newest view
  bool start_sent_ = false;
  bool done_sent_ = false;
  bool blocked_ = false;  ///< the member did not take the last message
  bool bye_sent_ = false;
  std::uint32_t done_ = 0;  ///< senders that are
  std::uint32_t byes_ = 0;
  std::uint64_t submitted_ = 0;
  std::uint64_t sent_ = 0;  ///< of these, data
  std::uint64_t own_delivered_ = 0;
  DeliveryCheck check_;
  std::vector<BenchView> views_;
  BenchResult result_;
};

/// The member's settings: those of the file, and the loss that is measured.
Result<member::Settings, std::string> settings_for(const NodeConfig& config,
                                                   const BenchPlan& plan) {
  auto made = member::settings_of(member_config(config));
  if (const auto* error = std::get_if<v0::Error>(&made)) return tl::unexpected(error->message);
  auto settings = std::get<member::Settings>(std::move(made));
  settings.own_thread = plan.own_thread;
  if (plan.loss > 0) {
    settings.faults.emplace();
    settings.faults->drop_in = plan.loss;
    settings.faults->only = Lane::data;
  }
  return settings;
}

}  // namespace

int run_bench_worker(const BenchCommand& command) {
  const auto plan = read_plan(command.dir);
  if (!plan) return fail(2, "bench: no plan in " + command.dir);
  if (plan->limit) return run_limit_worker(command, *plan);
  const auto config = read_config(command.dir + "/peal.toml", command.worker);
  if (!config) return fail(2, "bench: " + config.error());
  const auto settings = settings_for(*config, *plan);
  if (!settings) return fail(2, "bench: " + settings.error());
  auto core = member::Core::open(*settings);
  if (!core) return fail(1, "bench: " + core.error().message);
  // What is due is sent when it is due, and not up to 50 us later, as the kernel would wake others.
  // The member's own thread runs already, and stays as it is.
  ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  const BenchResult result = Worker(**core, *plan, settings->self().value - 1).run();
  (*core)->leave(std::chrono::milliseconds(500));
  if (!write_result(command.dir, command.worker, result)) return fail(1, "bench: no result");
  return result.problem.empty() ? 0 : fail(1, "bench: " + command.worker + ": " + result.problem);
}

}  // namespace peal::cli
