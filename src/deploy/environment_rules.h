// What an environment may be called and may keep: the rules of Env, which a file that is to be applied is held against
// before anything is changed. A fault is a sentence for a person; empty: it may be so.
#pragma once

#include <cstdint>
#include <string>

namespace sluice::deploy {

// Its name is part of host names, paths and references, so it is a label and nothing else.
bool is_environment_name(const std::string& text);
std::string fault_of_environment_name(const std::string& text);

std::string fault_of_archived_days(int64_t days);
std::string fault_of_staged_count(int64_t count);
// Where the deployer's credentials are: in the environment's own secrets, or nowhere.
std::string fault_of_credentials(const std::string& environment, const std::string& reference);

}  // namespace sluice::deploy
