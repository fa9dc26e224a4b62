// A shared library that is loaded when it is first needed, for those that cannot become part of the program.
//
//   auto library = SharedLibrary::open("libgit2.so.1.5", "libgit2-1.5");
//   auto init = library->symbol<int()>("git_libgit2_init");
//
// A library stays loaded for as long as the program runs.
#pragma once

#include <string>

#include "base/result.h"

namespace sluice {

class SharedLibrary {
 public:
  // `unavailable` names the package that brings it.
  static Result<SharedLibrary> open(const std::string& name, const std::string& package);

  template <typename Function>
  Result<Function*> symbol(const char* name) const {
    auto found = address(name);
    if (!found) return found.error();
    return reinterpret_cast<Function*>(*found);
  }

 private:
  SharedLibrary(void* handle, std::string name) : handle_(handle), name_(std::move(name)) {}
  Result<void*> address(const char* name) const;

  void* handle_;
  std::string name_;
};

}  // namespace sluice
