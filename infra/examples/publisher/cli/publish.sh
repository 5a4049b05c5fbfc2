#!/bin/sh
# Publishes one of the sample events: publish.sh user.created
# EVENTS_QUEUE_URL is the stack's output EventsQueueUrl.
aws sqs send-message --queue-url "$EVENTS_QUEUE_URL" \
  --message-body "file://$(dirname "$0")/../../events/$1.json"
