// SPDX-License-Identifier: Apache-2.0
#include "member/reader.h"

#include <utility>

#include "base/assert.h"
#include "trace/json.h"

namespace peal::member {
namespace {

/// Texts of senders that are kept; more than this means that nodes restarted very often.
constexpr std::size_t kSendersMax = 1'024;

}  // namespace

Reader::Reader(EventQueue& queue, const trace::Names& names, std::uint32_t message_bytes_max)
    : queue_(queue), names_(names), message_bytes_max_(message_bytes_max) {}

Reader::Out Reader::next() {
  while (true) {
    MessageOut message;
    if (next_message(message)) return message;
    release_current();
    std::optional<Entry> entry = queue_.pop();
    if (!entry) return std::monostate{};
    if (entry->notice != nullptr) {
      room_ = queue_.released(0) || room_;
      return std::move(entry->notice);
    }
    current_ = std::move(entry->unit);
    current_bytes_ = current_.bytes_held();
    // The node has decoded these very bytes, with the same verdict.
    const wire::Drop drop =
        node::decode_unit(current_.bytes(), current_.service, message_bytes_max_, chunks_);
    PEAL_ASSERT(drop == wire::Drop::none);
    position_ = 0;
    index_ = 0;
  }
}

bool Reader::next_message(MessageOut& out) {
  while (position_ < chunks_.size()) {
    const node::Chunk& chunk = chunks_[position_++];
    if (!chunk.last) continue;
    const std::uint32_t index = index_++;
    if (!chunk.first && current_.gathered.bytes == nullptr) continue;  // its start is missing
    auto sender = senders_.find(current_.sender);
    if (sender == senders_.end()) {
      if (senders_.size() == kSendersMax) senders_.clear();
      sender = senders_.emplace(current_.sender, trace::text_of(current_.sender, names_)).first;
    }
    if (view_ != current_.view || view_text_.empty()) {
      view_ = current_.view;
      view_text_ = trace::text_of(view_, names_);
    }
    out.sender = sender->second;
    out.own = current_.own;
    out.number = chunk.number;
    out.service = chunk.service;
    out.payload =
        chunk.first ? chunk.bytes : ByteView{current_.gathered.bytes.get(), current_.gathered.size};
    out.view = view_text_;
    out.seq = current_.seq;
    out.index = index;
    out.transitional = current_.transitional;
    return true;
  }
  return false;
}

void Reader::release_current() {
  chunks_.clear();
  position_ = 0;
  if (current_bytes_ == 0) return;
  current_ = {};
  room_ = queue_.released(std::exchange(current_bytes_, 0)) || room_;
}

}  // namespace peal::member
