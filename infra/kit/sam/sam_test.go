package sam

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func template(t *testing.T, resources string) *Template {
	t.Helper()
	tpl := &Template{Parameters: map[string]string{"Level": "DEBUG"}}
	body := `{"Parameters":{"Level":{"Default":"INFO"}},"Resources":` + resources +
		`,"Outputs":{"Url":{"Value":{"Fn::Sub":"https://${Api}.x"}},"Queue":{"Value":{"Ref":"Queue"}}}}`
	if err := json.Unmarshal([]byte(body), &tpl.Body); err != nil {
		t.Fatal(err)
	}
	return tpl
}

func TestTemplate_Deployable_leavesOutWhatTheEmulatorDoesNotKnow(t *testing.T) {
	t.Parallel()
	tpl := template(t, `{"Queue":{"Type":"AWS::SQS::Queue"},"Api":{"Type":"AWS::ApiGatewayV2::Api"},
		"Allow":{"Type":"AWS::Lambda::Permission","Properties":{
			"SourceArn":{"Fn::Sub":["arn:${__Api__}",{"__Api__":{"Ref":"Api"}}]}}}}`)
	body, removed, err := tpl.Deployable()
	if err != nil {
		t.Fatal(err)
	}
	want := map[string][]string{"AWS::Lambda::Permission": {"Allow"}, "AWS::ApiGatewayV2::Api": {"Api"}}
	if diff := cmp.Diff(want, removed); diff != "" {
		t.Errorf("left out (-want +got):\n%s", diff)
	}
	wantBody := map[string]any{
		"Resources":  map[string]any{"Queue": map[string]any{"Type": "AWS::SQS::Queue"}},
		"Outputs":    map[string]any{"Queue": map[string]any{"Value": map[string]any{"Ref": "Queue"}}},
		"Parameters": tpl.Body["Parameters"],
	}
	if diff := cmp.Diff(wantBody, body); diff != "" {
		t.Errorf("template (-want +got):\n%s", diff)
	}
	if len(tpl.Body["Resources"].(map[string]any)) != 3 {
		t.Error("the template itself was changed")
	}
}

func TestTemplate_Deployable_refusesAResourceThatNeedsOneLeftOut(t *testing.T) {
	t.Parallel()
	for _, reference := range []string{`{"Ref":"Api"}`, `{"Fn::GetAtt":["Api","Arn"]}`, `{"Fn::GetAtt":"Api.Arn"}`,
		`{"Fn::Sub":"x${Api.Arn}"}`, `{"Fn::Sub":["${Api}",{}]}`, `[{"Fn::Join":["",[{"Ref":"Api"}]]}]`} {
		tpl := template(t, `{"Api":{"Type":"AWS::ApiGatewayV2::Api"},
			"Queue":{"Type":"AWS::SQS::Queue","Properties":{"X":`+reference+`}}}`)
		if _, _, err := tpl.Deployable(); err == nil {
			t.Errorf("%s was deployed", reference)
		}
	}
}

func TestTemplate_Text_resolvesParameters(t *testing.T) {
	t.Parallel()
	tpl := template(t, `{}`)
	for value, want := range map[string]string{`"plain"`: "plain", `{"Ref":"Level"}`: "DEBUG",
		`{"Ref":"Nobody"}`: "", `7`: ""} {
		var v any
		if err := json.Unmarshal([]byte(value), &v); err != nil {
			t.Fatal(err)
		}
		if got := tpl.Text(v); got != want {
			t.Errorf("%s is %q, want %q", value, got, want)
		}
	}
}
