// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/bytes.h"
#include "base/ids.h"
#include "io/fabric/options.h"
#include "seal/channel.h"

// How a connection begins. The writer connects to the owner, and both prove that they have the
// cluster's key:
//
//   writer: hello    who it is, whom it wants, which key, fresh random bytes
//   owner:  welcome  which incarnation it is, fresh random bytes; or: refused, and why
//   writer: ready    the first sealed frame
//   owner:  ready    the first sealed frame
//
// Both derive the secrets of the connection from the key, the hello and the welcome. So a frame
// that can be opened proves that its sender has the key, is the process that it says, and answers
// now. Without a key nothing is sealed, and what the other side says is believed.

namespace peal::io::fabric {

inline constexpr std::size_t kFreshBytes = 16;
using Fresh = std::array<std::byte, kFreshBytes>;
inline constexpr std::size_t kHelloBytes = 56;
inline constexpr std::size_t kWelcomeBytes = 36;
inline constexpr std::size_t kRefusedBytes = 8;
inline constexpr std::size_t kHandshakeBytesMax = kHelloBytes;

struct Hello {
  Kind fabric = Kind::tcp;
  std::uint32_t key{};  ///< the id of a key
  bool sealed = false;  ///< `key` is to be used
  std::uint64_t cluster{};
  MemberId writer{};
  NodeId owner{};
  Fresh fresh{};
};

struct Welcome {
  MemberId owner{};
  Fresh fresh{};
};

/// Why an owner refuses a writer.
enum class Refusal : std::uint8_t {
  version = 1,  ///< another version of the protocol
  other_cluster,
  other_node,    ///< the hello is for another node
  unknown_node,  ///< the writer is not one of the peers
  unknown_key,
  key_missing,      ///< the owner has a key, the writer uses none
  key_unwanted,     ///< the other way round
  old_incarnation,  ///< a later incarnation of the writer is connected
  other_fabric,     ///< for tcp on a Unix socket, or the other way round
  no_verbs,         ///< the owner does not use RDMA
  other_settings,   ///< the same cluster, with other cluster-wide settings
};

void encode_hello(const Hello& hello, ByteSpan out);
void encode_welcome(const Welcome& welcome, ByteSpan out);
void encode_refused(Refusal why, ByteSpan out);

/// What an owner finds in a hello. `version` if another version sent it, other_cluster if it is not
/// a hello at all.
struct HelloOrRefusal {
  std::optional<Hello> hello;
  Refusal why = Refusal::version;
};
HelloOrRefusal decode_hello(ByteView bytes);

/// What a writer finds in the answer; neither if it makes no sense.
struct HelloAnswer {
  std::optional<Welcome> welcome;
  std::optional<Refusal> refused;
};
HelloAnswer decode_answer(ByteView bytes);

/// Judges a hello that came on a Unix socket (shm) or by TCP (tcp). Nothing if it is good.
std::optional<Refusal> judge_hello(const Hello& hello, Kind socket, const Options& options,
                                   bool has_verbs);

Hello make_hello(const Options& options, NodeId owner, Kind fabric);
Fresh fresh_bytes();

/// The secrets of a connection; `key` is the id in the hello, which the options contain.
seal::ChannelSecrets secrets_of(const Options& options, std::uint32_t key, ByteView hello,
                                ByteView welcome);

/// A line for people: why the peer at `where` refused this process, and the remedy.
std::string text_of(Refusal why, const std::string& where, const Options& options);

}  // namespace peal::io::fabric
