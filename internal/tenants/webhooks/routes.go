package webhooks

import (
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/apikey"
	"github.com/herald-webhooks/herald/internal/rules/problem"
)

// base is the path of the collection (infra/docs/spec.md, "Endpoints").
const base = "/v1/webhooks"

var routes = []route{
	{
		method: "POST", path: base, scope: apikey.Write, units: changeUnits, body: jsonBody, status: 201,
		do: (*Handler).create,
	},
	{method: "PUT", path: base, scope: apikey.Write, units: changeUnits, body: jsonBody, do: (*Handler).put},
	{
		method: "GET", path: base, scope: apikey.Read, units: listUnits,
		query: []string{"limit", "cursor", "status"}, do: (*Handler).list,
	},
	{
		method: "GET", path: "/v1/event-types", scope: apikey.Read, units: catalogueUnits, maxAge: 5 * time.Minute,
		do: (*Handler).eventTypes,
	},
	{method: "GET", path: base + "/{id}", scope: apikey.Read, units: 1, do: (*Handler).read},
	{
		method: "PATCH", path: base + "/{id}", scope: apikey.Write, units: changeUnits, body: jsonBody,
		do: (*Handler).change,
	},
	{method: "DELETE", path: base + "/{id}", scope: apikey.Write, units: changeUnits, status: 204, do: (*Handler).remove},
	{method: "POST", path: base + "/{id}/restore", scope: apikey.Write, units: changeUnits, do: (*Handler).restore},
	{
		method: "POST", path: base + "/{id}/rotate-secret", scope: apikey.Write, units: changeUnits,
		body: optionalBody, do: (*Handler).rotate,
	},
	{
		method: "POST", path: base + "/{id}/test", scope: apikey.Write, units: changeUnits, body: optionalBody, status: 202,
		do: (*Handler).test,
	},
	{
		method: "GET", path: "/v1/source-addresses", open: true, maxAge: time.Hour, do: (*Handler).sourceAddresses,
	},
	{
		method: "GET", path: base + "/{id}/jwks.json", open: true, maxAge: time.Hour,
		do: (*Handler).keySet,
	},
}

// Routes returns the routes as API Gateway writes their keys, "GET /v1/webhooks/{id}": for tests that
// compare them with the template.
func Routes() []string {
	keys := make([]string, len(routes))
	for i, r := range routes {
		keys[i] = r.method + " " + r.path
	}
	return keys
}

// find sets the route and the endpoint id of the path. It tells a path that does not exist from a path without this
// method: the answer to the latter lists the methods.
func (c *call) find() error {
	path, id := pattern(c.in.RawPath)
	var methods []string
	for i := range routes {
		if routes[i].path != path {
			continue
		}
		if routes[i].method == c.in.RequestContext.HTTP.Method {
			c.route, c.endpointID = &routes[i], id
			return nil
		}
		methods = append(methods, routes[i].method)
	}
	if len(methods) == 0 {
		return problem.New(problem.CodeRouteNotFound)
	}
	return &problem.Error{Code: problem.CodeMethodNotAllowed, Allow: strings.Join(methods, ", ")}
}

// pattern puts {id} in the place of the id in a path.
func pattern(path string) (pattern, id string) {
	rest, found := strings.CutPrefix(path, base+"/")
	if !found {
		return path, ""
	}
	id, action, found := strings.Cut(rest, "/")
	if id == "" {
		return path, ""
	}
	if found {
		return base + "/{id}/" + action, id
	}
	return base + "/{id}", id
}
