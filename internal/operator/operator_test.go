package operator

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"
)

type greetRequest struct {
	Page
	Name string   `json:"name"`
	IDs  []string `json:"ids"`
}

type greetAnswer struct {
	Greeting string `json:"greeting"`
}

func testFunction(log *bytes.Buffer) *Function {
	return &Function{
		Name: "greeter",
		Log:  slog.New(slog.NewJSONHandler(log, nil)),
		Now:  func() time.Time { return time.Unix(1_700_000_000, 0) },
		Actions: map[string]Action{
			"greet": Do(func(_ context.Context, call *Call, req greetRequest) (greetAnswer, error) {
				if _, err := req.Size(); err != nil {
					return greetAnswer{}, err
				}
				if err := Required("name", req.Name); err != nil {
					return greetAnswer{}, err
				}
				call.Note(slog.String("delivery_id", req.Name))
				return greetAnswer{"hello " + req.Name + " from " + call.Operator}, nil
			}),
			"fail": Do(func(context.Context, *Call, struct{}) (struct{}, error) {
				return struct{}{}, errors.New("arn:aws:secret detail")
			}),
			"panic": Do(func(context.Context, *Call, struct{}) (struct{}, error) { panic("boom") }),
		},
	}
}

func TestAnswers(t *testing.T) {
	refused := func(code, field string) string { return `"code":"` + code + `"|"field":"` + field + `"` }
	for name, row := range map[string]struct{ in, want string }{
		"done":                {`{"action":"greet","operator":"ann","name":"bob"}`, `{"greeting":"hello bob from ann"}`},
		"operator is UTF-8":   {`{"action":"greet","operator":"Zoë","name":"bob"}`, `{"greeting":"hello bob from Zoë"}`},
		"unknown field":       {`{"action":"greet","operator":"ann","name":"bob","colour":1}`, refused("unknown_field", "colour")},
		"wrong case":          {`{"action":"greet","operator":"ann","Name":"bob"}`, refused("unknown_field", "Name")},
		"wrong type":          {`{"action":"greet","operator":"ann","name":7}`, refused("invalid_field", "name")},
		"wrong type in list":  {`{"action":"greet","operator":"ann","ids":["a",7]}`, refused("invalid_field", "ids")},
		"operator of no type": {`{"action":"greet","operator":7}`, refused("invalid_field", "operator")},
		"missing field":       {`{"action":"greet","operator":"ann"}`, refused("invalid_field", "name")},
		"limit 0":             {`{"action":"greet","operator":"ann","limit":0}`, refused("invalid_field", "limit")},
		"limit 101":           {`{"action":"greet","operator":"ann","limit":101}`, refused("invalid_field", "limit")},
		"limit 1.5":           {`{"action":"greet","operator":"ann","limit":1.5}`, refused("invalid_field", "limit")},
		"no operator":         {`{"action":"greet","name":"bob"}`, refused("invalid_field", "operator")},
		"blank operator":      {`{"action":"greet","operator":" ","name":"bob"}`, refused("invalid_field", "operator")},
		"operator with line":  {`{"action":"greet","operator":"ann\nbob"}`, refused("invalid_field", "operator")},
		"operator too long":   {`{"action":"greet","operator":"` + strings.Repeat("a", 129) + `"}`, refused("invalid_field", "operator")},
		"unknown action":      {`{"action":"shout","operator":"ann"}`, refused("unknown_action", "action") + "|fail, greet, panic"},
		"no action":           {`{"operator":"ann"}`, refused("unknown_action", "action")},
		"duplicate name":      {`{"action":"greet","operator":"ann","name":"a","name":"b"}`, refused("invalid_json", "name")},
		"nothing":             {``, refused("invalid_json", "")},
		"null":                {`null`, refused("invalid_json", "")},
		"a list":              {`[]`, refused("invalid_json", "")},
		"two values":          {`{"action":"greet","operator":"ann"}{}`, refused("invalid_json", "")},
		"bad UTF-8":           {"{\"action\":\"greet\",\"operator\":\"\xff\"}", refused("invalid_json", "")},
	} {
		t.Run(name, func(t *testing.T) {
			var log bytes.Buffer
			got, err := testFunction(&log).Invoke(t.Context(), []byte(row.in))
			if err != nil {
				t.Fatal(err)
			}
			for part := range strings.SplitSeq(row.want, "|") {
				if !strings.Contains(string(got), part) {
					t.Errorf("answer %s lacks %s", got, part)
				}
			}
			if n := bytes.Count(log.Bytes(), []byte("\n")); n != 1 {
				t.Errorf("%d log lines", n)
			}
		})
	}
}

