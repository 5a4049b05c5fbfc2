package httpapi

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// Route is a route of an HTTP API and the logical id of the function behind it.
type Route struct {
	Method   string
	Path     string // with {name} segments, or $default
	Function string
}

const defaultRoute = "$default"

// Key names the route as API Gateway does. Any but the default route's is also a pattern of net/http's.
func (r Route) Key() string {
	if r.Path == defaultRoute {
		return defaultRoute
	}
	return r.Method + " " + r.Path
}

var variable = regexp.MustCompile(`\{([a-z]+)\}`)

func (r Route) variables() []string {
	var names []string
	for _, found := range variable.FindAllStringSubmatch(r.Path, -1) {
		names = append(names, found[1])
	}
	return names
}

// Properties are those of an AWS::ApiGatewayV2::Api, as the SAM translator writes them.
type Properties struct {
	Body struct {
		Paths map[string]map[string]operation
	}
}

type operation struct {
	IsDefaultRoute bool
	Security       any
	Integration    struct {
		Type, PayloadFormatVersion string
		URI                        struct {
			Sub string `json:"Fn::Sub"`
		}
	} `json:"x-amazon-apigateway-integration"`
}

var (
	simpleKey   = regexp.MustCompile(`^(\$default|[A-Z]+ (/[a-z0-9-]+|/\{[a-z]+\})+)$`)
	functionARN = regexp.MustCompile(`\$\{([A-Za-z0-9]+)\.Arn\}`)
)

// Routes returns the routes of an API, and refuses any but the kind that Herald has.
func (p Properties) Routes() ([]Route, error) {
	var routes []Route
	for path, operations := range p.Body.Paths {
		for method, o := range operations {
			route := Route{Method: strings.ToUpper(method), Path: path}
			if o.IsDefaultRoute {
				route = Route{Path: defaultRoute}
			}
			var err error
			if route.Function, err = o.function(); err == nil && !simpleKey.MatchString(route.Key()) {
				err = errors.New("the local stack knows methods and paths of plain and {variable} segments only")
			}
			if err != nil {
				return nil, fmt.Errorf("route %s: %w", route.Key(), err)
			}
			routes = append(routes, route)
		}
	}
	return routes, nil
}

func (o operation) function() (string, error) {
	call := o.Integration
	found := functionARN.FindStringSubmatch(call.URI.Sub)
	if o.Security != nil || call.Type != "aws_proxy" || call.PayloadFormatVersion != "2.0" || found == nil {
		return "", errors.New("the local stack knows Lambda proxies of payload format 2.0 without authorizers only")
	}
	return found[1], nil
}
