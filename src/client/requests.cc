// SPDX-License-Identifier: Apache-2.0
#include "client/requests.h"

#include <utility>

namespace peal::client {

void Requests::add(std::uint32_t number, wire::RecordKind kind, std::vector<std::byte> record,
                   std::optional<Answer> answer) {
  Request made;
  made.kind = kind;
  made.record = std::move(record);
  made.answer = std::move(answer);
  requests_.emplace(number, std::move(made));
}

std::optional<Answer> Requests::take_answer(std::uint32_t number) {
  const auto found = requests_.find(number);
  if (found == requests_.end() || !found->second.answer) return std::nullopt;
  std::optional<Answer> answer = std::move(found->second.answer);
  requests_.erase(found);
  return answer;
}

void Requests::note_written(std::uint32_t number) {
  const auto request = requests_.find(number);
  if (request != requests_.end()) request->second.written = true;
}

void Requests::answer(const wire::Reply& reply) {
  const auto found = requests_.find(reply.request);
  if (found == requests_.end() || found->second.answer) return;
  Request& request = found->second;
  // True if the daemon carried out the first copy of the request, but its reply was lost with the
  // connection.
  const bool done =
      request.repeated &&
      ((request.kind == wire::RecordKind::join && reply.code == wire::ClientCode::member_already) ||
       (request.kind == wire::RecordKind::leave && reply.code == wire::ClientCode::no_member));
  request.answer = Answer{done ? wire::ClientCode::ok : reply.code, std::string(reply.text)};
}

void Requests::resume() {
  for (auto& [number, request] : requests_) request.repeated = request.written;
}

void Requests::end(const std::string& why) {
  for (auto& [number, request] : requests_) {
    if (!request.answer) request.answer = Answer{wire::ClientCode::session_lost, why};
  }
}

void Requests::each_open(
    const std::function<void(std::uint32_t, const std::vector<std::byte>&)>& use) const {
  for (const auto& [number, request] : requests_) {
    if (!request.answer) use(number, request.record);
  }
}

}  // namespace peal::client
