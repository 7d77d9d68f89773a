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

/// A view that this node installs, as text; like peal::View.
struct ViewNotice {
  bool transitional = false;
  std::string id;
  std::string old;
  std::vector<std::string> members;
  std::optional<bool> primary;
  std::string reason;  ///< why the previous view ended
};

/// The owner of a daemon: gets notifications of events that an operator may want to know. All calls
/// come from the daemon's thread. These functions must not call the daemon. Only on_ask() may call
/// the daemon: its const functions and reconfigure().
class Owner {
 public:
  virtual ~Owner() = default;
  virtual void on_view(Instant now, const ViewNotice& view) = 0;
  /// An ordered message of any daemon; `sender` is the sending node, as text. Control messages are
  /// not reported.
  virtual void on_message(std::string_view sender, const node::Message& message) = 0;
  /// A warning for the operator, in one line.
  virtual void on_warning(Instant now, const std::string& text) = 0;
  /// The address of another node changed, or the lookup of the node's name failed for a new reason.
  /// `node` is that node's name in the configuration.
  virtual void on_address(Instant now, std::string_view node,
                          const io::AddressBook::Change& change) = 0;
  /// The active list of nodes has changed to `nodes`.
  virtual void on_nodes(Instant now, const std::vector<std::string>& nodes) = 0;
  /// A client was refused.
  virtual void on_refused(Instant now, const std::string& who, const io::IoError& why) = 0;
  /// The last call to the owner. If `on_request` is false, an error stopped the node; `reason`
  /// describes it.
  virtual void on_end(bool on_request, const std::string& reason) = 0;
  /// A client's query: see session::Host.
  virtual session::Answer on_ask(std::string_view what, bool admin) = 0;
};

}  // namespace peal::daemon
