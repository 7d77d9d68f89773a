// SPDX-License-Identifier: Apache-2.0
// Going from one set of keys to another: asked by any thread, done by the one that runs the loop.

#include <utility>

#include "member/core.h"

namespace peal::member {

Result<seal::KeyId, io::IoError> Core::reload_keys() {
  if (settings_.insecure) {
    return unexpected(io::IoError{Errc::invalid_option,
                                  "insecure = true: there is no key file to read again; restart "
                                  "with a key_file"});
  }
  // Otherwise a thread that read an older file could be the last to set the keys.
  const std::lock_guard one_by_one(reload_mutex_);
  auto keys = config::read_keys(settings_);
  if (!keys) return unexpected(io::IoError{Errc::invalid_option, keys.error()});
  const seal::KeyId sending = keys->sending;
  {
    const std::lock_guard lock(mutex_);
    if (ended_) return unexpected(io::IoError{Errc::closed, "the member has left"});
    keys_asked_ = std::move(*keys);
  }
  loop_->wake();
  return sending;
}

void Core::take_keys() {
  std::optional<seal::Keys> keys;
  {
    const std::lock_guard lock(mutex_);
    keys = std::exchange(keys_asked_, std::nullopt);
  }
  if (keys) runtime_->set_keys(*keys);
}

}  // namespace peal::member
