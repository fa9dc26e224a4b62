// Flows for tests of what is said of them.
#pragma once

#include "host/flows/flow_view.h"
#include "host/testing_orders.h"

namespace sluice::host {

// The flow as it stands after the first `count` of its steps.
FlowView order_view(size_t count = 6);

// A flow in which a Flow/undo, id 2, releases what was reserved as id 7.
FlowView undo_view();

}  // namespace sluice::host
