"""Plays Lambda to handler.py on an emulator: it hands over what the stream has, as the mapping does.

Infra/examples/outbox tests it. Each line of its output is an answer.
"""

import json
import os
import sys

import boto3
from handler import handler

streams = boto3.client("dynamodbstreams")
stream = boto3.client("dynamodb").describe_table(TableName=os.environ["TABLE"])["Table"]["LatestStreamArn"]
shard = streams.describe_stream(StreamArn=stream)["StreamDescription"]["Shards"][0]["ShardId"]
first = streams.get_shard_iterator(StreamArn=stream, ShardId=shard, ShardIteratorType="TRIM_HORIZON")["ShardIterator"]
for line in sys.stdin:  # the sequence number that the mapping begins with, 0 for all
    records = streams.get_records(ShardIterator=first, Limit=1000)["Records"]
    records = [record for record in records if int(record["dynamodb"]["SequenceNumber"]) >= int(line)]
    for changed in (record["dynamodb"] for record in records):
        changed["ApproximateCreationDateTime"] = changed["ApproximateCreationDateTime"].timestamp()
    try:
        answer = handler({"Records": records}, None)
    except Exception as error:
        answer = {"error": repr(error)}
    keys = {r["dynamodb"]["SequenceNumber"]: r["dynamodb"]["Keys"]["event_id"]["S"] for r in records}
    print(json.dumps({**answer, "keys": keys}), flush=True)
