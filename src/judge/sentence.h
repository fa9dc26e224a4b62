// The verdict in one plain sentence, with its counts: what a person reads first.
#pragma once

#include <string>
#include <string_view>

#include "judge/settings.h"
#include "judge/verdict.h"

namespace sluice::judge {

std::string sentence_of(const Verdict& verdict, const Settings& settings, std::string_view baseline,
                        std::string_view canary);

// "13,300": a count for people.
std::string count_text(double count);
// "6.0 %", "0.11 %": a share in two digits.
std::string share_text(double share);
// "501 ms", "1.6 s"
std::string latency_text(double ms);

}  // namespace sluice::judge
