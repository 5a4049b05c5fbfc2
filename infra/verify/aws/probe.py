# Makes calls to AWS with the role that the function holds, and returns AWS's code for each, "" for none.
import boto3
from botocore import xform_name
from botocore.exceptions import ClientError


def handler(event, context):
    codes = []
    for call in event["calls"]:
        service, action = call["action"].split(":")
        try:
            getattr(boto3.client(service), xform_name(action))(**call["input"])
            codes.append("")
        except ClientError as error:
            codes.append(error.response["Error"]["Code"])
    return codes
