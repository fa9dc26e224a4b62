// How the host speaks to whoever watches it: a terminal, a log, or nobody.
#pragma once

#include <string_view>

#include "base/result.h"

namespace sluice::host {

class Narrator {
 public:
  virtual ~Narrator() = default;

  virtual void note(std::string_view sentence) = 0;    // what happens
  virtual void detail(std::string_view sentence) = 0;  // what only a curious reader wants
  virtual void warn(std::string_view sentence) = 0;    // what somebody should look at
  // The process ends right after this: it must have been heard when it returns.
  virtual void last_words(const Error& error) = 0;
};

}  // namespace sluice::host
