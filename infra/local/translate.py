"""Turns the SAM template into what CloudFormation deploys, with AWS's own translator.

Usage: translate.py TEMPLATE SAMCONFIG ENVIRONMENT [NAME=VALUE …]
Prints {"template": …, "parameters": {name: value}}: the parameters are those given, else those of the environment's
table in the samconfig file, else the template's defaults. One that the template does not allow is refused.
Functions whose code is in this checkout get a line of code in its place: this machine runs them itself.
"""

import json
import os
import shlex
import sys
import tomllib
from collections.abc import Iterator
from typing import Any

os.environ.setdefault("AWS_DEFAULT_REGION", "us-east-1")

import yaml
from jsonschema import Draft202012Validator
from samtranslator.model.exceptions import InvalidDocumentException
from samtranslator.parser.parser import Parser
from samtranslator.translator.translator import Translator
from samtranslator.yaml_helper import yaml_parse

# A declaration's limits, in the words of JSON Schema.
LIMITS = {
    "AllowedValues": "enum",
    "AllowedPattern": "pattern",
    "MinValue": "minimum",
    "MaxValue": "maximum",
    "MinLength": "minLength",
    "MaxLength": "maxLength",
}


def words(given: list[str]) -> dict[str, str]:
    for word in given:
        if "=" not in word:
            raise ValueError(f"parameter {word!r}: want Name=Value")
    return dict(word.split("=", 1) for word in given)


def overrides(samconfig: str, environment: str) -> dict[str, str]:
    """Reads parameter_overrides, which SAM takes as a string or as a list of strings."""
    with open(samconfig, "rb") as file:
        table = tomllib.load(file).get(environment)
    if table is None:
        raise ValueError(f"{samconfig}: no table [{environment}]")
    given = table.get("deploy", {}).get("parameters", {}).get("parameter_overrides", [])
    return words(shlex.split(given) if isinstance(given, str) else given)


def faults(declared: dict[str, Any], given: dict[str, str]) -> Iterator[str]:
    """Holds the parameters against their declarations, as CloudFormation does."""
    for name in given.keys() - declared.keys():
        yield f"parameter {name}: the template declares no such parameter"
    for name, declaration in declared.items():
        if name not in given:
            yield f"parameter {name}: it has no default and was not given"
            continue
        schema = {LIMITS[key]: limit for key, limit in declaration.items() if key in LIMITS}
        value: Any = given[name]
        if declaration["Type"] == "Number":
            schema["type"] = "number"
            value = yaml.safe_load(value)
        if "pattern" in schema:
            schema["pattern"] = rf"\A(?:{schema['pattern']})\Z"
        for key in schema.keys() & {"minimum", "maximum", "minLength", "maxLength"}:
            schema[key] = float(schema[key])
        for error in Draft202012Validator(schema).iter_errors(value):
            yield f"parameter {name}: {error.message}"


def main() -> int:
    template_file, samconfig, environment, *given = sys.argv[1:]
    try:
        with open(template_file, encoding="utf-8") as file:
            template = yaml_parse(file.read())
        declared = template.get("Parameters", {})
        defaults = {name: str(each["Default"]) for name, each in declared.items() if "Default" in each}
        parameters = {**defaults, **overrides(samconfig, environment), **words(given)}
        if wrong := sorted(faults(declared, parameters)):
            raise ValueError("; ".join(wrong))
        for resource in template["Resources"].values():
            properties = resource.setdefault("Properties", {})
            if resource["Type"] == "AWS::Serverless::Function" and not isinstance(properties.get("CodeUri"), dict):
                properties["InlineCode"] = "none"
        translated = Translator({}, Parser()).translate(template, parameter_values=parameters)
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
