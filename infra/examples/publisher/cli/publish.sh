#!/bin/sh
# Publishes one of the sample events.
EVENTS_QUEUE_URL=$(aws cloudformation describe-stacks --stack-name herald-prod --output text \
  --query "Stacks[0].Outputs[?OutputKey=='EventsQueueUrl'].OutputValue")
aws sqs send-message --queue-url "$EVENTS_QUEUE_URL" --message-group-id tenant_acme \
  --message-body file://infra/examples/events/user.created.json
