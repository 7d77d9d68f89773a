// SPDX-License-Identifier: Apache-2.0
#include "member/requests.h"

#include <utility>

namespace peal::member {

Result<void, Errc> Requests::ask_keys(seal::Keys keys) {
  const std::lock_guard lock(mutex_);
  if (ended_) return unexpected(Errc::closed);
  keys_ = std::move(keys);
  return {};
}

Result<void, Errc> Requests::ask_nodes(config::Listing nodes) {
  const std::lock_guard lock(mutex_);
  if (ended_) return unexpected(Errc::closed);
  nodes_answer_.reset();
  nodes_ = std::move(nodes);
  return {};
}

bool Requests::nodes_answered() const {
  const std::lock_guard lock(mutex_);
  return nodes_answer_.has_value();
}

std::optional<std::string> Requests::wait_for_nodes() {
  std::unique_lock lock(mutex_);
  answered_.wait(lock, [&] { return ended_ || nodes_answer_; });
  return nodes_answer_;
}

std::uint64_t Requests::ask_status() {
  const std::lock_guard lock(mutex_);
  return ++status_asked_;
}

runtime::Snapshot Requests::wait_for_status(std::uint64_t question) {
  std::unique_lock lock(mutex_);
  answered_.wait(lock, [&] { return ended_ || status_answered_ >= question; });
  return status_;
}

void Requests::ask_leave(std::chrono::milliseconds patience) {
  const std::lock_guard lock(mutex_);
  if (!leave_ || patience < *leave_) leave_ = patience;
}

std::string Requests::id() const {
  const std::lock_guard lock(mutex_);
  return id_;
}

std::optional<seal::Keys> Requests::take_keys() {
  const std::lock_guard lock(mutex_);
  return std::exchange(keys_, std::nullopt);
}

std::optional<config::Listing> Requests::take_nodes() {
  const std::lock_guard lock(mutex_);
  return std::exchange(nodes_, std::nullopt);
}

void Requests::answer_nodes(std::string why_not) {
  const std::lock_guard lock(mutex_);
  nodes_answer_ = std::move(why_not);
  answered_.notify_all();
}

std::optional<std::uint64_t> Requests::open_status_question() const {
  const std::lock_guard lock(mutex_);
  if (status_asked_ == status_answered_ || keys_) return std::nullopt;
  return status_asked_;
}

void Requests::answer_status(std::uint64_t question, runtime::Snapshot status) {
  const std::lock_guard lock(mutex_);
  status_ = std::move(status);
  status_answered_ = question;
  answered_.notify_all();
}

std::optional<std::chrono::milliseconds> Requests::take_leave() {
  const std::lock_guard lock(mutex_);
  return std::exchange(leave_, std::nullopt);
}

void Requests::set_id(std::string id) {
  const std::lock_guard lock(mutex_);
  id_ = std::move(id);
}

void Requests::end(runtime::Snapshot status) {
  const std::lock_guard lock(mutex_);
  status_ = std::move(status);
  ended_ = true;
  answered_.notify_all();
}

}  // namespace peal::member
