// SPDX-License-Identifier: Apache-2.0
#include "member/core.h"

#include <poll.h>
#include <pthread.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>

#include "base/assert.h"
#include "io/clock.h"
#include "io/slice.h"
#include "runtime/text.h"
#include "trace/json.h"

namespace peal::member {
namespace {

/// While waits are this short, a wake-up would cost as much as the wait. A token that circulates
/// without rest comes back sooner; a token at rest lets the loop sleep.
constexpr Duration kSpin = milliseconds(1);

/// Entries for units that wait to be read; the limit in bytes is usually reached first.
constexpr std::uint32_t kUnitsWaiting = 16'384;

/// Of a leaving member without a thread of its own.
constexpr Duration kLeavingTurn = milliseconds(10);

Duration duration_of(std::chrono::steady_clock::duration time) {
  return nanoseconds(std::chrono::nanoseconds(time).count());
}

void poll_for(int fd, std::int64_t milliseconds) {
  pollfd descriptor{fd, POLLIN, 0};
  ::poll(&descriptor, 1, static_cast<int>(std::min<std::int64_t>(milliseconds, 3'600'000)));
}

/// The node takes half of the bytes that may wait to be ordered, the stage in front of it the other
/// half.
node::Limits halved_limits(const config::Settings& settings) {
  node::Limits limits = settings.limits;
  limits.submit_bytes_max =
      std::max<std::uint64_t>(limits.submit_bytes_max / 2, limits.message_bytes_max);
  return limits;
}

config::Settings with_node_limits(const config::Settings& settings) {
  config::Settings changed = settings;
  changed.limits = halved_limits(settings);
  return changed;
}

}  // namespace

Result<std::unique_ptr<Core>, io::IoError> Core::open(const config::Settings& settings) {
  if (auto checked = validate(settings); !checked) {
    return unexpected(io::IoError{Errc::invalid_option, std::move(checked.error())});
  }
  std::unique_ptr<Core> core(new Core(settings));
  if (core->queue_.fd() < 0) return unexpected(io::system_error("eventfd", errno));
  io::LoopOptions options;
  options.pause = needs_of(settings).pause;
  options.spin = kSpin;
  auto loop = io::Loop::open(options);
  if (!loop) return unexpected(loop.error());
  core->loop_ = std::move(*loop);
  auto runtime = runtime::Runtime::open(with_node_limits(settings), *core->loop_, *core);
  if (!runtime) return unexpected(runtime.error());
  core->runtime_ = std::move(*runtime);
  core->set_id(core->runtime_->node().self());

  if (!settings.own_thread) {
    core->take_thread();
    core->runtime_->start(io::Clock::now());
    if (core->loop_->stopped()) core->finish();
    return core;
  }
  if (auto started = core->start_thread(); !started) return unexpected(started.error());
  return core;
}

Result<void, io::IoError> Core::start_thread() {
  // The application's signal handlers are for its own threads.
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  Result<void, io::IoError> result;
  try {
    thread_ = std::thread([this] { run(); });
  } catch (const std::system_error& error) {
    result = unexpected(io::system_error("a thread for the member", error.code().value()));
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return result;
}

Core::Core(const config::Settings& settings)
    : settings_(settings),
      stage_({settings.limits.message_bytes_max, node::small_ring_bytes(settings.limits),
              settings.limits.submit_bytes_max / 2, settings.limits.submit_messages_max}),
      // Once the queue has no space, at most twice the largest gap is ordered but not delivered
      // here: once in the old view, once in the next.
      queue_(kUnitsWaiting, 2 * needs_of(settings).max_gap + 64, settings.receive_bytes_max,
             packet_bytes(settings), settings.own_thread),
      reader_(queue_, config::names_of(settings), settings.limits.message_bytes_max) {}

Core::~Core() { leave(std::chrono::milliseconds(0)); }

void Core::run() {
  io::ask_for_short_slices();
  runtime_->start(io::Clock::now());
  loop_->run(runtime_->host());
  finish();
}

void Core::finish() {
  stage_.close();
  queue_.publish();  // a node that could not even start had no turn
  const std::lock_guard lock(mutex_);
  status_ = snapshot();
  ended_ = true;
  answered_.notify_all();
}

// ---- the application's threads ----

Result<std::uint64_t> Core::submit(ByteView payload, Service service, order::Domain domain) {
  const auto pushed = stage_.push(payload, service, domain);
  if (!pushed) return unexpected(pushed.error());
  if (pushed->first) loop_->wake();
  return pushed->number;
}

Result<std::uint64_t> Core::submit_until(ByteView payload, Service service, order::Domain domain,
                                         std::chrono::steady_clock::time_point deadline) {
  if (runs_loop() && runner_ == std::this_thread::get_id()) {
    // Only this thread can make space.
    while (true) {
      const auto number = submit(payload, service, domain);
      const auto left = deadline - std::chrono::steady_clock::now();
      if (number || number.error() != Errc::would_block || left.count() <= 0) return number;
      turn(duration_of(left));
    }
  }
  const auto pushed = stage_.push_until(payload, service, domain, deadline);
  if (!pushed) return unexpected(pushed.error());
  if (pushed->first) loop_->wake();
  return pushed->number;
}

int Core::fd() const {
  if (settings_.own_thread) return queue_.fd();
  fd_asked_ = true;
  return loop_->fd();
}

void Core::take_thread() {
  if (runner_.load(std::memory_order_relaxed) == std::this_thread::get_id()) return;
  runner_.store(std::this_thread::get_id(), std::memory_order_relaxed);
  io::ask_for_short_slices();
}

void Core::turn(Duration wait_max) {
  take_thread();
  loop_->turn(runtime_->host(), wait_max);
  if (loop_->stopped()) finish();
}

Reader::Out Core::next() {
  Reader::Out out = read();
  if (!std::holds_alternative<std::monostate>(out) || !runs_loop()) return out;
  turn({});
  out = read();
  const bool may_sleep = std::holds_alternative<std::monostate>(out) && fd_asked_;
  if (may_sleep && runs_loop()) loop_->arm(runtime_->host());
  return out;
}

Reader::Out Core::read() {
  Reader::Out out = reader_.next();
  if (const auto* notice = std::get_if<std::unique_ptr<Notice>>(&out)) {
    if ((*notice)->kind == Notice::Kind::closed) read_all_ = true;
  }
  if (reader_.take_room()) {
    room_again_.store(true, std::memory_order_release);
    loop_->wake();
  }
  return out;
}

Reader::Out Core::wait_until(std::chrono::steady_clock::time_point deadline) {
  while (true) {
    Reader::Out out = read();
    if (!std::holds_alternative<std::monostate>(out) || read_all_) return out;
    const auto left = deadline - std::chrono::steady_clock::now();
    if (left.count() <= 0) return next();
    if (runs_loop()) {
      turn(duration_of(left));
    } else {
      poll_for(queue_.fd(), std::chrono::ceil<std::chrono::milliseconds>(left).count());
    }
  }
}

void Core::leave(std::chrono::milliseconds patience) {
  stage_.close();
  {
    const std::lock_guard lock(mutex_);
    if (!leave_asked_ || patience < *leave_asked_) leave_asked_ = patience;
  }
  if (loop_ == nullptr || runtime_ == nullptr) return;  // open() failed
  loop_->wake();
  while (runs_loop()) turn(kLeavingTurn);
  const std::lock_guard lock(join_mutex_);
  if (thread_.joinable()) thread_.join();
}

// ---- the loop's thread ----

void Core::on_wake(Instant now) {
  if (room_again_.exchange(false, std::memory_order_acquire)) runtime_->on_room(now);
  take_keys();
  take_nodes(now);
  answer_status();
}

void Core::on_turn_end(Instant now) {
  if (closed_) return;
  feed(now);
  push_unit();
  leave_if_done(now);
}

void Core::feed(Instant now) {
  const std::uint64_t released = runtime_->node().released();
  if (stage_.waiting() || stage_.gave_blocks() || released > released_) stage_.turn(released);
  released_ = released;
  bool fed = false;
  while (Stage::Item* item = stage_.front()) {
    Result<std::uint64_t> number = 0;
    if (item->block) {
      node::Gathered block{std::unique_ptr<std::byte[]>(item->bytes), item->size};
      number = runtime_->submit_block(block, item->service, item->domain);
      item->bytes = block.bytes.release();
    } else {
      number = runtime_->submit_lent(item->payload(), item->service, item->domain);
    }
    if (!number) break;  // the node is full: again at the end of the next turn
    stage_.pop();
    fed = true;
  }
  if (fed) runtime_->flush(now);
}

void Core::on_unit_delivered(const order::Delivery& delivery) {
  begin_unit(delivery);
  unit_.as_guessed = delivery.guess == delivery.seq;
}

void Core::on_unit_early(const order::Delivery& early) {
  begin_unit(early);
  unit_.early = true;
}

void Core::begin_unit(const order::Delivery& delivery) {
  push_unit();
  unit_.sender = delivery.origin;
  unit_.own = delivery.origin == runtime_->node().self();
  PEAL_ASSERT(delivery.view == view_ && delivery.transitional == transitional_);
  unit_.seq = delivery.seq;
  unit_.service = delivery.service;
  unit_.unit = delivery.unit;
}

void Core::on_message(const node::Message& message) {
  take_message(message);
  if (unit_.own) own_delivered_ = message.number;
}

void Core::on_early(const node::Message& message) { take_message(message); }

void Core::take_message(const node::Message& message) {
  PEAL_ASSERT(message.seq == unit_.seq && message.view == view_);
  unit_has_messages_ = true;
  if (message.gathered != nullptr) unit_.make_rare().gathered = std::move(*message.gathered);
}

void Core::push_unit() {
  if (unit_has_messages_) {
    if (runtime_->buffers_are_short()) {
      const ByteView bytes = unit_.unit.view();
      node::Gathered& copy = unit_.make_rare().copy;
      copy.bytes.reset(new std::byte[bytes.size()]);
      copy.size = static_cast<std::uint32_t>(bytes.size());
      std::memcpy(copy.bytes.get(), bytes.data(), bytes.size());
      unit_.unit.reset();
      ++copied_units_;
    }
    queue_.push(Entry{std::move(unit_), nullptr});
  }
  unit_ = {};
  unit_has_messages_ = false;
}

void Core::push_notice(Notice notice) {
  push_unit();
  queue_.push(Entry{{}, std::make_unique<Notice>(std::move(notice))});
}

void Core::on_view(const order::View& view) {
  Notice notice;
  notice.kind = Notice::Kind::view;
  notice.transitional = view.transitional;
  notice.id = view.id;
  notice.old = view.old;
  notice.members.assign(view.members.begin(), view.members.end());
  notice.primary = view.primary;
  notice.text = why_gathering_.empty() ? runtime_->why_passage() : why_gathering_;
  transitional_ = view.transitional;
  if (!view.transitional) {
    view_ = view.id;
    members_ = notice.members;
    why_gathering_.clear();
  }
  push_notice(std::move(notice));
}

void Core::on_event(const order::Event& event) {
  if (event.kind == &order::event::paused) {
    pause_ = nanoseconds(static_cast<std::int64_t>(event.a));
  }
  if (event.kind == &order::event::gather_started && why_gathering_.empty()) {
    why_gathering_ = runtime::gather_text(
        event, pause_, runtime_->names());  // the later events of the view change follow from it
  }
  if (event.kind == &order::event::epoch_corrected) set_id({settings_.self(), event.a});
  if (event.kind == &order::event::incompatible_peer) {
    on_warning(
        runtime::incompatible_text(event.who, static_cast<wire::Drop>(event.a), runtime_->names()));
  }
}

void Core::on_warning(const std::string& text) {
  Notice notice;
  notice.kind = Notice::Kind::warning;
  notice.text = text;
  push_notice(std::move(notice));
}

void Core::on_address(const io::AddressBook::Change& change) {
  // The address of a node is in status(); only an unknown address needs a person.
  if (!change.entry.known()) on_warning(runtime::address_text(change, runtime_->names()));
}

void Core::on_fatal(std::string_view reason) {
  close(false, "node \"" + settings_.name + "\" had to stop: " + std::string(reason));
}

void Core::leave_if_done(Instant now) {
  std::optional<std::chrono::milliseconds> asked;
  {
    const std::lock_guard lock(mutex_);
    asked = std::exchange(leave_asked_, std::nullopt);
  }
  if (asked) {
    const Instant at = now + milliseconds(std::max<std::int64_t>(asked->count(), 0));
    leave_at_ = leave_at_ ? std::min(*leave_at_, at) : at;
  }
  if (!leave_at_) return;
  const bool done =
      stage_.front() == nullptr && !stage_.waiting() && own_delivered_ == stage_.pushed();
  if (!done && now < *leave_at_) return;
  runtime_->leave(now);
  close(true, done ? "left on request"
                   : "left on request; messages that were not delivered by then are lost");
}

void Core::close(bool on_request, std::string reason) {
  if (closed_) return;
  closed_ = true;
  leave_at_.reset();
  Notice notice;
  notice.kind = Notice::Kind::closed;
  notice.on_request = on_request;
  notice.text = std::move(reason);
  push_notice(std::move(notice));
  stage_.close();
  loop_->stop();
}

}  // namespace peal::member
