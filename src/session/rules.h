// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "session/options.h"

namespace peal::session {

/// A person to whom rules apply: the identity from the operating system or TLS, and the secret that
/// the client sent.
struct Person {
  Identity identity;
  std::string secret;
};
bool same_person(const Person& a, const Person& b);
/// A text for logs and status, for example "user ann (1000)", "certificate feed.example".
std::string person_text(const Person& person);
/// A name in quotes, for texts that people read.
inline std::string quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

bool fits(const Who& who, const Person& person);
using group::fits;

/// The first rule that allows the person a session of this name (empty: of any name); null: none.
const ClientRule* find_rule(const Options& options, const Person& person, std::string_view name);
/// True if some rule for clients has this secret.
bool knows_secret(const Options& options, std::string_view secret);

enum class GroupWish : std::uint8_t { join, send, block };
bool may(const Options& options, const Person& person, GroupWish wish, std::string_view target);

}  // namespace peal::session
