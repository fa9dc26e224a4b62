// The one table of outcome codes. Exit codes of commands, HTTP statuses and RFC 9457 problem types all come from
// it, so that a failure means the same through every door. One code, one meaning; an exit code may be shared by
// codes that a shell script would treat alike, never the other way round.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace sluice {

enum class Code {
  ok,
  failed,                // it was tried and did not work
  invalid,               // a file, a request or a value is not what it must be
  faults_found,          // a doctor or a check ran to its end and found faults
  unavailable,           // something that is needed does not answer now
  limit,                 // a limit that protects the system was reached: input too large, too deep, too many; disk full
  usage,                 // the command line itself is wrong
  changes_pending,       // a plan has changes (only with --exit-code)
  unauthenticated,       // who are you
  denied,                // you may not
  not_found,             // no such object
  conflict,              // it exists, is in use, is locked, or has changed meanwhile
  gate_rejected,         // a health or policy gate said no
  timeout,               // the deadline passed
  rolled_back,           // it failed and was undone
  waiting_for_approval,  // it goes on when people agree
  verification_failed,   // a signature, a digest or the audit chain does not hold
};

struct CodeEntry {
  Code code;
  std::string_view name;  // as in JSON, `@code(name)` and the problem type
  int exit_code;
  int http_status;
  std::string_view meaning;  // one line for `sluice help exit-codes`
};

// All codes, in the order of the enumeration.
std::span<const CodeEntry> code_table();

const CodeEntry& entry(Code code);
std::optional<Code> code_named(std::string_view name);

inline int exit_code(Code code) { return entry(code).exit_code; }
inline int http_status(Code code) { return entry(code).http_status; }
inline std::string_view code_name(Code code) { return entry(code).name; }

// The RFC 9457 `type` of a problem with this code: a URN, as problems are documented in the binary, not on the web.
std::string problem_type(Code code);

}  // namespace sluice
