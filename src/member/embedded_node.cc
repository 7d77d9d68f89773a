// SPDX-License-Identifier: Apache-2.0
#include "member/embedded_node.h"

#include <poll.h>
#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <system_error>
#include <utility>

#include "io/clock.h"
#include "io/slice.h"
#include "runtime/text.h"
#include "trace/json.h"

namespace peal::member {
namespace {

/// The loop polls for this time before it sleeps, because a wake-up costs as much as a short wait.
/// A token that circulates without a pause returns within this time. In an idle view, the token
/// rests, and the loop sleeps.
constexpr Duration kSpin = milliseconds(1);

/// Entries for units that wait to be read; the limit in bytes is usually reached first.
constexpr std::uint32_t kUnitsWaiting = 16'384;

/// The maximum wait of one turn of a leaving member without a thread of its own.
constexpr Duration kLeavingTurn = milliseconds(10);

Duration duration_of(std::chrono::steady_clock::duration time) {
  return nanoseconds(std::chrono::nanoseconds(time).count());
}

void poll_for(int fd, std::int64_t milliseconds) {
  pollfd descriptor{fd, POLLIN, 0};
  ::poll(&descriptor, 1, static_cast<int>(std::min<std::int64_t>(milliseconds, 3'600'000)));
}

/// Of the bytes that may wait to be ordered, half may wait in the node, and half in the SubmitStage
/// in front of the node.
node::Limits halved_limits(const config::Settings& settings) {
  node::Limits limits = settings.limits;
  limits.submit_bytes_max =
      std::max<std::uint64_t>(limits.submit_bytes_max / 2, message_bytes_max(settings));
  return limits;
}

config::Settings with_node_limits(const config::Settings& settings) {
  config::Settings changed = settings;
  changed.limits = halved_limits(settings);
  return changed;
}

/// Starts a thread with all signals blocked: the application's own threads run its signal handlers.
template <class Run>
Result<std::thread, io::IoError> start_thread(Run run) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  Result<std::thread, io::IoError> result = std::thread();
  try {
    result = std::thread(std::move(run));
  } catch (const std::system_error& error) {
    result = unexpected(io::system_error("a thread for the member", error.code().value()));
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return result;
}

}  // namespace

Result<std::unique_ptr<EmbeddedNode>, io::IoError> EmbeddedNode::open(
    const config::Settings& settings) {
  if (auto checked = validate(settings); !checked) {
    return unexpected(io::IoError{Errc::invalid_option, std::move(checked.error())});
  }
  std::unique_ptr<EmbeddedNode> embedded(new EmbeddedNode(settings));
  if (embedded->queue_.fd() < 0) return unexpected(io::system_error("eventfd", errno));
  io::LoopOptions options;
  options.pause = needs_of(settings).pause;
  options.spin = kSpin;
  options.waiting = waiting_of(settings);
  auto loop = io::Loop::open(options);
  if (!loop) return unexpected(loop.error());
  embedded->loop_ = std::move(*loop);
  auto runtime = runtime::Runtime::open(with_node_limits(settings), *embedded->loop_, *embedded);
  if (!runtime) return unexpected(runtime.error());
  embedded->runtime_ = std::move(*runtime);
  embedded->deliveries_.attach(*embedded->runtime_);
  embedded->requests_.set_id(
      trace::text_of(embedded->runtime_->node().self(), embedded->runtime_->names()));

  if (!settings.own_thread) {
    embedded->take_thread();
    embedded->runtime_->start(io::Clock::now());
    if (embedded->loop_->stopped()) embedded->finish();
    return embedded;
  }
  auto thread = start_thread([node = embedded.get()] { node->run(); });
  if (!thread) return unexpected(thread.error());
  embedded->thread_ = std::move(*thread);
  return embedded;
}

EmbeddedNode::EmbeddedNode(const config::Settings& settings)
    : settings_(settings),
      submitted_({message_bytes_max(settings), node::small_ring_bytes(settings.limits),
                  settings.limits.submit_bytes_max / 2, settings.limits.submit_messages_max}),
      // Once the queue has no space, at most twice max_gap units are ordered but not delivered
      // here: max_gap in the old view, and max_gap in the next view.
      queue_(kUnitsWaiting, 2 * needs_of(settings).max_gap + 64, settings.receive_bytes_max,
             packet_bytes(settings), settings.own_thread),
      deliveries_(queue_),
      reader_(queue_, config::names_of(settings), message_bytes_max(settings)) {}

EmbeddedNode::~EmbeddedNode() { leave(std::chrono::milliseconds(0)); }

void EmbeddedNode::run() {
  io::ask_for_short_slices();
  runtime_->start(io::Clock::now());
  loop_->run(runtime_->host());
  finish();
}

void EmbeddedNode::finish() {
  submitted_.close();
  queue_.publish();  // a node that could not start had no turn
  requests_.end(snapshot());
}

// ---- the application's threads ----

Result<std::uint64_t, Errc> EmbeddedNode::submit(ByteView payload, Service service,
                                                 DomainSet domains) {
  const auto pushed = submitted_.push(payload, service, domains);
  if (!pushed) return unexpected(pushed.error());
  if (pushed->first) loop_->wake();
  return pushed->number;
}

Result<std::uint64_t, Errc> EmbeddedNode::submit_until(
    ByteView payload, Service service, DomainSet domains,
    std::chrono::steady_clock::time_point deadline) {
  if (runs_loop_here()) {
    // Only this thread can make space.
    while (true) {
      const auto number = submit(payload, service, domains);
      const auto left = deadline - std::chrono::steady_clock::now();
      if (number || number.error() != Errc::would_block || left.count() <= 0) return number;
      turn(duration_of(left));
    }
  }
  const auto pushed = submitted_.push_until(payload, service, domains, deadline);
  if (!pushed) return unexpected(pushed.error());
  if (pushed->first) loop_->wake();
  return pushed->number;
}

int EmbeddedNode::fd() const {
  if (settings_.own_thread) return queue_.fd();
  fd_asked_ = true;
  return loop_->fd();
}

void EmbeddedNode::take_thread() {
  if (runner_.load(std::memory_order_relaxed) == std::this_thread::get_id()) return;
  runner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  io::ask_for_short_slices();
}

void EmbeddedNode::turn(Duration wait_max) {
  take_thread();
  loop_->turn(runtime_->host(), wait_max);
  if (loop_->stopped()) finish();
}

EventReader::Out EmbeddedNode::next() {
  EventReader::Out out = read();
  if (!std::holds_alternative<std::monostate>(out) || !runs_loop()) return out;
  turn({});
  out = read();
  const bool may_sleep = std::holds_alternative<std::monostate>(out) && fd_asked_;
  if (may_sleep && runs_loop()) loop_->arm(runtime_->host());
  return out;
}

EventReader::Out EmbeddedNode::read() {
  EventReader::Out out = reader_.next();
  if (const auto* notice = std::get_if<std::unique_ptr<Notice>>(&out)) {
    if ((*notice)->kind == Notice::Kind::closed) read_all_ = true;
  }
  if (reader_.take_room()) {
    room_again_.store(true, std::memory_order_release);
    loop_->wake();
  }
  return out;
}

EventReader::Out EmbeddedNode::wait_until(std::chrono::steady_clock::time_point deadline) {
  while (true) {
    EventReader::Out out = read();
    if (!std::holds_alternative<std::monostate>(out) || read_all_) return out;
    const auto left = deadline - std::chrono::steady_clock::now();
    if (left.count() <= 0) return next();
    if (runs_loop()) {
      const std::uint64_t placed = placed_;
      turn(duration_of(left));
      if (placed_ != placed && placed_ > deliveries_.own_delivered()) return read();
    } else {
      poll_for(queue_.fd(), std::chrono::ceil<std::chrono::milliseconds>(left).count());
    }
  }
}

void EmbeddedNode::leave(std::chrono::milliseconds patience) {
  submitted_.close();
  requests_.ask_leave(patience);
  if (loop_ == nullptr || runtime_ == nullptr) return;  // open() failed
  loop_->wake();
  while (runs_loop()) turn(kLeavingTurn);
  const std::lock_guard lock(join_mutex_);
  if (thread_.joinable()) thread_.join();
}

// ---- the loop's thread ----

void EmbeddedNode::on_wake(Instant now) {
  if (room_again_.exchange(false, std::memory_order_acquire)) runtime_->node().on_room(now);
  take_requests(now);
}

void EmbeddedNode::on_turn_end(Instant now) {
  if (closed_) return;
  feed(now);
  deliveries_.push_unit();
  leave_if_done(now);
}

void EmbeddedNode::feed(Instant now) {
  const std::uint64_t released = runtime_->node().released();
  if (submitted_.waiting() || submitted_.gave_blocks() || released > released_)
    submitted_.turn(released);
  released_ = released;
  bool fed = false;
  while (SubmitStage::Item* item = submitted_.front()) {
    Result<std::uint64_t, Errc> number = 0;
    if (item->block) {
      node::Gathered block{std::unique_ptr<std::byte[]>(item->bytes), item->size};
      number = runtime_->submit_block(block, item->service, item->domains());
      item->bytes = block.bytes.release();
    } else {
      number = runtime_->submit_lent(item->payload(), item->service, item->domains());
    }
    if (!number) break;  // the node is full: the next turn tries again
    submitted_.pop();
    fed = true;
  }
  if (fed) runtime_->node().flush(now);
}

void EmbeddedNode::on_event(const order::Event& event) {
  if (event.kind == &order::event::epoch_corrected) {
    requests_.set_id(trace::text_of(MemberId{settings_.self(), event.a}, runtime_->names()));
  }
}

void EmbeddedNode::on_address(const io::AddressBook::Change& change) {
  // The address of a node is in status(); only an unknown address needs a warning.
  if (!change.entry.known()) on_warning(runtime::address_text(change, runtime_->names()));
}

void EmbeddedNode::on_fatal(std::string_view reason) {
  close(false, "node \"" + settings_.name + "\" had to stop: " + std::string(reason));
}

void EmbeddedNode::leave_if_done(Instant now) {
  const auto asked = requests_.take_leave();
  if (asked) {
    const Instant at = now + milliseconds(std::max<std::int64_t>(asked->count(), 0));
    leave_at_ = leave_at_ ? std::min(*leave_at_, at) : at;
  }
  if (!leave_at_) return;
  // A genuine engine need not deliver a message to its sender.
  const std::uint64_t finished =
      settings_.order->traits.genuine ? placed_ : deliveries_.own_delivered();
  const bool done =
      submitted_.front() == nullptr && !submitted_.waiting() && finished == submitted_.pushed();
  if (!done && now < *leave_at_) return;
  runtime_->leave(now);
  close(true, done ? "left on request"
                   : "left on request; messages that were not delivered by then are lost");
}

void EmbeddedNode::close(bool on_request, std::string reason) {
  if (closed_) return;
  closed_ = true;
  leave_at_.reset();
  Notice notice;
  notice.kind = Notice::Kind::closed;
  notice.on_request = on_request;
  notice.text = std::move(reason);
  deliveries_.push(std::move(notice));
  submitted_.close();
  loop_->stop();
}

}  // namespace peal::member
