// The list of the kit's concepts, as in suite.yaml.
#include "orders_kit.h"

#include "courier.gen.h"
#include "order.gen.h"
#include "stock.gen.h"

namespace sluice::orders {

std::vector<const lang::ConceptBinding*> concepts() {
  return {&order::order_binding(), &stock::stock_binding(), &courier::courier_binding()};
}

}  // namespace sluice::orders
