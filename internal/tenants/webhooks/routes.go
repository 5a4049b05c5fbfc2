package webhooks

import (
	"context"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/herald-webhooks/herald/internal/rules/apikey"
	"github.com/herald-webhooks/herald/internal/rules/problem"
)

// body says which body a route takes.
type body int

// The bodies.
const (
	noBody       body = iota // none, {} or null, of any content type: clients send each of them
	jsonBody                 // a JSON object
	optionalBody             // a JSON object, or one of the bodies above
)

// route is one operation: its callers, its cost, its input, and the method that does it.
type route struct {
	method, path string
	scope        apikey.Scope
	units        int           // of the key's budget; for a list, see units
	body         body          // which one it takes
	query        []string      // the parameters it takes
	status       int           // of the answer; zero is 200
	open         bool          // to everybody, without a key
	maxAge       time.Duration // for which the answer may be cached; zero: it may not
	do           func(*Handler, context.Context, *call) (answer any, err error)
}

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

// A change writes several items twice, and may read all live or deleted endpoints; a test reads three items, writes two
// and sends a message, and makes deliver work; a list reads either and may answer
// with half a megabyte, the catalogue with four fifths of one. TestWhatOneKeyCanBurn has their costs.
const (
	changeUnits    = 5
	catalogueUnits = 4
	listUnits      = 2
	pageUnits      = 25 // endpoints of a page that cost another unit
)

// units are the request's cost to its key's budget. A request that will be refused costs one at least.
func (c *call) units() int {
	if c.route == nil {
		return 1
	}
	if c.route.units != listUnits {
		return c.route.units
	}
	limit, _, err := c.listQuery()
	if err != nil {
		limit = defaultLimit
	}
	return listUnits + (limit+pageUnits-1)/pageUnits
}

// caching is the header Cache-Control of an answer. An answer to a key is for its caller alone.
func (r *route) caching() string {
	seconds := strconv.Itoa(int(r.maxAge / time.Second))
	switch {
	case r.maxAge == 0:
		return "no-store"
	case r.open:
		return "max-age=" + seconds
	}
	return "private, max-age=" + seconds
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

// find sets the route and the endpoint id of the path. A path without this method is another fault than a path that
// there is not: the answer lists the methods.
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

// readQuery accepts each of the route's parameters once and no other.
func (c *call) readQuery() error {
	values, err := url.ParseQuery(c.in.RawQueryString)
	if err != nil {
		return &problem.Error{Code: problem.CodeInvalidQuery, Detail: "The query string is not well-formed."}
	}
	c.query = make(map[string]string, len(values))
	refusal := &problem.Error{Code: problem.CodeInvalidQuery}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		switch {
		case !slices.Contains(c.route.query, name):
			refusal.Fields = append(refusal.Fields, problem.Field{Parameter: shortened(name), Detail: "does not exist here"})
		case len(values[name]) > 1:
			refusal.Fields = append(refusal.Fields, problem.Field{Parameter: name, Detail: "must be given once"})
		}
		c.query[name] = values[name][0]
	}
	if len(refusal.Fields) > 0 {
		refusal.Fields = refusal.Fields[:min(len(refusal.Fields), maxFields)]
		return refusal
	}
	return nil
}

// shortened keeps a caller's invention from filling the answer.
func shortened(name string) string {
	const most = 64
	if len(name) > most {
		return strings.ToValidUTF8(name[:most], "") + "…"
	}
	return strings.ToValidUTF8(name, "\uFFFD")
}
