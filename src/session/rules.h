// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "session/options.h"

namespace peal::session {

/// Somebody that rules are about: who the operating system or TLS says it is, and what secret it
/// told.
struct Person {
  Identity identity;
  std::string secret;
};
bool same_person(const Person& a, const Person& b);
/// "user ann (1000)", "certificate feed.example": for logs and status.
std::string person_text(const Person& person);
/// A name as texts for people show it.
inline std::string quoted(std::string_view name) { return "'" + std::string(name) + "'"; }

bool fits(const Who& who, const Person& person);
using group::fits;

/// The first rule that fits a client who wishes for the name (empty: any will do); or null.
const ClientRule* find_rule(const Options& options, const Person& person, std::string_view name);
/// True if any rule knows the secret.
bool knows_secret(const Options& options, std::string_view secret);

enum class GroupWish : std::uint8_t { join, send, block };
bool may(const Options& options, const Person& person, GroupWish wish, std::string_view target);

}  // namespace peal::session
