// In which order objects are applied: waves, each of which must be ready before the next begins.
#pragma once

#include <boost/json.hpp>
#include <cstddef>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "kube/object.h"

namespace sluice::kube {

inline constexpr std::string_view kWaveAnnotation = "sluice.dev/wave";

// 0: namespaces and definitions of kinds; 1: what workloads need (config, accounts, volumes, services); 2: workloads;
// 3: what leads traffic to them. The annotation says otherwise. `invalid` if the annotation is no number from 0 to 99.
Result<int> wave_of(const json::value& object);

// The places of the objects in their list, wave by wave; within one, in the order of the list.
Result<std::vector<std::vector<size_t>>> waves_of(const std::vector<json::value>& objects);

}  // namespace sluice::kube
