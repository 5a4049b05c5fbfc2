"""Turns the SAM template into what CloudFormation deploys, with AWS's own translator.

Usage: translate.py TEMPLATE SAMCONFIG ENVIRONMENT BUCKET [NAME=VALUE …]
Prints {"template": …, "parameters": {name: value}}: the parameters are those of the environment's table
in the samconfig file, and those given, which win. The code of a function named XFunction is taken from s3://BUCKET/XFunction.zip.
"""

import json
import os
import shlex
import sys
import tomllib
from typing import Any

os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")

import yaml
from samtranslator.model.exceptions import InvalidDocumentException
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator
from samtranslator.yaml_helper import yaml_parse


def overrides(samconfig: str, environment: str) -> dict[str, str]:
    """Reads parameter_overrides, which SAM takes as a string, a list of strings or a table."""
    with open(samconfig, "rb") as file:
        table = tomllib.load(file).get(environment)
    if table is None:
        raise ValueError(f"{samconfig}: no table [{environment}]")
    given = table.get("deploy", {}).get("parameters", {}).get("parameter_overrides", [])
    if isinstance(given, dict):
        return {name: str(value) for name, value in given.items()}
    words = shlex.split(given) if isinstance(given, str) else given
    return dict(word.split("=", 1) for word in words)


def code_from(bucket: str, template: dict[str, Any]) -> None:
    for name, resource in template["Resources"].items():
        if resource["Type"] == "AWS::Serverless::Function":
            resource.setdefault("Properties", {})["CodeUri"] = {"Bucket": bucket, "Key": f"{name}.zip"}


def main() -> int:
    template_file, samconfig, environment, bucket, *given = sys.argv[1:]
    try:
        with open(template_file, encoding="utf-8") as file:
            template = yaml_parse(file.read())
        parameters = overrides(samconfig, environment) | dict(word.split("=", 1) for word in given)
        code_from(bucket, template)
        defaults = {k: v["Default"] for k, v in template.get("Parameters", {}).items() if "Default" in v}
        translated = Translator({}, Parser()).translate(template, parameter_values={**defaults, **parameters})
    except InvalidDocumentException as error:
        print("; ".join(cause.message for cause in error.causes), file=sys.stderr)
        return 1
    except (OSError, ValueError, KeyError, yaml.YAMLError) as error:
        print(f"{template_file}: {' '.join(str(error).split())}", file=sys.stderr)
        return 1
    json.dump({"template": translated, "parameters": parameters}, sys.stdout, default=str)
    return 0


if __name__ == "__main__":
    sys.exit(main())
