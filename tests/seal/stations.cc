// SPDX-License-Identifier: Apache-2.0
#include "stations.h"

#include "base/assert.h"

namespace peal::seal::test {

Bytes bytes_of(std::string_view text) {
  const ByteView view = as_bytes_view(text);
  return {view.begin(), view.end()};
}

Bytes bytes_of_hex(std::string_view text) {
  Bytes bytes(text.size() / 2);
  PEAL_ASSERT(from_hex(text, bytes));
  return bytes;
}

Key test_key(std::uint8_t n) {
  Secret secret;
  for (std::byte& each : secret.bytes) each = std::byte{n++};
  return make_key(secret, "2026-11-22T09:00:00Z");
}

Keys keys_of(std::initializer_list<std::uint8_t> numbers) {
  Keys keys;
  for (const std::uint8_t number : numbers) keys.all.push_back(test_key(number));
  keys.sending = keys.all.front().id;
  return keys;
}

Salt test_salt(std::uint8_t n) {
  Salt salt{};
  for (std::byte& each : salt) each = std::byte{n++};
  return salt;
}

Incarnation incarnation(std::uint32_t node, std::uint64_t epoch, std::uint8_t salt) {
  return {{{node}, epoch}, test_salt(salt)};
}

Sealer sealer(const Incarnation& self, const Keys& keys) { return {keys, kCluster, self}; }

Opener opener(const Keys& keys) {
  const std::vector<NodeId> senders = {{4}, {3}, {2}, {1}};
  return {keys, kCluster, {{9}, 1}, senders};
}

Bytes sealed(Sealer& sealer, Lane lane, std::string_view plain, std::uint32_t to) {
  Bytes packet(plain.size() + overhead(lane));
  PEAL_ASSERT(sealer.seal(lane, {to}, as_bytes_view(plain), packet));
  return packet;
}

Answer open_copy(Opener& opener, const Bytes& packet, Way way) {
  Answer answer;
  answer.storage = packet;
  const Opened opened = opener.open(answer.storage, way);
  answer.reason = opened.reason;
  answer.sender = opened.sender;
  answer.mark = opened.mark;
  answer.plain = as_text(opened.plain);
  return answer;
}

}  // namespace peal::seal::test
