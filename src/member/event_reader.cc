// SPDX-License-Identifier: Apache-2.0
#include "member/event_reader.h"

#include <utility>

#include "base/assert.h"
#include "trace/json.h"

namespace peal::member {
namespace {

/// Maximum number of cached texts of senders: more senders mean that nodes restart very often.
constexpr std::size_t kSendersMax = 1'024;

}  // namespace

EventReader::EventReader(EventQueue& queue, trace::Names names, std::uint32_t message_bytes_max)
    : queue_(queue), names_(std::move(names)), message_bytes_max_(message_bytes_max) {}

EventReader::Out EventReader::next() {
  // Construct the result in place: moving a message takes longer than finding the message.
  Out out(std::in_place_type<MessageOut>);
  while (true) {
    if (next_message(std::get<MessageOut>(out))) return out;
    release_current();
    Entry* entry = queue_.front();
    if (entry == nullptr) {
      out.emplace<std::monostate>();
      return out;
    }
    if (entry->notice != nullptr && entry->notice->kind == Notice::Kind::names) {
      for (const auto& [node, name] : entry->notice->names) names_.replace(node, name);
      queue_.pop();
      continue;
    }
    if (entry->notice != nullptr) {
      auto& notice = out.emplace<std::unique_ptr<Notice>>(std::move(entry->notice));
      if (notice->kind == Notice::Kind::view) {
        // In a transitional view, the last messages of the old view are delivered: `view_` stays.
        transitional_ = notice->transitional;
        if (!transitional_) view_ = trace::text_of(notice->id, names_);
      }
      queue_.pop();
      return out;
    }
    open(entry->unit);
  }
}

void EventReader::open(const DeliveredUnit& unit) {
  current_ = &unit;
  // The node has decoded the same bytes before, without an error.
  const wire::Drop drop =
      node::decode_unit(unit.bytes(), unit.service, message_bytes_max_, chunks_);
  PEAL_ASSERT(drop == wire::Drop::none);
  position_ = 0;
  index_ = 0;
  auto sender = senders_.find(unit.sender);
  if (sender == senders_.end()) {
    if (senders_.size() == kSendersMax) senders_.clear();
    sender = senders_.emplace(unit.sender, trace::text_of(unit.sender, names_)).first;
  }
  sender_ = sender->second;
}

bool EventReader::next_message(MessageOut& out) {
  while (position_ < chunks_.size()) {
    const node::Chunk& chunk = chunks_[position_++];
    if (!chunk.last) continue;
    const std::uint32_t index = index_++;
    const ByteView gathered = current_->gathered();
    if (!chunk.first && gathered.data() == nullptr) continue;  // the message's start is missing
    out.sender = sender_;
    out.own = current_->own;
    out.number = chunk.number;
    out.service = chunk.service;
    out.payload = chunk.first ? chunk.bytes : gathered;
    out.view = view_;
    out.seq = current_->seq;
    out.index = index;
    out.transitional = transitional_;
    out.early = current_->early;
    out.as_guessed = current_->as_guessed;
    out.domains = current_->domains;
    return true;
  }
  return false;
}

void EventReader::release_current() {
  if (current_ == nullptr) return;
  chunks_.clear();
  position_ = 0;
  current_ = nullptr;
  queue_.pop();
}

}  // namespace peal::member
