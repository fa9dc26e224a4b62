// Errors as RFC 9457 problems, made from the one table of codes, and read back by the other end.
#pragma once

#include <boost/json/value.hpp>
#include <string_view>

#include "base/result.h"

namespace sluice::host {

namespace json = boost::json;

inline constexpr std::string_view kProblemType = "application/problem+json";

// type, title, status, detail, and as extensions code, next, path and position where the error has them.
json::object problem(const Error& error);

// What problem() has said; of several next steps, as a completion's problem has them, the first. Other things give an
// error of their own, which says what was found.
Error error_in(const json::value& problem);

}  // namespace sluice::host
