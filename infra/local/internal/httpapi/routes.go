package httpapi

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// Route is a route of an HTTP API and the logical id of the function behind it.
type Route struct {
	Method   string // in capitals, or ANY
	Path     string // with {name} and {name+} segments, or $default
	Function string
}

// Key names the route as API Gateway does.
func (r Route) Key() string {
	if r.Path == defaultRoute {
		return defaultRoute
	}
	return r.Method + " " + r.Path
}

const (
	defaultRoute = "$default"
	anyMethod    = "ANY"
)

var functionARN = regexp.MustCompile(`\$\{([A-Za-z0-9]+)\.Arn\}`)

// Routes reads the routes of an AWS::ApiGatewayV2::Api resource, whose Body the SAM translator writes.
func Routes(properties map[string]any) ([]Route, error) {
	body, _ := properties["Body"].(map[string]any)
	paths, _ := body["paths"].(map[string]any)
	var routes []Route
	for path, item := range paths {
		methods, _ := item.(map[string]any)
		for method, operation := range methods {
			method = strings.ToUpper(method)
			if method == "X-AMAZON-APIGATEWAY-ANY-METHOD" {
				method = anyMethod
			}
			route := Route{Method: method, Path: path}
			if fields, _ := operation.(map[string]any); fields["isDefaultRoute"] == true {
				route = Route{Method: anyMethod, Path: defaultRoute}
			}
			var err error
			if route.Function, err = integration(operation); err != nil {
				return nil, fmt.Errorf("route %s: %w", route.Key(), err)
			}
			routes = append(routes, route)
		}
	}
	slices.SortFunc(routes, func(a, b Route) int { return cmp.Compare(a.Key(), b.Key()) })
	return routes, nil
}

// integration returns the function that an operation calls.
func integration(operation any) (string, error) {
	fields, _ := operation.(map[string]any)
	if _, guarded := fields["security"]; guarded {
		return "", fmt.Errorf("authorizers are not known to the local stack")
	}
	call, _ := fields["x-amazon-apigateway-integration"].(map[string]any)
	if call["type"] != "aws_proxy" || call["payloadFormatVersion"] != "2.0" {
		return "", fmt.Errorf("only Lambda proxy integrations of payload format 2.0 are known to the local stack")
	}
	uri, _ := call["uri"].(map[string]any)
	template, _ := uri["Fn::Sub"].(string)
	found := functionARN.FindStringSubmatch(template)
	if found == nil {
		return "", fmt.Errorf("integration %q names no function of the template", template)
	}
	return found[1], nil
}

// match finds the route for a request by API Gateway's order: a full match before a greedy one before
// $default, literal segments before variables, and the method itself before ANY.
func match(routes []Route, method, path string) (Route, map[string]string, bool) {
	var (
		best       Route
		bestValues map[string]string
		bestRank   string
	)
	for _, route := range routes {
		if route.Method != method && route.Method != anyMethod {
			continue
		}
		values, rank, ok := fit(route.Path, path)
		if !ok {
			continue
		}
		if route.Method == anyMethod {
			rank += "1"
		} else {
			rank += "0"
		}
		if bestRank == "" || rank < bestRank {
			best, bestValues, bestRank = route, values, rank
		}
	}
	return best, bestValues, bestRank != ""
}

// fit compares one route's path with a request's. Lower ranks are more specific, segment by segment.
func fit(pattern, path string) (values map[string]string, rank string, ok bool) {
	if pattern == defaultRoute {
		return nil, "3", true
	}
	want, have := segments(pattern), segments(path)
	values = map[string]string{}
	for i, segment := range want {
		name, variable := strings.CutPrefix(segment, "{")
		name = strings.TrimSuffix(name, "}")
		switch greedy := strings.HasSuffix(name, "+"); {
		case variable && greedy:
			if i >= len(have) {
				return nil, "", false
			}
			values[strings.TrimSuffix(name, "+")] = strings.Join(have[i:], "/")
			return values, "2" + rank, true
		case i >= len(have):
			return nil, "", false
		case variable && have[i] != "":
			values[name] = have[i]
			rank += "1"
		case !variable && segment == have[i]:
			rank += "0"
		default:
			return nil, "", false
		}
	}
	return values, "1" + rank, len(want) == len(have)
}

func segments(path string) []string { return strings.Split(strings.TrimPrefix(path, "/"), "/") }
