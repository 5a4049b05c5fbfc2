package dynamo

import (
	"reflect"
	"strings"
)

// assign is a write of the owned attributes: it sets the ones that row has, and removes the others.
func assign(row any, owned []string) (write, error) {
	item, err := marshal(row)
	if err != nil {
		return write{}, err
	}
	w := write{values: given{}, sets: attributes{}}
	var set, remove []string
	for _, name := range owned {
		w.sets[name] = item[name]
		if value, present := item[name]; present {
			set = append(set, "#"+name+" = :"+name)
			w.values[":"+name] = value
			continue
		}
		remove = append(remove, "#"+name)
	}
	w.expression = "SET " + strings.Join(set, ", ")
	if len(remove) > 0 {
		w.expression += " REMOVE " + strings.Join(remove, ", ")
	}
	return w, nil
}

// namesOf are the attributes that the tags of a struct name, without some of them.
func namesOf[T any](without ...string) []string {
	skip := map[string]bool{"": true, "-": true}
	for _, name := range without {
		skip[name] = true
	}
	var named []string
	for _, field := range reflect.VisibleFields(reflect.TypeFor[T]()) {
		name, _, _ := strings.Cut(field.Tag.Get("dynamodbav"), ",")
		if !skip[name] {
			named = append(named, name)
		}
	}
	return named
}
