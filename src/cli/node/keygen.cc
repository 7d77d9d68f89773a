// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <string>

#include "cli/commands.h"
#include "cli/node/keys.h"
#include "cli/text.h"
#include "seal/key_file.h"
#include "seal/random.h"

namespace peal::cli {
namespace {

using Outcome = Result<void, std::string>;

std::string now_as_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  ::gmtime_r(&now, &parts);
  std::array<char, 32> text{};
  std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts);
  return text.data();
}

/// Prints the next steps after a change of the key file.
void print_next(const std::string& what) {
  std::printf(
      "Now bring this file to every node, over a way that is safe, and `kill -HUP` those that run. "
      "%s\n",
      what.c_str());
}

Outcome make_file(const std::string& path) {
  const auto made = make_key_file(path);
  if (!made) return unexpected(made.error());
  std::printf("%s: key %s\n", path.c_str(), to_text(*made).c_str());
  print_next("Nobody else may have it.");
  return {};
}

Outcome add_key(const std::string& path, seal::Keys& keys) {
  if (keys.all.size() == seal::kKeysMax) {
    return unexpected(quote(path) + ": --add: has " + std::to_string(seal::kKeysMax) +
                      " keys, and more are not accepted: first --remove one that nobody sends "
                      "with");
  }
  keys.all.push_back(new_key());
  const std::string id = to_text(keys.all.back().id);
  if (auto put = seal::replace_key_file(path, keys); !put) return put;
  std::printf("%s: key %s is new, to accept; key %s is still the one to send with\n", path.c_str(),
              id.c_str(), to_text(keys.sending).c_str());
  print_next("When all use it: peal keygen --use " + id + " " + path);
  return {};
}

/// The error if the key file lacks the key `id`; empty if the file has the key.
std::string unknown_key(const std::string& path, const char* option, seal::KeyId id,
                        const seal::Keys& keys) {
  if (keys.find(id) != nullptr) return {};
  std::vector<std::string> ids;
  for (const seal::Key& key : keys.all) ids.push_back(to_text(key.id));
  return quote(path) + ": " + option + " = " + quote(to_text(id)) + ": accepted are " + joined(ids);
}

Outcome use_key(const std::string& path, seal::KeyId id, seal::Keys& keys) {
  if (auto wrong = unknown_key(path, "--use", id, keys); !wrong.empty()) {
    return unexpected(std::move(wrong));
  }
  const std::string before = to_text(keys.sending);
  keys.sending = id;
  if (auto put = seal::replace_key_file(path, keys); !put) return put;
  std::printf("%s: key %s is the one to send with\n", path.c_str(), to_text(id).c_str());
  print_next(keys.all.size() == 1 || before == to_text(id)
                 ? "Nothing else is to be done."
                 : "When all use it: peal keygen --remove " + before + " " + path);
  return {};
}

Outcome remove_key(const std::string& path, seal::KeyId id, seal::Keys& keys) {
  if (auto wrong = unknown_key(path, "--remove", id, keys); !wrong.empty()) {
    return unexpected(std::move(wrong));
  }
  if (id == keys.sending) {
    return unexpected(quote(path) + ": --remove = " + quote(to_text(id)) +
                      ": is the key to send with: first --use another");
  }
  keys.all.erase(std::find_if(keys.all.begin(), keys.all.end(),
                              [id](const seal::Key& key) { return key.id == id; }));
  if (auto put = seal::replace_key_file(path, keys); !put) return put;
  std::printf("%s: key %s is accepted no more\n", path.c_str(), to_text(id).c_str());
  print_next("Nothing else is to be done.");
  return {};
}

Outcome list_keys(const seal::Keys& keys) {
  for (const seal::Key& key : keys.all) {
    std::printf("key %s %s %s\n", to_text(key.id).c_str(),
                key.id == keys.sending ? "send  " : "accept", key.created.c_str());
  }
  return {};
}

Outcome change_file(const KeygenCommand& command) {
  const std::string& path = command.files[0];
  auto keys = seal::load_keys(path);
  if (!keys) return unexpected(keys.error());
  switch (command.actions[0]) {
    case KeygenAction::add: return add_key(path, *keys);
    case KeygenAction::use: return use_key(path, command.key, *keys);
    case KeygenAction::remove: return remove_key(path, command.key, *keys);
    case KeygenAction::list: break;
  }
  return list_keys(*keys);
}

}  // namespace

seal::Key new_key() { return seal::make_key(seal::random_secret(), now_as_text()); }

Result<seal::KeyId, std::string> make_key_file(const std::string& path) {
  seal::Keys keys;
  keys.all.push_back(new_key());
  keys.sending = keys.all[0].id;
  if (auto made = seal::create_key_file(path, keys); !made) return unexpected(made.error());
  return keys.sending;
}

int run_keygen(const KeygenCommand& command) {
  const Outcome done = command.actions.empty() ? make_file(command.files[0]) : change_file(command);
  return done ? 0 : fail(2, "keygen: " + done.error());
}

}  // namespace peal::cli
