// The next step begins behind the first "; next: ".
#include "deploy/next_in_words.h"

#include <utility>

namespace sluice::deploy {
namespace {

constexpr std::string_view kNextStep = "; next: ";

std::pair<std::string, std::string> said_and_next(const std::string& message) {
  const size_t at = message.find(kNextStep);
  if (at == std::string::npos) return {message, ""};
  return {message.substr(0, at), message.substr(at + kNextStep.size())};
}

std::string put_together(const std::string& said, const std::string& next) {
  return next.empty() ? said : said + std::string(kNextStep) + next;
}

}  // namespace

std::string with_words(const std::string& message, const std::string& words) {
  const auto [said, next] = said_and_next(message);
  return put_together(said + words, next);
}

std::string both_said(const std::string& one, const std::string& other) {
  if (one.empty() || other.empty()) return one + other;
  const auto [said, next] = said_and_next(one);
  const auto [said_too, next_too] = said_and_next(other);
  return put_together(said + "; " + said_too,
                      next.empty() || next_too.empty() ? next + next_too : next + ", then " + next_too);
}

}  // namespace sluice::deploy
