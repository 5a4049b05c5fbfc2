package testkit

import (
	"maps"
	"os"
	"reflect"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	dynamotypes "github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// telling reports whether the server reports a call's consumption. DynamoDB Local does; moto says 1 for everything.
func telling() bool { return os.Getenv(secondEngine) != "" }

// asking is the call with a request for its consumption.
func asking(parameters any) any {
	call := reflect.New(reflect.TypeOf(parameters).Elem())
	call.Elem().Set(reflect.ValueOf(parameters).Elem())
	if ask := call.Elem().FieldByName("ReturnConsumedCapacity"); ask.IsValid() {
		ask.Set(reflect.ValueOf(dynamotypes.ReturnConsumedCapacityIndexes))
	}
	return call.Interface()
}

// told is the consumption that an answer reports, by "table" and "table/index".
func told(result any) map[string]float64 {
	var all []dynamotypes.ConsumedCapacity
	switch capacity := reflect.ValueOf(result).Elem().FieldByName("ConsumedCapacity").Interface().(type) {
	case *dynamotypes.ConsumedCapacity:
		if capacity != nil {
			all = append(all, *capacity)
		}
	case []dynamotypes.ConsumedCapacity:
		all = capacity
	}
	units := map[string]float64{}
	for _, of := range all {
		table := aws.ToString(of.TableName)
		if of.Table != nil {
			units[table] += aws.ToFloat64(of.Table.CapacityUnits)
		}
		for index, capacity := range of.GlobalSecondaryIndexes {
			units[table+"/"+index] += aws.ToFloat64(capacity.CapacityUnits)
		}
	}
	return units
}

// checkWrites compares the units counted during a call with the answer's.
func (m *Meter) checkWrites(result any, before map[string]int) {
	counted := map[string]float64{}
	for name, units := range m.units {
		counted[name] = float64(units - before[name])
	}
	m.check(result, counted, told(result))
}

// checkReads is checkWrites of reads. DynamoDB Local charges no minimum of a unit for a missing item, except for
// GetItem (Developer Guide, "DynamoDB read and write operations").
func (m *Meter) checkReads(result any, reads []reading) {
	least := 0.0
	if _, one := result.(*dynamodb.GetItemOutput); one {
		least = 1
	}
	counted, says := map[string]float64{}, map[string]float64{}
	for _, r := range reads {
		counted[r.table] += r.units(least)
	}
	for name, units := range told(result) {
		table, _, _ := strings.Cut(name, "/") // Reads has no indexes
		says[table] += units
	}
	m.check(result, counted, says)
}

func (m *Meter) check(result any, counted, says map[string]float64) {
	none := func(_ string, units float64) bool { return units == 0 }
	maps.DeleteFunc(counted, none)
	maps.DeleteFunc(says, none)
	if !maps.Equal(counted, says) {
		m.t.Errorf("testkit: Meter counts %v, and the server %v: %T", counted, says, result)
	}
}
