// What Webhook's effects work on, as it is journaled between begin and perform.
#pragma once

#include "deploy/webhook_outlet.h"
#include "webhook.gen.h"

namespace sluice::deploy::webhook {

struct DeliverWork {
  WebhookTarget target;
  WebhookEvent event;
};
BOOST_DESCRIBE_STRUCT(DeliverWork, (), (target, event))

struct SendTestWork {
  WebhookTarget target;
  WebhookEvent event;
};
BOOST_DESCRIBE_STRUCT(SendTestWork, (), (target, event))

}  // namespace sluice::deploy::webhook
