// SPDX-License-Identifier: Apache-2.0
#include "io/fabric/verbs_library.h"

#include <dlfcn.h>

namespace peal::io::fabric {
namespace {

template <class Function>
bool find_function(void* library, const char* name, Function& out) {
  out = reinterpret_cast<Function>(::dlsym(library, name));
  return out != nullptr;
}

const VerbsLibrary* load_verbs_library() {
  void* const library = ::dlopen("libibverbs.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) return nullptr;
  static VerbsLibrary all;
  const bool complete =
      find_function(library, "ibv_get_device_list", all.get_device_list) &&
      find_function(library, "ibv_free_device_list", all.free_device_list) &&
      find_function(library, "ibv_get_device_name", all.get_device_name) &&
      find_function(library, "ibv_open_device", all.open_device) &&
      find_function(library, "ibv_close_device", all.close_device) &&
      find_function(library, "ibv_query_device", all.query_device) &&
      find_function(library, "ibv_query_port", all.query_port) &&
      find_function(library, "_ibv_query_gid_table", all.query_gid_table) &&
      find_function(library, "ibv_alloc_pd", all.alloc_pd) &&
      find_function(library, "ibv_dealloc_pd", all.dealloc_pd) &&
      find_function(library, "ibv_reg_mr", all.reg_mr) &&
      find_function(library, "ibv_dereg_mr", all.dereg_mr) &&
      find_function(library, "ibv_create_comp_channel", all.create_comp_channel) &&
      find_function(library, "ibv_destroy_comp_channel", all.destroy_comp_channel) &&
      find_function(library, "ibv_create_cq", all.create_cq) &&
      find_function(library, "ibv_destroy_cq", all.destroy_cq) &&
      find_function(library, "ibv_get_cq_event", all.get_cq_event) &&
      find_function(library, "ibv_ack_cq_events", all.ack_cq_events) &&
      find_function(library, "ibv_create_qp", all.create_qp) &&
      find_function(library, "ibv_modify_qp", all.modify_qp) &&
      find_function(library, "ibv_destroy_qp", all.destroy_qp);
  return complete ? &all : nullptr;
}

}  // namespace

const VerbsLibrary* VerbsLibrary::load() {
  static const VerbsLibrary* const loaded = load_verbs_library();
  return loaded;
}

}  // namespace peal::io::fabric
