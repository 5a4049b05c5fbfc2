package main

// differences are the cases that fail on DynamoDB Local, and why. infra/docs/local-stack.md has them in words.
var differences = map[string]string{}
