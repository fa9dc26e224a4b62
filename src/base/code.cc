// The table itself. docs and help print it; nothing else restates it.
#include "base/code.h"

#include <array>
#include <cassert>

namespace sluice {
namespace {

constexpr std::array kTable = {
    CodeEntry{Code::ok, "ok", 0, 200, "it worked"},
    CodeEntry{Code::failed, "failed", 1, 500, "it was tried and did not work"},
    CodeEntry{Code::invalid, "invalid", 1, 400, "a file, a request or a value is not what it must be"},
    CodeEntry{Code::faults_found, "faults_found", 1, 422, "a doctor or a check found faults"},
    CodeEntry{Code::unavailable, "unavailable", 1, 503, "something that is needed does not answer now"},
    CodeEntry{Code::limit, "limit", 1, 429, "a limit that protects the system was reached"},
    CodeEntry{Code::usage, "usage", 2, 400, "the command line is wrong"},
    CodeEntry{Code::changes_pending, "changes_pending", 3, 200, "the plan has changes (only with --exit-code)"},
    CodeEntry{Code::unauthenticated, "unauthenticated", 4, 401, "the caller is not known"},
    CodeEntry{Code::denied, "denied", 4, 403, "the caller may not do this"},
    CodeEntry{Code::not_found, "not_found", 5, 404, "there is no such object"},
    CodeEntry{Code::conflict, "conflict", 6, 409, "it exists already, is in use, is locked, or has changed meanwhile"},
    CodeEntry{Code::gate_rejected, "gate_rejected", 7, 422, "a health or policy gate said no"},
    CodeEntry{Code::timeout, "timeout", 8, 504, "the deadline passed; it may or may not have happened"},
    CodeEntry{Code::rolled_back, "rolled_back", 9, 409, "it failed and was undone"},
    CodeEntry{Code::waiting_for_approval, "waiting_for_approval", 10, 202, "it goes on when people approve"},
    CodeEntry{Code::verification_failed, "verification_failed", 11, 422,
              "a signature, a digest or the audit chain does not hold"},
};

constexpr bool table_follows_enumeration() {
  for (size_t i = 0; i < kTable.size(); ++i) {
    if (static_cast<size_t>(kTable[i].code) != i) return false;
  }
  return static_cast<size_t>(Code::verification_failed) + 1 == kTable.size();
}
static_assert(table_follows_enumeration());

}  // namespace

std::span<const CodeEntry> code_table() { return kTable; }

const CodeEntry& entry(Code code) {
  auto index = static_cast<size_t>(code);
  assert(index < kTable.size());
  return kTable[index];
}

std::optional<Code> code_named(std::string_view name) {
  for (const CodeEntry& row : kTable) {
    if (row.name == name) return row.code;
  }
  return std::nullopt;
}

std::string problem_type(Code code) { return "urn:sluice:problem:" + std::string(entry(code).name); }

}  // namespace sluice
