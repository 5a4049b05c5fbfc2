# terraform test plays these without AWS: make terraform.

mock_provider "aws" {
  mock_data "aws_region" {
    defaults = { id = "eu-central-1" }
  }
  mock_data "aws_partition" {
    defaults = { dns_suffix = "amazonaws.com" }
  }
}

variables {
  stack_name  = "herald-prod"
  code_bucket = "my.bucket"
}

run "installs_the_released_template" {
  command = plan

  assert {
    condition = (aws_cloudformation_stack.herald.template_url ==
    "https://s3.eu-central-1.amazonaws.com/my.bucket/herald/${local.herald_version}/template.yaml")
    error_message = "The template is taken from ${aws_cloudformation_stack.herald.template_url}."
  }
  assert {
    condition     = aws_cloudformation_stack.herald.parameters == tomap(local.parameters)
    error_message = "CloudFormation gets ${jsonencode(aws_cloudformation_stack.herald.parameters)}."
  }
}

run "takes_values" {
  command = plan
  variables {
    stage           = "prod"
    deaths_per_hour = 1000000
    dashboard       = false
    alarm_topic_arn = "arn:aws:sns:eu-central-1:111122223333:alarms"
  }

  assert {
    condition = ([for name in ["Stage", "DeathsPerHour", "Dashboard"] : local.parameters[name]] ==
    ["prod", "1000000", "false"])
    error_message = "CloudFormation gets ${jsonencode(local.parameters)}."
  }
}

run "refuses_what_the_template_does" {
  command = plan
  variables {
    stack_name      = "1-herald"
    stage           = "Prod"
    schema_check    = "maybe"
    max_retries     = 19
    alarm_topic_arn = "topic"
  }
  expect_failures = [var.stack_name, var.stage, var.schema_check, var.max_retries, var.alarm_topic_arn]
}

run "refuses_a_topic_of_another_region" {
  command = plan
  variables {
    alarm_topic_arn = "arn:aws:sns:us-east-1:111122223333:alarms"
  }
  expect_failures = [aws_cloudformation_stack.herald]
}
