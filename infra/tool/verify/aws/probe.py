# Makes the calls of calls.json, which herald verify packs with this file, with the role that the function holds, and
# returns AWS's code for each, "" for none. What the function is invoked with is ignored, and after a moment it refuses
# to work: a caller learns and does no more than verify.
import json
import os
import time

import boto3
from botocore import xform_name
from botocore.exceptions import ClientError

with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "calls.json"), encoding="utf-8") as file:
    WRITTEN = json.load(file)


def handler(event, context):
    if time.time() > WRITTEN["until"]:
        raise RuntimeError("the probe is too old, or the clock that made it is slow")
    codes = []
    for call in WRITTEN["calls"]:
        service, action = call["action"].split(":")
        try:
            getattr(boto3.client(service), xform_name(action))(**call["input"])
            codes.append("")
        except ClientError as error:
            codes.append(error.response["Error"]["Code"])
    return codes
