// Package api is the language of the operators: the requests and answers of the functions inspect, replay, control and
// apikeys, and of imports, with the words for states, results and refusals.
//
// The functions answer with these types, and the tool, the tests and every other client of this repository ask with
// them. A field that is renamed here breaks both sides when they are compiled. The shapes in
// infra/docs/operator-api.md are made from these types and their comments.
//
// It promises that an older client can read a newer function's answer: a field that the client does not know is
// ignored, and a field that the function does not send is zero. So fields are added and never renamed, and no field
// changes its meaning. Times are in UTC. A time that is not known is zero in Go and null in JSON. An empty list is [].
package api
