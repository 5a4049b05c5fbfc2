#!/bin/sh
# Publishes one of the sample events. EVENTS_QUEUE_URL is the stack's output EventsQueueUrl.
aws sqs send-message --queue-url "$EVENTS_QUEUE_URL" --message-body file://infra/examples/events/user.created.json
