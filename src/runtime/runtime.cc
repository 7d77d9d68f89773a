// SPDX-License-Identifier: Apache-2.0
#include "runtime/runtime.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "config/domains.h"
#include "config/nodes.h"
#include "io/clock.h"
#include "runtime/acceptor_log.h"
#include "runtime/engine.h"
#include "runtime/node_memory.h"
#include "runtime/snapshot.h"
#include "runtime/text.h"
#include "wire/frames.h"

namespace peal::runtime {
Result<std::unique_ptr<Runtime>, io::IoError> Runtime::open(const config::Settings& settings,
                                                            io::Loop& loop,
                                                            Application& application) {
  if (auto checked = config::validate(settings); !checked) {
    return unexpected(io::IoError{Errc::invalid_option, std::move(checked.error())});
  }
  // The caller must have read the keys: validate() accepts settings without keys.
  PEAL_ASSERT(settings.insecure || settings.keys);
  const auto own_at = config::find_own(settings);
  if (!own_at) return unexpected(own_at.error());
  std::unique_ptr<Runtime> runtime(new Runtime(settings, *own_at, loop, application));
  if (auto prepared = runtime->prepare(); !prepared) return unexpected(prepared.error());
  return runtime;
}

Runtime::Runtime(const config::Settings& settings, const io::Endpoint& own_at, io::Loop& loop,
                 Application& application)
    : nodes_(settings, own_at),
      loop_(loop),
      application_(application),
      buffers_(settings),
      state_file_(config::state_file(settings)) {}

Runtime::~Runtime() = default;

Result<void, io::IoError> Runtime::prepare() {
  const config::Settings& settings = nodes_.settings();
  auto transport = NodeTransport::open(
      nodes_, loop_, buffers_, [this](const std::string& text) { application_.on_warning(text); });
  if (!transport) return unexpected(transport.error());
  transport_ = std::move(*transport);

  if (!settings.trace.empty()) {
    auto trace = TraceLog::open(
        settings.trace, names(),
        {std::string(settings.order->name), needs_of(settings).optimistic, own_domains(settings)});
    if (!trace) {
      return unexpected(io::IoError{trace.error().code, "trace: " + trace.error().message});
    }
    trace_ = std::move(*trace);
  }
  if (keeps_log(settings)) {
    if (auto opened_log = open_log(); !opened_log) return opened_log;
  }
  const io::EpochChoice choice = io::choose_epoch(state_file_);
  if (choice.warning) start_warnings_.push_back(choice.warning->message);
  if (log_ != nullptr) {
    if (auto recovered = log_->recover(choice.epoch); !recovered) return recovered;
    if (log_->is_new()) start_warnings_.push_back(new_log_text(log_->folder()));
  }
  // The epoch is stored last. So a node that cannot start uses up no incarnation, and an epoch in
  // the log's folder proves that the log existed.
  if (const auto stored = io::store_epoch(state_file_, choice.epoch); !stored) {
    start_warnings_.push_back(stored.error().message);
  }
  for (std::string& each : absent_texts(settings)) start_warnings_.push_back(std::move(each));
  transport_->udp().set_epoch(choice.epoch);
  if (needs_of(settings).memory) {
    auto memory = open_memory(nodes_, {settings.self(), choice.epoch}, loop_);
    if (!memory) return unexpected(memory.error());
    memory_ = std::move(*memory);
  }
  make_node(choice.epoch);
  return {};
}

Result<void, io::IoError> Runtime::open_log() {
  auto log = AcceptorLog::open(nodes_.settings());
  if (!log) return unexpected(log.error());
  log_ = std::move(*log);
  state_file_ = log_->state_file();
  return log_->attach(loop_, [this] { node_->on_durable(io::Clock::now()); });
}

void Runtime::make_node(std::uint64_t epoch) {
  node::Sink& sink = *this;
  node_ = std::make_unique<node::Node>(
      node_limits(nodes_.settings()), buffers_.units,
      [this, epoch](order::Host& host) {
        return make_engine(nodes_.settings(), epoch, log_.get(), memory_.get(), buffers_.frames,
                           host);
      },
      *transport_, sink);
  transport_->attach(*node_, trace_.get());
}

void Runtime::start(Instant now) {
  if (trace_ != nullptr) trace_->start(node_->self());
  if (nodes_.settings().insecure) application_.on_warning(std::string(kInsecureText));
  for (const std::string& each : start_warnings_) application_.on_warning(each);
  node_->start(now);
}

Result<std::uint64_t, Errc> Runtime::enqueue(ByteView payload, Service service, DomainSet domains) {
  const auto number = node_->enqueue(payload, service, domains);
  if (number && trace_ != nullptr) trace_->submit(*number, service, payload, domains);
  return number;
}

Result<std::uint64_t, Errc> Runtime::submit_lent(ByteView payload, Service service,
                                                 DomainSet domains) {
  const auto number = node_->submit_lent(payload, service, domains);
  if (number && trace_ != nullptr) trace_->submit(*number, service, payload, domains);
  return number;
}

Result<std::uint64_t, Errc> Runtime::submit_block(node::Gathered& message, Service service,
                                                  DomainSet domains) {
  // The block keeps its address when the node takes it, and stays until its message is ordered.
  const ByteView payload{message.bytes.get(), message.size};
  const auto number = node_->submit_block(message, service, domains);
  if (number && trace_ != nullptr) trace_->submit(*number, service, payload, domains);
  return number;
}

void Runtime::leave(Instant now) {
  node_->leave(now);
  if (trace_ != nullptr) trace_->leave();
}

io::Progress Runtime::on_sockets(const io::Turn& turn) {
  if (memory_ == nullptr) return transport_->receive(turn);
  const bool more = memory_->receive(turn.now);
  if (memory_->take_news()) node_->on_memory(turn.now);
  io::Progress progress = transport_->receive(turn);
  progress.more = progress.more || more;
  return progress;
}

void Runtime::set_keys(const seal::Keys& keys) {
  transport_->set_keys(keys);
  if (memory_ != nullptr) memory_->set_keys(io::Clock::now(), keys);
}

void Runtime::on_timer(Instant now) {
  if (const auto due = node_->next_deadline(); due && *due <= now) node_->on_timer(now);
  transport_->on_timer(now);
  if (const auto due = nodes_.next_deadline(); due && *due <= now) {
    nodes_.on_timer(now, [this, now](const io::AddressBook::Change& change) {
      if (change.entry.at != change.before) {
        transport_->udp().set_address(change.entry.node, change.entry.at);
        if (memory_ != nullptr) memory_->set_address(now, change.entry.node, change.entry.at);
      }
      application_.on_address(change);
    });
  }
  look_for_stall(now);
}

void Runtime::look_for_stall(Instant now) {
  if (!stall_.is_due(now)) return;
  const std::string waits_for = stall_.has_moved() ? std::string() : wait_text(*this);
  const std::string text = stall_.look(now, waits_for);
  if (!text.empty()) application_.on_warning(text);
}

void Runtime::on_turn_end(Instant now) {
  now_ = now;
  nodes_.on_strangers(now, transport_->udp().counters().drop_unknown_source);
  end_work(now);
  // Writes to shared memory have ended already: what they decide need not wait for another turn.
  if (memory_ != nullptr && memory_->has_ends()) {
    memory_->take_news();
    node_->on_memory(now);
    end_work(now);
  }
  application_.on_publish();
  transport_->flush(now);
}

/// The application's last chance; then everything that has to be behind the trace.
void Runtime::end_work(Instant now) {
  application_.on_turn_end(now);
  take_adopted(now);
  if (log_ != nullptr) log_->commit();
  if (trace_ != nullptr) {
    trace_->flush();
    if (const auto error = trace_->take_error()) {
      application_.on_warning("the trace has a hole from here on, and peal check will refuse it: " +
                              error->message);
    }
  }
  if (memory_ != nullptr) {
    memory_->flush(now);
    const bool is_keyed = nodes_.settings().keys.has_value();
    while (const auto line = memory_notices_.next(*memory_, names(), is_keyed)) {
      application_.on_warning(*line);
    }
  }
}

std::optional<Instant> Runtime::next_deadline() const {
  std::optional<Instant> first;
  const auto of_memory = memory_ == nullptr ? std::nullopt : memory_->next_deadline();
  for (const auto& each : {node_->next_deadline(), of_memory, transport_->next_deadline(),
                           nodes_.next_deadline(), application_.next_deadline()}) {
    if (each && (!first || *each < *first)) first = each;
  }
  return first;
}

void Runtime::on_message(const node::Message& message) {
  stall_.on_progress();
  if (trace_ != nullptr && !node::is_control(message.number)) trace_->deliver(message);
  application_.on_message(message);
}

void Runtime::on_early(const node::Message& message) {
  if (trace_ != nullptr && !node::is_control(message.number)) trace_->early(message);
  application_.on_early(message);
}

void Runtime::on_view(const order::View& view) {
  stall_.on_progress();
  if (trace_ != nullptr) trace_->view(view);
  cause_.on_view(view, names());
  if (!view.transitional) {
    nodes_.set_present(now_, view.members);
    for (const MemberId& each : view.members) transport_->note_member(each.node);
  }
  application_.on_view(view);
  if (!view.transitional) cause_.on_told();
}

void Runtime::on_originate(const node::Origination& placed) {
  stall_.on_progress();
  if (trace_ != nullptr && !node::is_control(placed.number)) trace_->originate(placed);
  application_.on_originate(placed);
}

void Runtime::on_event(const order::Event& event) {
  cause_.on_event(event, names());
  if (event.kind == &order::event::epoch_corrected) on_epoch_corrected(event.a);
  // The transport's data of the peers may be in use now: take_adopted() changes it at the end of
  // the turn.
  if (event.kind == &order::event::nodes_adopted) nodes_adopted_ = true;
  if (event.kind == &order::event::nodes_not_given) {
    application_.on_warning(
        "the active list of nodes is another one than this node was given: give it that list (peal "
        "reload)");
  }
  if (event.kind == &order::event::incompatible_peer) {
    on_incompatible(event.who, static_cast<wire::Drop>(event.a));
  }
  if (event.kind == &order::event::bad_record) {
    application_.on_warning(bad_record_text(event, names()));
  }
  if (event.kind == &order::event::owed_dropped) {
    application_.on_warning(owed_text(event, names()));
  }
  if (event.kind == &order::event::votes_forgotten) {
    application_.on_warning(std::string(kForgottenText));
  }
  if (event.kind == &order::event::acceptor_renewed) {
    const NodeId node = event.who.node;
    application_.on_warning(renewed_text(node, node == nodes_.settings().self(), names()));
  }
  if (event.kind == &order::event::log_put_back) {
    const bool own = event.who.node == nodes_.settings().self();
    application_.on_warning(
        own ? put_back_text(nodes_.settings().data_dir + "/" + nodes_.settings().name)
            : put_back_text(event.who.node, names()));
  }
  application_.on_event(event);
}

void Runtime::on_incompatible(const MemberId& who, wire::Drop reason) {
  if (reason == wire::Drop::other_settings && nodes_.has(who.node)) {
    return transport_->ask_settings(io::Clock::now(), who.node);
  }
  const std::string text = incompatible_text(who, reason, names());
  if (who != MemberId{}) transport_->refusals().add(who.node, text);
  application_.on_warning(text);
}

void Runtime::on_fatal(std::string_view reason) {
  // The engine knows that its log failed; the log knows which file failed, and why.
  const bool lost = log_ != nullptr && log_->failure();
  application_.on_fatal(std::string(reason) + (lost ? ": " + log_->failure()->message : ""));
}

void Runtime::on_epoch_corrected(std::uint64_t epoch) {
  transport_->udp().set_epoch(epoch);
  if (trace_ != nullptr) trace_->start({nodes_.settings().self(), epoch});
  if (const auto stored = io::store_epoch(state_file_, epoch); !stored) {
    application_.on_warning(stored.error().message);
  }
}

}  // namespace peal::runtime
