package receiver

import (
	"net"
	"net/url"
	"strings"
)

// Tenants are made-up customers. The local stack's certificate is for all hosts of theirs, below localhost.
var Tenants = []string{"acme", "globex", "hooli", "initech", "piedpiper", "soylent", "umbrella", "wayne"}

// Hosts are the names of a certificate for all receivers on this machine.
func Hosts() []string {
	hosts := []string{"127.0.0.1", "::1", "localhost", "*.localhost"}
	for _, t := range Tenants {
		hosts = append(hosts, "*."+t+".localhost")
	}
	return hosts
}

// Named is a URL of a server with another name of this machine: that of a tenant's service, such as
// "audit-log.acme.localhost". Without a tenant, it is "audit-log.localhost".
func Named(at, service, tenant string) string {
	u, err := url.Parse(at)
	if err != nil {
		return at // the stack refuses it
	}
	labels := strings.ReplaceAll(service, " ", "-")
	if tenant != "" {
		labels += "." + tenant
	}
	u.Host = net.JoinHostPort(labels+".localhost", u.Port())
	return u.String()
}
