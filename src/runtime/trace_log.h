// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "io/error.h"
#include "io/file_sink.h"
#include "node/node.h"
#include "order/engine.h"
#include "trace/event.h"
#include "trace/names.h"

namespace peal::runtime {

/// Writes the events that one node's application sees, in their order. The node's owner calls
/// flush() before a packet leaves, and before the application sees an event. So each event that is
/// known outside this process is in the file, even if the process is killed at once.
class TraceLog {
 public:
  /// Properties of the engine that the trace needs.
  struct Order {
    std::string engine;  ///< the engine's name
    bool optimistic = false;
    DomainSet own_domains{};  ///< the domains that the node is in
  };
  static Result<std::unique_ptr<TraceLog>, io::IoError> open(const std::string& path,
                                                             const trace::Names& names,
                                                             Order order);

  /// Sets the incarnation of all lines that follow; called again if the incarnation is corrected
  /// before the first view.
  void start(MemberId self);
  void submit(std::uint64_t number, Service service, ByteView payload, DomainSet domains = {});
  void originate(const node::Origination& placed);
  void deliver(const node::Message& message);
  void early(const node::Message& message);
  void view(const order::View& view);
  void leave();

  /// Passes all lines to the operating system. Never blocks: lines for which there is no space are
  /// lost, and the trace gets a line about the loss.
  void flush();
  /// Returns why lines were lost, once after the first loss; otherwise nothing.
  std::optional<io::IoError> take_error();
  /// Lines that are missing in the trace.
  std::uint64_t lost_lines() const { return file_->lost(); }

 private:
  TraceLog(const trace::Names& names, Order order) : names_(names), order_(order) {}
  std::string lost(std::uint64_t lines) const;
  trace::Event event(trace::Kind kind) const;
  void confirm_self();
  trace::Event of_message(trace::Kind kind, const node::Message& message) const;
  void write(const trace::Event& event);

  const trace::Names& names_;
  const Order order_;
  MemberId self_{};
  bool named_ = false;                 ///< `self_` is final, as a view or a place shows
  std::vector<trace::Event> unnamed_;  ///< submissions that wait until `self_` is final
  std::string text_;
  bool told_ = false;
  std::unique_ptr<io::FileSink> file_;  ///< declared last: closing it may call lost()
};

}  // namespace peal::runtime
