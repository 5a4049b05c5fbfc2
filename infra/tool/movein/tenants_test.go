package movein

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestReadTenantMap(t *testing.T) {
	want := TenantMap{"app_1": "acme.com", "42": "auth0|42", "a b, c": "org:123"}
	for name, file := range map[string]string{
		"JSON lines": `{"id":"app_1","tenant_id":"acme.com"}` + "\n\n" + `{"id":42,"tenant_id":"auth0|42"}` + "\r\n" +
			`{"tenant_id":"org:123","id":"a b, c"}`,
		"CSV":                        "app_1,acme.com\n42, auth0|42\r\n\"a b, c\",org:123\n",
		"CSV with a head":            "id,tenant_id\napp_1,acme.com\n42,auth0|42\n\"a b, c\",org:123",
		"a line that is there twice": "app_1,acme.com\napp_1,acme.com\n42,auth0|42\n\"a b, c\",org:123\n",
	} {
		got, err := ReadTenantMap([]byte(file))
		if diff := cmp.Diff(want, got); diff != "" || err != nil {
			t.Errorf("%s: %v (-want +got):\n%s", name, err, diff)
		}
	}
}

func TestReadTenantMap_namesTheLineOfEachFault(t *testing.T) {
	for file, want := range map[string][]string{
		"":               {"has no tenant in it"},
		"id,tenant_id\n": {"has no tenant in it"},
		"a,b\nc\nd,e,f\ng,h i\n,x": {
			"line 2: has 1 fields", "line 3: has 3 fields", "line 4: the tenant_id must be", "line 5: has no id"},
		"a,b\na,c":   {"line 2: a has another tenant on line 1"},
		"a,b\n\"c,d": {"line 2: is no CSV"},
		`{"id":"a","tenant_id":"b"}` + "\n" + `{"id":"a","tenant":"b"}` + "\nx\n" + `{"id":"c"}`: {
			"line 2: is no object", "line 3: is no object", "line 4: has no id, or no tenant_id"},
		strings.Repeat("a,/\n", 30): {"line 20: the tenant_id must be 1 to 128", "there are 10 more faults"},
	} {
		got, err := ReadTenantMap([]byte(file))
		if err == nil || got != nil {
			t.Errorf("%q is taken: %v", file, got)
			continue
		}
		for _, says := range want {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("%q: %v, want %s", file, err, says)
			}
		}
	}
}

func TestEndpoints_takesTenantsFromAMap(t *testing.T) {
	const object = `{"url":"https://a.example.com","org":{"id":"acme eu/1"},"tenant_id":"app_1",` + secret + `}`
	for _, c := range []struct{ flag, want string }{
		{"", "acme"}, {"org.id", "acme=20eu=2F1"}, {"org.name", ""}, {"url", ""},
	} {
		r := rules(Svix)
		r.Field = c.flag
		r.Tenants = TenantMap{"app_1": "acme", "acme eu/1": "acme=20eu=2F1"}
		_, report := convert(t, object, r)
		if got := report.Objects[0]; got.TenantID != c.want || got.LeftOut != (c.want == "") {
			t.Errorf("--tenant-field %s: %q, left out %t, want %q", c.flag, got.TenantID, got.LeftOut, c.want)
		}
		if c.flag == "url" && !strings.Contains(told(report), "is not in the file of --tenant-map") {
			t.Error(told(report))
		}
	}
}

// Threat of another sender: makes endpoints another tenant's. Held by: the operator names the tenant's field;
// `webhooks` checks each line.
func TestEndpoints_namesTenants(t *testing.T) {
	object := func(fields string) string { return `{"url":"https://a.example.com",` + fields + `,` + secret + `}` }
	for _, c := range []struct {
		tenant, field, object, want string
	}{
		{"", "", object(`"tenant_id":"acme"`), "acme"},
		{"", "", object(`"tenant_id":42`), "42"},
		{"umbrella", "", object(`"tenant_id":"acme"`), "umbrella"},
		{"..a", "", object(`"tenant_id":"acme"`), "..a"},
		{".hidden", "", object(`"tenant_id":"acme"`), ".hidden"},
		{"", "org", object(`"tenant_id":"acme","org":"umbrella"`), "umbrella"},
		{"", "metadata.org.id", object(`"metadata":{"org":{"id":"umbrella"}}`), "umbrella"},
		{"", "", object(`"uid":"acme"`), ""},
		{"", "", object(`"tenant_id":"acme.eu"`), "acme.eu"},
		{"", "", object(`"tenant_id":"acme/eu"`), ""},
		{"", "metadata.org", object(`"metadata":"acme"`), ""},
		{"", ".", object(`"metadata":"acme"`), ""},
	} {
		r := rules(Svix)
		r.Tenant, r.Field = c.tenant, c.field
		_, report := convert(t, c.object, r)
		if got := report.Objects[0]; got.TenantID != c.want || got.LeftOut != (c.want == "") {
			t.Errorf("--tenant %s, --tenant-field %s of %s: %q, left out %t, want %q",
				c.tenant, c.field, c.object, got.TenantID, got.LeftOut, c.want)
		}
	}
}

// All endpoints would move into a tenant of the field's name.
func TestEndpoints_takesNoFieldForATenant(t *testing.T) {
	for tenant, field := range map[string]string{
		"owner_id": "owner_id", ".owner_id": "owner_id", "metadata.org": "metadata.org", ".metadata.org": "metadata.org",
	} {
		r := rules(Convoy)
		r.Tenant = tenant
		_, _, err := Endpoints([]byte(`{"owner_id":"acme","metadata":{"org":"acme"}}`), r)
		if err == nil || !strings.HasSuffix(err.Error(), "write --tenant-field "+field+" for the tenant that it names") {
			t.Errorf("%s: %v", tenant, err)
		}
	}
}
