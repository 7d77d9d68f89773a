// SPDX-License-Identifier: Apache-2.0
#include "runtime/runtime.h"

#include <algorithm>
#include <utility>

#include "base/assert.h"
#include "base/digest.h"
#include "config/domains.h"
#include "config/nodes.h"
#include "io/clock.h"
#include "runtime/acceptor_log.h"
#include "runtime/text.h"
#include "wire/frames.h"

namespace peal::runtime {
namespace {

constexpr std::uint32_t kFrameSlabs = 128;
/// A view of the maximum number of nodes, and a promise with some 500 runs of votes.
constexpr std::uint32_t kValuesFrameBytes = 16'384;
constexpr std::uint32_t kReceiveSlabsMin = 16;
constexpr std::uint32_t kReceiveSlabsMax = 512;

/// Slabs for what the engine keeps until all nodes have it, and for what waits to be read. Unused
/// slabs cost address space only.
std::uint32_t receive_slabs(const config::Settings& settings) {
  // With optimistic delivery each unit comes twice, and waits twice.
  const order::Needs needs = needs_of(settings);
  const std::uint64_t copies = needs.optimistic ? 8 : 4;
  const std::uint64_t kept = std::uint64_t{needs.max_gap} * copies * packet_bytes(settings);
  const std::uint64_t slabs =
      (kept + settings.receive_bytes_max) / io::UdpTransport::kSlabBytes + kReceiveSlabsMin;
  // Each stream that is read has one of its own.
  const std::uint32_t streams =
      settings.streams ? 2 * static_cast<std::uint32_t>(settings.nodes.size()) : 0;
  return static_cast<std::uint32_t>(std::min<std::uint64_t>(slabs, kReceiveSlabsMax)) + streams;
}

std::uint32_t slab_bytes(const config::Settings& settings) {
  return (packet_bytes(settings) + 63U) & ~63U;
}

/// The same in the pool of frames. If that holds values as well, it has many.
std::uint32_t frame_slab_bytes(const config::Settings& settings) {
  const std::uint32_t largest = frame_bytes(settings);
  if (needs_of(settings).values == 0) return largest;
  return std::min(largest, std::max(slab_bytes(settings), kValuesFrameBytes));
}

std::uint32_t frame_slabs(const config::Settings& settings) {
  const std::uint32_t values = needs_of(settings).values;
  return values == 0 ? kFrameSlabs : values + values / 2 + 512;
}

static_assert(io::FrameHeader::kBytes == wire::kHeaderBytes);

std::uint32_t unit_slabs(const config::Settings& settings) {
  return needs_of(settings).max_gap * 2 + 1'024;
}

/// The bits of trace::Event::domains.
std::uint16_t domain_bits(const config::Settings& settings) {
  std::uint32_t bits = 0;
  for (const order::Domain domain : own_domains(settings)) bits |= 1U << domain;
  return static_cast<std::uint16_t>(bits);
}

}  // namespace

Result<std::unique_ptr<Runtime>, io::IoError> Runtime::open(const config::Settings& settings,
                                                            io::Loop& loop,
                                                            Application& application) {
  if (auto checked = config::validate(settings); !checked) {
    return unexpected(io::IoError{Errc::invalid_option, std::move(checked.error())});
  }
  // Settings may have been read without the files that they name.
  PEAL_ASSERT(settings.insecure || settings.keys);
  std::unique_ptr<Runtime> runtime(new Runtime(settings, loop, application));
  if (auto prepared = runtime->prepare(); !prepared) return unexpected(prepared.error());
  return runtime;
}

Runtime::Runtime(const config::Settings& settings, io::Loop& loop, Application& application)
    : settings_(settings),
      loop_(loop),
      application_(application),
      names_(config::names_of(settings)),
      received_(io::UdpTransport::kSlabBytes, receive_slabs(settings)),
      units_(slab_bytes(settings), unit_slabs(settings)),
      frames_(frame_slab_bytes(settings), frame_slabs(settings)),
      state_file_(config::state_file(settings)) {}

Runtime::~Runtime() = default;

Result<void, io::IoError> Runtime::prepare() {
  io::UdpConfig udp;
  udp.self = settings_.self();
  const auto own = config::find_own(settings_);
  if (!own) return unexpected(own.error());
  own_at_ = *own;
  std::vector<io::AddressBook::Entry> others;
  udp.nodes.push_back({udp.self, own_at_});
  for (const config::NodeEntry& node : settings_.nodes) {
    if (node.number == udp.self) continue;
    udp.nodes.push_back({node.number, io::endpoint_of(node.address).value_or(io::Endpoint{})});
    others.push_back({node.number, node.address, {}, {}});
  }
  addresses_.emplace(own_at_, std::move(others), settings_.question);
  udp.cluster = cluster_id(settings_);
  if (settings_.keys) {
    udp.seal = io::UdpSeal{*settings_.keys, seal_cluster_id(settings_), 0,
                           settings_.order->write_data_header};
  }
  udp.multicast = settings_.streams ? io::MulticastMode::off : settings_.multicast;
  if (settings_.streams) udp.streams.emplace();
  udp.group = settings_.group;
  udp.packet_bytes_max = packet_bytes(settings_);
  udp.faults = settings_.faults;
  udp.fault_seed = udp.self.value;  // so that nodes do not lose the same packets
  auto opened = io::UdpTransport::open(udp, received_);
  if (!opened) return unexpected(opened.error());
  udp_ = std::move(*opened);
  if (auto attached = udp_->attach(loop_); !attached) return attached;

  if (!settings_.trace.empty()) {
    auto trace = TraceLog::open(
        settings_.trace, names_,
        {std::string(settings_.order->name), needs_of(settings_).optimistic,
         settings_.domains.empty() ? nullptr : settings_.order->domain_of, domain_bits(settings_)});
    if (!trace) {
      return unexpected(io::IoError{trace.error().code, "trace: " + trace.error().message});
    }
    trace_ = std::move(*trace);
  }
  if (keeps_log(settings_)) {
    if (auto opened_log = open_log(); !opened_log) return opened_log;
  }
  const io::EpochChoice choice = io::choose_epoch(state_file_);
  if (choice.warning) start_warnings_.push_back(choice.warning->message);
  if (log_ != nullptr) {
    if (auto recovered = log_->recover(choice.epoch); !recovered) return recovered;
    if (log_->is_new()) start_warnings_.push_back(new_log_text(log_->folder()));
  }
  // Last, so that a node which cannot start does not use up an incarnation, and an epoch beside a
  // log proves that the log existed.
  if (const auto stored = io::store_epoch(state_file_, choice.epoch); !stored) {
    start_warnings_.push_back(stored.error().message);
  }
  for (std::string& each : absent_texts(settings_)) start_warnings_.push_back(std::move(each));
  udp_->set_epoch(choice.epoch);
  make_node(choice.epoch);
  return {};
}

Result<void, io::IoError> Runtime::open_log() {
  auto log = AcceptorLog::open(settings_);
  if (!log) return unexpected(log.error());
  log_ = std::move(*log);
  state_file_ = log_->state_file();
  return log_->attach(loop_, [this] { node_->on_durable(io::Clock::now()); });
}

void Runtime::make_node(std::uint64_t epoch) {
  port::Transport& transport = *this;
  node::Sink& sink = *this;
  node_ = std::make_unique<node::Node>(
      node_limits(settings_), units_,
      [this, epoch](order::Host& host) { return make_engine(epoch, host); }, transport, sink);
}

void Runtime::start(Instant now) {
  if (trace_ != nullptr) trace_->start(node_->self());
  if (settings_.insecure) application_.on_warning(std::string(kInsecureText));
  for (const std::string& each : start_warnings_) application_.on_warning(each);
  node_->start(now);
}

Result<std::uint64_t> Runtime::enqueue(ByteView payload, Service service, order::Domain domain) {
  const auto number = node_->enqueue(payload, service, domain);
  if (number && trace_ != nullptr) trace_->submit(*number, service, payload, domain);
  return number;
}

Result<std::uint64_t> Runtime::submit_control(ByteView payload, Service service) {
  return node_->submit_control(payload, service);
}

Result<std::uint64_t> Runtime::submit_lent(ByteView payload, Service service,
                                           order::Domain domain) {
  const auto number = node_->submit_lent(payload, service, domain);
  if (number && trace_ != nullptr) trace_->submit(*number, service, payload, domain);
  return number;
}

Result<std::uint64_t> Runtime::submit_block(node::Gathered& message, Service service,
                                            order::Domain domain) {
  // The block keeps its address when the node takes it, and stays until its message is ordered.
  const ByteView payload{message.bytes.get(), message.size};
  const auto number = node_->submit_block(message, service, domain);
  if (number && trace_ != nullptr) trace_->submit(*number, service, payload, domain);
  return number;
}

void Runtime::leave(Instant now) {
  node_->leave(now);
  if (trace_ != nullptr) trace_->leave();
}

bool Runtime::buffers_are_short() const {
  return received_.free_count() < received_.slab_count() / 4 ||
         units_.free_count() < units_.slab_count() / 4;
}

void Runtime::on_timer(Instant now) {
  if (const auto due = node_->next_deadline(); due && *due <= now) node_->on_timer(now);
  if (const auto due = udp_->next_deadline(); due && *due <= now) udp_->on_timer(now);
  if (const auto due = addresses_->next_deadline(); due && *due <= now) {
    addresses_->on_timer(now, [this](const io::AddressBook::Change& change) {
      if (change.entry.at != change.before) udp_->set_address(change.entry.node, change.entry.at);
      application_.on_address(change);
    });
  }
}

// An unknown sender may be a node that has moved.
void Runtime::look_for_strangers(Instant now) {
  const std::uint64_t strangers = udp_->counters().drop_unknown_source;
  if (std::exchange(strangers_, strangers) != strangers) addresses_->on_strangers(now);
}

void Runtime::on_turn_end(Instant now) {
  now_ = now;
  if (addresses_->has_names()) look_for_strangers(now);
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
  application_.on_publish();
  udp_->flush();
  if (settings_.streams) watch_streams(now);
}

NodeId Runtime::congested() const {
  const NodeId slow = udp_->congested();
  held_ = held_ || slow != NodeId{};
  return slow;
}

void Runtime::watch_streams(Instant now) {
  // New units were held back because of a congested peer: they continue once it has caught up.
  if (held_ && udp_->congested() == NodeId{}) {
    held_ = false;
    node_->on_room(now);
    udp_->flush();
  }
  unreached_.look(
      now, [this] { return udp_->streams(); },
      [this](const io::StreamState& state) {
        application_.on_warning(unreached_text(state, names_));
      });
}

std::optional<Instant> Runtime::next_deadline() const {
  std::optional<Instant> first;
  for (const auto& each : {node_->next_deadline(), udp_->next_deadline(),
                           addresses_->next_deadline(), application_.next_deadline()}) {
    if (each && (!first || *each < *first)) first = each;
  }
  return first;
}

void Runtime::on_packet(Instant now, NodeId from, Lane lane, const BufferRef& packet) {
  unreached_.heard(from);
  node_->on_packet(now, lane, packet);
}

void Runtime::on_refused(Instant now, NodeId from, const seal::Opened& refused) {
  if (refused.reason == seal::Refusal::old_incarnation && refused.newest.epoch != 0) {
    node_->on_old_incarnation(now, refused.newest);
  }
  const std::uint32_t bit = 1U << static_cast<unsigned>(refused.reason);
  std::uint32_t& said = refused_said_[from];
  if ((said & bit) != 0) return;
  said |= bit;
  const std::string text = refused_text(from, refused.reason, names_);
  if (text.empty()) return;
  refused_[from] = text;
  application_.on_warning(text);
}

void Runtime::set_keys(const seal::Keys& keys) {
  settings_.keys = keys;
  udp_->set_keys(keys);
  refused_said_.clear();
  refused_.clear();
}

std::vector<std::pair<NodeId, std::string>> Runtime::missing() const {
  std::vector<std::pair<NodeId, std::string>> missing;
  for (const config::NodeEntry& node : settings_.nodes) {
    const bool here = std::any_of(members_.begin(), members_.end(),
                                  [&](const MemberId& each) { return each.node == node.number; });
    if (here || node.number == settings_.self()) continue;
    const auto why = refused_.find(node.number);
    missing.emplace_back(node.number, why == refused_.end() ? std::string() : why->second);
  }
  return missing;
}

std::optional<seal::KeyId> Runtime::sending_key() const {
  if (!settings_.keys) return std::nullopt;
  return settings_.keys->sending;
}

void Runtime::on_message(const node::Message& message) {
  if (trace_ != nullptr && !node::is_control(message.number)) trace_->deliver(message);
  application_.on_message(message);
}

void Runtime::on_early(const node::Message& message) {
  if (trace_ != nullptr && !node::is_control(message.number)) trace_->early(message);
  application_.on_early(message);
}

void Runtime::on_view(const order::View& view) {
  if (trace_ != nullptr) trace_->view(view);
  if (view.transitional) {
    why_passage_ = passage_text(members_, view.members, names_);
  } else {
    addresses_->set_present(now_, view.members);
    members_.assign(view.members.begin(), view.members.end());
    for (const MemberId& each : members_) {
      refused_.erase(each.node);
      refused_said_.erase(each.node);
    }
  }
  application_.on_view(view);
}

void Runtime::on_originate(std::uint64_t number, const ViewId& view, Seq seq, std::uint32_t index,
                           Service service) {
  if (trace_ != nullptr && !node::is_control(number)) {
    trace_->originate(number, view, seq, index, service);
  }
  application_.on_originate(number, view, seq, index, service);
}

void Runtime::on_event(const order::Event& event) {
  if (event.kind == &order::event::epoch_corrected) on_epoch_corrected(event.a);
  // The peers' data may be in use now; at the end of the turn it is not.
  if (event.kind == &order::event::nodes_adopted) nodes_adopted_ = true;
  if (event.kind == &order::event::nodes_not_given) {
    application_.on_warning(
        "the others go by another list of nodes now than this node was given: give it that one "
        "(peal reload)");
  }
  if (event.kind == &order::event::incompatible_peer && event.who != MemberId{}) {
    refused_[event.who.node] =
        incompatible_text(event.who, static_cast<wire::Drop>(event.a), names_);
  }
  if (event.kind == &order::event::owed_dropped) {
    application_.on_warning(owed_text(event, names_));
  }
  if (event.kind == &order::event::votes_forgotten) {
    application_.on_warning(std::string(kForgottenText));
  }
  if (event.kind == &order::event::acceptor_renewed) {
    const NodeId node = event.who.node;
    application_.on_warning(renewed_text(node, node == settings_.self(), names_));
  }
  if (event.kind == &order::event::log_put_back) {
    const bool own = event.who.node == settings_.self();
    application_.on_warning(own ? put_back_text(settings_.data_dir + "/" + settings_.name)
                                : put_back_text(event.who.node, names_));
  }
  application_.on_event(event);
}

void Runtime::on_fatal(std::string_view reason) {
  // The engine knows that its log failed; the log knows which file, and why.
  const bool lost = log_ != nullptr && log_->failure();
  application_.on_fatal(std::string(reason) + (lost ? ": " + log_->failure()->message : ""));
}

void Runtime::on_epoch_corrected(std::uint64_t epoch) {
  udp_->set_epoch(epoch);
  if (trace_ != nullptr) trace_->start({settings_.self(), epoch});
  if (const auto stored = io::store_epoch(state_file_, epoch); !stored) {
    application_.on_warning(stored.error().message);
  }
}

void Runtime::send(NodeId to, Lane lane, const BufferRef& packet) {
  if (trace_ != nullptr) trace_->flush();
  udp_->send(to, lane, packet);
}

void Runtime::multicast(Lane lane, const BufferRef& packet) {
  if (trace_ != nullptr) trace_->flush();
  udp_->multicast(lane, packet);
}

}  // namespace peal::runtime
