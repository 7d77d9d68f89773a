// SPDX-License-Identifier: Apache-2.0
#include "sim/baselines/whitebox/store.h"

#include <utility>

namespace peal::sim::genuine::whitebox {

Message* Store::find(const Head& head) {
  const auto known = streams_.find(head.sender);
  if (known == streams_.end()) return nullptr;
  Stream& stream = known->second;
  const std::uint64_t index = index_of(head);
  Message* message = nullptr;
  if (index > stream.ordered) {
    const auto open = stream.open.find(index);
    if (open != stream.open.end()) message = &open->second;
  } else if (stream.ordered - index < stream.places.size()) {
    const std::uint64_t place = stream.places[stream.places.size() - 1 - (stream.ordered - index)];
    message = &order_[place - first_];
  }
  const bool same =
      message != nullptr && message->head.number == head.number && message->head.to == head.to;
  return same ? message : nullptr;
}

Message* Store::know(const Head& head) {
  Stream& stream = stream_of(head);
  const std::uint64_t index = index_of(head);
  if (index > stream.ordered && index <= stream.ordered + kOpenMax) {
    const auto [open, fresh] = stream.open.try_emplace(index);
    if (fresh) open->second.head = head;
  }
  return find(head);
}

void Store::adopt(Ballot ballot, const std::vector<Message>& base) {
  for (auto& [sender, stream] : streams_) {
    stream.accepted = stream.ordered;
    for (auto& [index, message] : stream.open) {
      message.stamp = message.key = 0;
      message.acks.clear();
    }
  }
  for (const Message& each : base) {
    if (is_ordered(each.head)) continue;
    Message* message = know(each.head);
    if (message == nullptr) continue;
    if (message->body == nullptr) message->body = each.body;
    message->stamp = each.stamp;
    message->proposals[domain_] = {ballot, each.stamp};
    raise(each.stamp);
    Stream& stream = stream_of(each.head);
    stream.accepted = std::max(stream.accepted, index_of(each.head));
  }
}

void Store::append(Message message) {
  Stream& stream = stream_of(message.head);
  const std::uint64_t index = index_of(message.head);
  stream.ordered = std::max(stream.ordered, index);
  stream.accepted = std::max(stream.accepted, index);
  stream.open.erase(index);
  raise(message.key);
  message.acks.clear();
  order_.push_back(std::move(message));
  stream.places.push_back(tip());
}

void Store::trim(std::uint64_t needed) {
  while (order_.size() > retain_ && first_ <= std::min(applied_, needed)) {
    Stream& stream = stream_of(order_.front().head);
    if (!stream.places.empty()) stream.places.pop_front();
    order_.pop_front();
    ++first_;
  }
}

}  // namespace peal::sim::genuine::whitebox
