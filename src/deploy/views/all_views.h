// The kit's views, each by its name: what people and programs read of it, through every door.
#pragma once

#include <vector>

#include "lang/run/view.h"

namespace sluice::deploy::views {

std::vector<lang::View> all_views();

}  // namespace sluice::deploy::views
