// Package management is the language of the management API: the requests and answers under /v1, as JSON has them.
//
// The function webhooks answers with these types, and the tools and tests of this repository ask with them. Each type
// has the name of its schema in infra/openapi.yaml, which is written by hand: a test compares the names, the types and
// what may be null or left out. Refusals are documents of the package problem.
//
// It promises nothing about values: the rules for them are in the packages of the things that they are about.
package management
