// dlopen, so that its names are not seen by anybody else.
#include "base/shared_library.h"

#include <dlfcn.h>

namespace sluice {

Result<SharedLibrary> SharedLibrary::open(const std::string& name, const std::string& package) {
  void* handle = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    return Error{.code = Code::unavailable,
                 .message = "the library " + name + " cannot be loaded: " + dlerror(),
                 .next = "install it: apt install " + package};
  }
  return SharedLibrary(handle, name);
}

Result<void*> SharedLibrary::address(const char* name) const {
  void* found = dlsym(handle_, name);
  if (found == nullptr) {
    return Error{.code = Code::unavailable, .message = "the library " + name_ + " has no " + name};
  }
  return found;
}

}  // namespace sluice
