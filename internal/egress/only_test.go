package egress_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// outbound are the names that make a connection or a client that would, by import path.
var outbound = map[string][]string{
	"net/http": {
		"Client", "ClientConn", "Transport", "DefaultClient", "DefaultTransport", "Get", "Head", "Post", "PostForm",
	},
	"net/http/httputil": {
		"ReverseProxy", "NewSingleHostReverseProxy",
		"ClientConn", "NewClientConn", "NewProxyClientConn",
	},
	"net":           {"Dialer", "Dial", "DialTimeout", "DialTCP", "DialIP", "DialUDP", "DialUnix"},
	"net/textproto": {"Dial"},
	"crypto/tls":    {"Client", "Dialer", "Dial", "DialWithDialer"},
	"net/rpc":       {"Dial", "DialHTTP", "DialHTTPPath"},
	"net/smtp":      {"Dial", "SendMail"},
	"log/syslog":    {"Dial"},
	"syscall":       {"Socket", "Connect"},
	"github.com/aws/aws-sdk-go-v2/aws/transport/http": {"NewBuildableClient", "BuildableClient"},
}

// thirdParty are the modules, or packages of them, that may be imported besides the standard
// library and our own. None makes an outbound client but those of AWS, which talk to AWS only.
var thirdParty = []string{
	"code.dny.dev/ssrf",
	"github.com/aws/aws-lambda-go",
	"github.com/aws/aws-sdk-go-v2",
	"github.com/aws/smithy-go",
	"github.com/caarlos0/env/v11",
	"github.com/go-json-experiment/json",
	"github.com/oklog/ulid/v2",
	"golang.org/x/net/idna",
	"golang.org/x/sync",
}

const ours = "github.com/herald-webhooks/herald"

// mayDial are the folders that may: the guard itself, what never runs in a function, and internal/config, which
// bounds the tries of the SDK's own client.
var mayDial = map[string]func(importPath string) bool{
	"internal/egress":  func(string) bool { return true },
	"internal/testkit": func(string) bool { return true },
	"internal/config": func(importPath string) bool {
		return importPath == "github.com/aws/aws-sdk-go-v2/aws/transport/http"
	},
}

func TestEgress_isTheOnlyOutboundClient(t *testing.T) {
	files := 0
	for _, folder := range []string{"functions", "internal"} {
		err := filepath.WalkDir(filepath.Join("..", "..", folder), func(name string, entry fs.DirEntry, err error) error {
			if err != nil || !isProduct(entry) {
				return err
			}
			files++
			for _, found := range outboundIn(t, name, nil) {
				t.Errorf("%s: outbound connections are internal/egress's alone", found)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	if files < 20 {
		t.Errorf("only %d files found: is the scan looking in the right place?", files)
	}
}

func TestOutboundIn_seesEveryWayToMakeOne(t *testing.T) {
	const head = "package p\nimport web \"net/http\"\nimport \"net\"\n"
	for source, want := range map[string]int{
		head + "var c = &web.Client{}":                         1,
		head + "var c web.Client":                              1,
		head + "var c = new(web.Transport)":                    1,
		head + "type c struct{ web.Transport }":                1,
		head + "var c = web.DefaultClient":                     1,
		head + "func f() { web.Get(`x`) }":                     1,
		head + "func f() { net.Dial(`tcp`, `x`) }":             1,
		head + "func f() { d := net.Dialer{}; d.Dial(``,``) }": 1,
		"package p\nimport . \"net/http\"\nvar c Client":       1,

		"package p\nimport \"net/http/httputil\"\nvar p httputil.ReverseProxy":                              1,
		"package p\nimport \"net/http/httputil\"\nvar p = httputil.NewSingleHostReverseProxy(nil)":          1,
		"package p\nimport \"crypto/tls\"\nvar c = tls.Client(nil, nil)":                                    1,
		"package p\nimport \"crypto/tls\"\nvar c tls.Config":                                                0,
		"package p\nimport \"golang.org/x/net/proxy\"":                                                      1,
		"package p\nimport \"golang.org/x/net/http2\"":                                                      1,
		"package p\nimport _ \"github.com/go-resty/resty/v2\"":                                              1,
		"package p\nimport \"golang.org/x/synchronous\"":                                                    1,
		"package p\nimport \"golang.org/x/sync/errgroup\"":                                                  0,
		"package p\nimport \"github.com/herald-webhooks/herald/internal/egress\"":                           0,
		"package p\nimport \"github.com/herald-webhooks/herald-client\"":                                    1,
		"package p\nimport \"github.com/aws/aws-sdk-go-v2/aws/transport/http\"\nvar c http.BuildableClient": 1,

		head + "var c = web.StatusOK":                 0,
		head + "var h web.Header; var l net.Listener": 0,
	} {
		if got := outboundIn(t, "../../functions/x/main.go", []byte(source)); len(got) != want {
			t.Errorf("%q: found %v, want %d", source, got, want)
		}
	}
}

// outboundIn lists the uses of outbound names in a file, read from source when it is given.
func outboundIn(t *testing.T, name string, source []byte) []string {
	t.Helper()
	files := token.NewFileSet()
	var from any
	if source != nil {
		from = source
	}
	file, err := parser.ParseFile(files, name, from, parser.SkipObjectResolution)
	if err != nil {
		t.Fatal(err)
	}
	imports, found := watchedImports(t, name, file)
	ast.Inspect(file, func(node ast.Node) bool {
		selector, ok := node.(*ast.SelectorExpr)
		if !ok {
			return true
		}
		pkg, ok := selector.X.(*ast.Ident)
		if !ok {
			return true
		}
		for _, banned := range outbound[imports[pkg.Name]] {
			if selector.Sel.Name == banned {
				found = append(found, files.Position(selector.Pos()).String()+": "+imports[pkg.Name]+"."+banned)
			}
		}
		return true
	})
	return found
}

// watchedImports maps the local names of the packages to watch to their paths; a dot import leaves nothing to watch
// and is found at once, and so is a package that nobody allowed.
func watchedImports(t *testing.T, name string, file *ast.File) (imports map[string]string, found []string) {
	t.Helper()
	imports = map[string]string{}
	for _, spec := range file.Imports {
		importPath, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if !known(importPath) && !in(name, "internal/testkit") {
			found = append(found, name+": import of "+importPath+", which thirdParty does not list")
		}
		if outbound[importPath] == nil || allowed(name, importPath) {
			continue
		}
		local := path.Base(importPath)
		if spec.Name != nil {
			local = spec.Name.Name
		}
		if local == "." {
			found = append(found, name+": dot import of "+importPath)
		}
		imports[local] = importPath
	}
	return imports, found
}

// isProduct tells a Go file that is not a test.
func isProduct(entry fs.DirEntry) bool {
	name := entry.Name()
	return !entry.IsDir() && strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go")
}

// known reports whether a package is of the standard library, ours or of an allowed third party.
func known(importPath string) bool {
	within := func(module string) bool { return importPath == module || strings.HasPrefix(importPath, module+"/") }
	first, _, _ := strings.Cut(importPath, "/")
	return !strings.Contains(first, ".") || within(ours) || slices.ContainsFunc(thirdParty, within)
}

func allowed(name, importPath string) bool {
	for folder, may := range mayDial {
		if in(name, folder) {
			return may(importPath)
		}
	}
	return false
}

// in reports whether the file is in the folder or below it.
func in(name, folder string) bool {
	return strings.HasPrefix(filepath.ToSlash(name), "../../"+folder+"/")
}
