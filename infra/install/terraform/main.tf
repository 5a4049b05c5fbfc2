terraform {
  required_version = ">= 1.3"

  required_providers {
    aws = {
      source  = "hashicorp/aws"
      version = ">= 5.0"
    }
  }
}

variable "stack_name" {
  description = "Name of the CloudFormation stack, by which the tool herald finds it."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[A-Za-z][A-Za-z0-9-]{0,52}$", var.stack_name))
    error_message = "A stack's name has at most 53 letters, digits and hyphens, and begins with a letter."
  }
}

variable "tags" {
  description = "Tags of the stack, which CloudFormation gives to its resources, too."
  type        = map(string)
  default     = {}
  nullable    = false
}

data "aws_partition" "current" {}
data "aws_region" "current" {}

locals {
  # By the path, as a bucket's name may have dots, which the certificate of S3 does not cover.
  endpoint     = "https://s3.${data.aws_region.current.id}.${data.aws_partition.current.dns_suffix}"
  template_url = "${local.endpoint}/${var.code_bucket}/${var.code_folder}/${local.herald_version}/template.yaml"
}

resource "aws_cloudformation_stack" "herald" {
  name         = var.stack_name
  template_url = local.template_url # it is larger than the 51,200 bytes that a request may have
  parameters   = local.parameters
  tags         = var.tags
  capabilities = ["CAPABILITY_AUTO_EXPAND", "CAPABILITY_IAM"] # the transform of SAM, and roles

  # A gradual update takes half an hour for each step of the functions that it shifts.
  timeouts {
    create = "60m"
    update = "180m"
    delete = "60m"
  }

  lifecycle {
    precondition {
      condition = alltrue([
        for arn in values(local.regional) : arn == "" ? true : split(":", arn)[3] == data.aws_region.current.id
      ])
      error_message = "${join(" and ", keys(local.regional))} have to be in the stack's region."
    }
  }
}

output "stack_name" {
  description = "Name of the stack, for herald --stack"
  value       = aws_cloudformation_stack.herald.name
}
