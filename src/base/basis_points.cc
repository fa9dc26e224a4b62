// Decimal digits are read as integers; no floating point comes near a share.
#include "base/basis_points.h"

#include <cassert>

#include "base/terminal.h"

namespace sluice {
namespace {

constexpr size_t kLongestShare = 40;

bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

}  // namespace

Result<int> parse_basis_points(std::string_view text) {
  auto refuse = [&](const std::string& why) {
    return Error{.code = Code::invalid,
                 .message = "'" + printable(text.substr(0, kLongestShare)) + "' is not a share: " + why,
                 .next = "write it like 5%, 0.05% or 25bps"};
  };
  bool percent = text.ends_with('%');
  if (!percent && !text.ends_with("bps")) return refuse("expected a number followed by % or bps");
  std::string_view number = text.substr(0, text.size() - (percent ? 1 : 3));
  std::string_view whole = number.substr(0, number.find('.'));
  std::string_view part = whole.size() < number.size() ? number.substr(whole.size() + 1) : "0";
  if (!all_digits(whole) || !all_digits(part)) return refuse("expected a decimal number before the unit");
  if (whole.size() > 1 && whole.front() == '0') return refuse("the number begins with a needless 0");
  if (!percent && whole.size() < number.size()) return refuse("basis points are whole numbers");
  if (part.size() > 2) return refuse("it is finer than a basis point (0.01%)");
  const std::string too_much = percent ? "it is more than 100%" : "it is more than 10000bps";
  if (whole.size() > 5) return refuse(too_much);
  int bps = std::stoi(std::string(whole));
  if (percent) {
    bps = bps * 100 + std::stoi(std::string(part)) * (part.size() == 1 ? 10 : 1);
  }
  if (bps > kAllBasisPoints) return refuse(too_much);
  return bps;
}

std::string print_basis_points(int bps) {
  assert(bps >= 0 && bps <= kAllBasisPoints);
  std::string text = std::to_string(bps / 100);
  if (bps % 100 != 0) {
    text += '.';
    text += static_cast<char>('0' + bps / 10 % 10);
    if (bps % 10 != 0) text += static_cast<char>('0' + bps % 10);
  }
  return text + '%';
}

}  // namespace sluice