func TestTheLogLineSaysWhoDidWhatToWhich(t *testing.T) {
	var log bytes.Buffer
	if _, err := testFunction(&log).Invoke(t.Context(), []byte(`{"action":"greet","operator":"ann","name":"bob"}`)); err != nil {
		t.Fatal(err)
	}
	var line map[string]any
	if err := json.Unmarshal(log.Bytes(), &line); err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]any{
		"function": "greeter", "action": "greet", "operator": "ann", "delivery_id": "bob", "outcome": "answered",
	} {
		if line[key] != want {
			t.Errorf("%s is %v, want %v", key, line[key], want)
		}
	}
}

func TestFaultsOfOursKeepTheirDetailInTheLog(t *testing.T) {
	for action, detail := range map[string]string{"fail": "arn:aws:secret detail", "panic": "boom"} {
		var log bytes.Buffer
		out, err := testFunction(&log).Invoke(t.Context(), []byte(`{"action":"`+action+`","operator":"ann"}`))
		if out != nil || err == nil || strings.Contains(err.Error(), detail) {
			t.Errorf("%s: answered %s, %v", action, out, err)
		}
		if !strings.Contains(log.String(), detail) || !strings.Contains(log.String(), `"outcome":"failed"`) {
			t.Errorf("%s: logged %s", action, &log)
		}
	}
}

func TestCursorsBelongToOneList(t *testing.T) {
	list := NewList([]int{1}, "endpoint webhook_1", "store cursor")
	got, err := Page{Cursor: *list.NextCursor}.Start("endpoint webhook_1")
	if err != nil || got != "store cursor" {
		t.Errorf("%q, %v", got, err)
	}
	for name, cursor := range map[string]string{"another list": *list.NextCursor, "garbage": "~~~", "short": "YQ"} {
		var refusal *Refusal
		if _, err := (Page{Cursor: cursor}).Start("endpoint webhook_2"); !errors.As(err, &refusal) ||
			refusal.Code != CodeInvalidCursor {
			t.Errorf("%s: %v", name, err)
		}
	}
	if last := NewList[int](nil, "x", ""); last.Data == nil || last.NextCursor != nil {
		t.Errorf("%+v", last)
	}
}

func TestIDs(t *testing.T) {
	got, err := IDs("ids", []string{"b", "a", "b"}, 3)
	if err != nil || strings.Join(got, " ") != "b a" {
		t.Errorf("%v, %v", got, err)
	}
	for name, ids := range map[string][]string{"none": {}, "too many": {"a", "b", "c", "d"}, "an empty one": {"a", ""}} {
		var refusal *Refusal
		if _, err := IDs("ids", ids, 3); !errors.As(err, &refusal) || refusal.Field != "ids" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func FuzzInvoke(f *testing.F) {
	f.Add([]byte(`{"action":"greet","operator":"ann","name":"bob","limit":1,"cursor":"x"}`))
	f.Add([]byte(`{"action":"greet","operator":`))
	f.Fuzz(func(t *testing.T, payload []byte) {
		var log bytes.Buffer
		out, err := testFunction(&log).Invoke(t.Context(), payload)
		if err != nil && !bytes.Contains(payload, []byte("fail")) && !bytes.Contains(payload, []byte("panic")) &&
			!bytes.Contains(payload, []byte(`\u`)) {
			t.Errorf("%q: %v", payload, err)
		}
		if err == nil && !json.Valid(out) {
			t.Errorf("%q: answered %q", payload, out)
		}
	})
}
