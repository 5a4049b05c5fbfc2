package bindings

import (
	"maps"
	"path/filepath"
	"testing"

	"github.com/hashicorp/hcl/v2"
	"github.com/hashicorp/hcl/v2/ext/tryfunc"
	"github.com/hashicorp/hcl/v2/hclparse"
	"github.com/hashicorp/hcl/v2/hclsyntax"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/convert"
	"github.com/zclconf/go-cty/cty/function"
	"github.com/zclconf/go-cty/cty/function/stdlib"
)

// functions are those of Terraform that the module calls. Terraform itself reads the module in make terraform.
var functions = map[string]function.Function{
	"alltrue": function.New(&function.Spec{
		Params: []function.Parameter{{Name: "list", Type: cty.DynamicPseudoType}},
		Type:   function.StaticReturnType(cty.Bool),
		Impl: func(args []cty.Value, _ cty.Type) (cty.Value, error) {
			for _, v := range args[0].AsValueSlice() {
				if v.False() {
					return cty.False, nil
				}
			}
			return cty.True, nil
		},
	}),
	"can": tryfunc.CanFunc, "contains": stdlib.ContainsFunc, "join": stdlib.JoinFunc, "keys": stdlib.KeysFunc,
	"length": stdlib.StrlenFunc, "regex": stdlib.RegexFunc, "split": stdlib.SplitFunc,
	"tostring": stdlib.MakeToFunc(cty.String), "try": tryfunc.TryFunc, "values": stdlib.ValuesFunc,
}

// module is the Terraform module.
type module struct{ blocks []*hclsyntax.Block }

func parsed(t *testing.T) module {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, "infra/install/terraform/*.tf"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no module: %v", err)
	}
	return blocks(t, files...)
}

func blocks(t *testing.T, files ...string) (m module) {
	t.Helper()
	parser := hclparse.NewParser()
	for _, name := range files {
		file, problems := parser.ParseHCLFile(name)
		if problems.HasErrors() {
			t.Fatal(problems)
		}
		m.blocks = append(m.blocks, file.Body.(*hclsyntax.Body).Blocks...)
	}
	return m
}

// labelled are the blocks of a kind by their last label.
func (m module) labelled(kind string) map[string]*hclsyntax.Body {
	found := map[string]*hclsyntax.Body{}
	for _, block := range m.blocks {
		if block.Type == kind {
			found[block.Labels[len(block.Labels)-1]] = block.Body
		}
	}
	return found
}

func value(t *testing.T, e hcl.Expression, known map[string]cty.Value) cty.Value {
	t.Helper()
	v, problems := e.Value(&hcl.EvalContext{Variables: known, Functions: functions})
	if problems.HasErrors() {
		t.Fatal(problems)
	}
	return v
}

// given returns the values that expressions may name: the defaults of the variables, replaced by those that are set.
func (m module) given(t *testing.T, set map[string]cty.Value) map[string]cty.Value {
	t.Helper()
	variables := map[string]cty.Value{}
	for name, body := range m.labelled("variable") {
		if body.Attributes["default"] != nil {
			variables[name] = value(t, body.Attributes["default"].Expr, nil)
		}
	}
	maps.Copy(variables, set)
	current := func(name, value string) cty.Value {
		return cty.ObjectVal(map[string]cty.Value{"current": cty.ObjectVal(map[string]cty.Value{name: cty.StringVal(value)})})
	}
	known := map[string]cty.Value{
		"var": cty.ObjectVal(variables),
		"data": cty.ObjectVal(map[string]cty.Value{
			"aws_region": current("id", "eu-central-1"), "aws_partition": current("dns_suffix", "amazonaws.com"),
		}),
	}
	m.addLocals(t, known)
	return known
}

// addLocals gives the locals their values, those first that name no others.
func (m module) addLocals(t *testing.T, known map[string]cty.Value) {
	t.Helper()
	open, locals := map[string]hcl.Expression{}, map[string]cty.Value{}
	for _, block := range m.blocks {
		if block.Type == "locals" {
			for name, attribute := range block.Body.Attributes {
				open[name] = attribute.Expr
			}
		}
	}
	for before := -1; len(locals) != before; {
		before = len(locals)
		for name, e := range open {
			v, problems := e.Value(&hcl.EvalContext{Variables: known, Functions: functions})
			if !problems.HasErrors() {
				locals[name] = v
			}
		}
		known["local"] = cty.ObjectVal(locals)
	}
	for name, e := range open {
		if locals[name] == cty.NilVal {
			value(t, e, known) // says why it has none
		}
	}
}

// allows says whether the variable takes the value.
func (m module) allows(t *testing.T, name string, v cty.Value) bool {
	t.Helper()
	body := m.labelled("variable")[name]
	kinds := map[string]cty.Type{"string": cty.String, "number": cty.Number, "bool": cty.Bool}
	typed, err := convert.Convert(v, kinds[hcl.ExprAsKeyword(body.Attributes["type"].Expr)])
	if err != nil {
		return false
	}
	known := map[string]cty.Value{"var": cty.ObjectVal(map[string]cty.Value{name: typed})}
	for _, block := range body.Blocks {
		if block.Type == "validation" && value(t, block.Body.Attributes["condition"].Expr, known).False() {
			return false
		}
	}
	return true
}
