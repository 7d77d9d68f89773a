// SPDX-License-Identifier: Apache-2.0
#include "io/fabric/hello.h"

#include <algorithm>

#include "base/assert.h"
#include "seal/random.h"

namespace peal::io::fabric {
namespace {

constexpr std::uint32_t kHelloMagic = 0x664d'4c50;  // "PLMf"
constexpr std::uint8_t kHelloVersion = 1;
enum class Step : std::uint8_t { hello = 1, welcome, refused };

// Offsets. All messages begin with the magic number, the version and the step.
constexpr std::size_t kVersionAt = 4;
constexpr std::size_t kStepAt = 5;
constexpr std::size_t kDetailAt = 6;  // hello: the fabric; refused: why
constexpr std::size_t kSealedAt = 7;
constexpr std::size_t kKeyAt = 8;
constexpr std::size_t kClusterAt = 12;
constexpr std::size_t kWriterNodeAt = 20;
constexpr std::size_t kWriterEpochAt = 24;
constexpr std::size_t kOwnerAt = 32;
constexpr std::size_t kHelloFreshAt = 36;
constexpr std::size_t kWelcomeNodeAt = 8;
constexpr std::size_t kWelcomeEpochAt = 12;
constexpr std::size_t kWelcomeFreshAt = 20;
static_assert(kWelcomeFreshAt + kFreshBytes == kWelcomeBytes);
static_assert(kHelloFreshAt + kFreshBytes + sizeof(std::uint32_t) == kHelloBytes);

void begin(Step step, std::uint8_t detail, ByteSpan out) {
  std::fill(out.begin(), out.end(), std::byte{0});
  store(out, kHelloMagic);
  store(out.subspan(kVersionAt), kHelloVersion);
  store(out.subspan(kStepAt), static_cast<std::uint8_t>(step));
  store(out.subspan(kDetailAt), detail);
}

std::uint8_t byte_at(ByteView bytes, std::size_t at) {
  return peal::load<std::uint8_t>(bytes.subspan(at));
}
bool has_step(ByteView bytes, Step step) {
  return peal::load<std::uint32_t>(bytes) == kHelloMagic &&
         byte_at(bytes, kStepAt) == static_cast<std::uint8_t>(step);
}
Fresh fresh_at(ByteView bytes, std::size_t at) {
  Fresh fresh;
  std::copy_n(bytes.subspan(at).begin(), kFreshBytes, fresh.begin());
  return fresh;
}

}  // namespace

void encode_hello(const Hello& hello, ByteSpan out) {
  PEAL_ASSERT(out.size() == kHelloBytes);
  begin(Step::hello, static_cast<std::uint8_t>(hello.fabric), out);
  store(out.subspan(kSealedAt), std::uint8_t{hello.sealed});
  store(out.subspan(kKeyAt), hello.key);
  store(out.subspan(kClusterAt), hello.cluster);
  store(out.subspan(kWriterNodeAt), hello.writer.node.value);
  store(out.subspan(kWriterEpochAt), hello.writer.epoch);
  store(out.subspan(kOwnerAt), hello.owner.value);
  std::copy(hello.fresh.begin(), hello.fresh.end(), out.subspan(kHelloFreshAt).begin());
}

void encode_welcome(const Welcome& welcome, ByteSpan out) {
  PEAL_ASSERT(out.size() == kWelcomeBytes);
  begin(Step::welcome, 0, out);
  store(out.subspan(kWelcomeNodeAt), welcome.owner.node.value);
  store(out.subspan(kWelcomeEpochAt), welcome.owner.epoch);
  std::copy(welcome.fresh.begin(), welcome.fresh.end(), out.subspan(kWelcomeFreshAt).begin());
}

void encode_refused(Refusal why, ByteSpan out) {
  PEAL_ASSERT(out.size() == kRefusedBytes);
  begin(Step::refused, static_cast<std::uint8_t>(why), out);
}

HelloOrRefusal decode_hello(ByteView bytes) {
  if (bytes.size() < kRefusedBytes || !has_step(bytes, Step::hello)) {
    return {std::nullopt, Refusal::other_cluster};
  }
  const std::uint8_t fabric = byte_at(bytes, kDetailAt);
  const std::uint8_t sealed = byte_at(bytes, kSealedAt);
  if (byte_at(bytes, kVersionAt) != kHelloVersion || bytes.size() != kHelloBytes || sealed > 1 ||
      fabric == 0 || fabric > static_cast<std::uint8_t>(Kind::verbs) ||
      peal::load<std::uint32_t>(bytes.last(4)) != 0) {
    return {std::nullopt, Refusal::version};
  }
  Hello hello;
  hello.fabric = static_cast<Kind>(fabric);
  hello.sealed = sealed == 1;
  hello.key = peal::load<std::uint32_t>(bytes.subspan(kKeyAt));
  hello.cluster = peal::load<std::uint64_t>(bytes.subspan(kClusterAt));
  hello.writer = {{peal::load<std::uint32_t>(bytes.subspan(kWriterNodeAt))},
                  peal::load<std::uint64_t>(bytes.subspan(kWriterEpochAt))};
  hello.owner = {peal::load<std::uint32_t>(bytes.subspan(kOwnerAt))};
  hello.fresh = fresh_at(bytes, kHelloFreshAt);
  return {hello, {}};
}

HelloAnswer decode_answer(ByteView bytes) {
  HelloAnswer answer;
  if (bytes.size() == kWelcomeBytes && has_step(bytes, Step::welcome) &&
      byte_at(bytes, kVersionAt) == kHelloVersion && byte_at(bytes, kDetailAt) == 0 &&
      byte_at(bytes, kSealedAt) == 0) {
    answer.welcome = Welcome{{{peal::load<std::uint32_t>(bytes.subspan(kWelcomeNodeAt))},
                              peal::load<std::uint64_t>(bytes.subspan(kWelcomeEpochAt))},
                             fresh_at(bytes, kWelcomeFreshAt)};
  }
  // A refusal is understood whatever the version.
  if (bytes.size() == kRefusedBytes && has_step(bytes, Step::refused)) {
    const std::uint8_t why = byte_at(bytes, kDetailAt);
    const bool known = why >= static_cast<std::uint8_t>(Refusal::version) &&
                       why <= static_cast<std::uint8_t>(Refusal::other_settings);
    answer.refused = known ? static_cast<Refusal>(why) : Refusal::version;
  }
  return answer;
}

std::optional<Refusal> judge_hello(const Hello& hello, Kind socket, const Options& options,
                                   bool has_verbs) {
  if (hello.cluster != options.cluster) {
    const bool same_name = hello.cluster >> 32 == options.cluster >> 32;
    return same_name ? Refusal::other_settings : Refusal::other_cluster;
  }
  const bool is_for_verbs = hello.fabric == Kind::verbs && socket == Kind::tcp;
  if (is_for_verbs && !has_verbs) return Refusal::no_verbs;
  if (hello.fabric != socket && !is_for_verbs) return Refusal::other_fabric;
  if (hello.fabric == Kind::tcp && options.choice == Choice::verbs) return Refusal::other_fabric;
  if (hello.owner != options.self.node) return Refusal::other_node;
  const bool known = std::any_of(options.peers.begin(), options.peers.end(),
                                 [&](const Peer& peer) { return peer.node == hello.writer.node; });
  if (!known) return Refusal::unknown_node;
  if (hello.sealed && !options.keys) return Refusal::key_unwanted;
  if (!hello.sealed && options.keys) return Refusal::key_missing;
  if (hello.sealed && options.keys->find({hello.key}) == nullptr) return Refusal::unknown_key;
  return std::nullopt;
}

Hello make_hello(const Options& options, NodeId owner, Kind fabric) {
  Hello hello;
  hello.fabric = fabric;
  hello.sealed = options.keys.has_value();
  hello.key = options.keys ? options.keys->sending.value : 0;
  hello.cluster = options.cluster;
  hello.writer = options.self;
  hello.owner = owner;
  hello.fresh = fresh_bytes();
  return hello;
}

Fresh fresh_bytes() {
  static_assert(kFreshBytes == seal::kSaltBytes);
  return seal::random_salt();
}

seal::ChannelSecrets secrets_of(const Options& options, std::uint32_t key, ByteView hello,
                                ByteView welcome) {
  PEAL_ASSERT(options.keys);
  const seal::Key* found = options.keys->find({key});
  PEAL_ASSERT(found != nullptr);
  std::array<std::byte, kHelloBytes + kWelcomeBytes> transcript{};
  static_assert(sizeof transcript <= seal::kTranscriptBytesMax);
  PEAL_ASSERT(hello.size() == kHelloBytes && welcome.size() == kWelcomeBytes);
  std::copy(welcome.begin(), welcome.end(),
            std::copy(hello.begin(), hello.end(), transcript.begin()));
  return seal::derive_channel(*found, transcript);
}

std::string text_of(Refusal why, const std::string& where, const Options& options) {
  const auto line = [&](const std::string& text) { return where + ": " + text; };
  switch (why) {
    case Refusal::version: return line("it has another version of Peal: install the same on both");
    case Refusal::other_cluster:
      return line("it belongs to another cluster: give both nodes the same `cluster`");
    case Refusal::other_settings:
      return line("its cluster-wide settings differ: the logs of both nodes name them");
    case Refusal::other_node:
      return line("it is another node: compare the addresses of the nodes in both configurations");
    case Refusal::unknown_node:
      return line("it does not know node " + std::to_string(options.self.node.value) +
                  ": give both nodes the same list of nodes");
    case Refusal::unknown_key:
      return line("it does not have key " +
                  (options.keys ? seal::to_text(options.keys->sending) : std::string("-")) +
                  ": give both nodes the same key_file");
    case Refusal::key_missing:
      return line("it has a key, and this node has none: give both nodes the same key_file");
    case Refusal::key_unwanted:
      return line("it has no key, and this node has one: give both nodes the same key_file");
    case Refusal::old_incarnation:
      return line("it knows a later incarnation of node " +
                  std::to_string(options.self.node.value) +
                  ": stop the other process with that number");
    case Refusal::other_fabric: return line("it expects another fabric at this address");
    case Refusal::no_verbs: return line("it does not use RDMA: its own status says why");
  }
  return line("refused");
}

const char* kind_name(Kind kind) {
  switch (kind) {
    case Kind::none: return "none";
    case Kind::shm: return "shm";
    case Kind::tcp: return "tcp";
    case Kind::verbs: return "verbs";
  }
  return "none";
}

}  // namespace peal::io::fabric
