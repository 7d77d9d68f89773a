// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/time.h"
#include "io/address_book.h"
#include "io/error.h"
#include "node/node.h"
#include "session/host.h"

namespace peal::daemon {

/// A view as this node goes through it, in words; as peal::View.
struct ViewNotice {
  bool transitional = false;
  std::string id;
  std::string old;
  std::vector<std::string> members;
  std::optional<bool> primary;
  std::string reason;  ///< why the view before it ended
};

/// Who runs a daemon, and is told what a person may want to know. All calls come from the daemon's
/// thread; none may call back into it, but for on_ask(), which may call those that are const.
class Owner {
 public:
  virtual ~Owner() = default;
  virtual void on_view(Instant now, const ViewNotice& view) = 0;
  /// An ordered message of some daemon: `sender` is its node, as text. Not those of control.
  virtual void on_message(std::string_view sender, const node::Message& message) = 0;
  /// One line.
  virtual void on_warning(Instant now, const std::string& text) = 0;
  /// Another node was found at another address than before, or it has become known why its name was
  /// not found. `node` is its name in the configuration.
  virtual void on_address(Instant now, std::string_view node,
                          const io::AddressBook::Change& change) = 0;
  /// The nodes that count from now on: the list that was asked for.
  virtual void on_nodes(Instant now, const std::vector<std::string>& nodes) = 0;
  /// Somebody did not come in.
  virtual void on_refused(Instant now, const std::string& who, const io::IoError& why) = 0;
  /// The last call. Not `on_request`: the node had to stop, and this says why.
  virtual void on_end(bool on_request, const std::string& reason) = 0;
  /// A client asks: see session::Host.
  virtual session::Answer on_ask(std::string_view what, bool admin) = 0;
};

}  // namespace peal::daemon
