// SPDX-License-Identifier: Apache-2.0
#include "member/deliveries.h"

#include <cstring>
#include <memory>
#include <utility>

#include "base/assert.h"

namespace peal::member {

void Deliveries::begin_unit(const order::Delivery& delivery) {
  begin(delivery);
  unit_.as_guessed = delivery.guess != 0 && delivery.guess == delivery.seq;
}

void Deliveries::begin_early_unit(const order::Delivery& early) {
  begin(early);
  unit_.early = true;
}

void Deliveries::begin(const order::Delivery& delivery) {
  push_unit();
  unit_.sender = delivery.origin;
  unit_.own = delivery.origin == runtime_->node().self();
  PEAL_ASSERT(delivery.view == view_ && delivery.transitional == transitional_);
  unit_.seq = delivery.seq;
  unit_.service = delivery.service;
  unit_.domains = delivery.domains;
  unit_.unit = delivery.unit;
}

void Deliveries::add(const node::Message& message) {
  PEAL_ASSERT(message.seq == unit_.seq && message.view == view_);
  unit_has_messages_ = true;
  if (message.gathered != nullptr) unit_.make_rare().gathered = std::move(*message.gathered);
  if (unit_.own && !unit_.early) own_delivered_ = message.number;
}

void Deliveries::push_unit() {
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

void Deliveries::push(Notice notice) {
  push_unit();
  queue_.push(Entry{{}, std::make_unique<Notice>(std::move(notice))});
}

void Deliveries::push_view(const order::View& view) {
  Notice notice;
  notice.kind = Notice::Kind::view;
  notice.transitional = view.transitional;
  notice.id = view.id;
  notice.old = view.old;
  notice.members.assign(view.members.begin(), view.members.end());
  notice.primary = view.primary;
  notice.text = runtime_->view_cause().text();
  transitional_ = view.transitional;
  if (!view.transitional) {
    view_ = view.id;
    members_ = notice.members;
  }
  push(std::move(notice));
}

void Deliveries::push_warning(const std::string& text) {
  Notice notice;
  notice.kind = Notice::Kind::warning;
  notice.text = text;
  push(std::move(notice));
}

}  // namespace peal::member
