//go:build emulator

package cost

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"

	"github.com/herald-webhooks/herald/internal/testkit/cfn"
)

// scaling is the provisioned capacity of a table, or of its index, for reads or for writes.
type scaling struct {
	table, dimension string
	least            float64 // units, 0 where a parameter says how many
}

// alarmsEach are the alarms that scaling makes for each: two of its use, and two of capacity that others changed.
const alarmsEach = 4

// readScaling reads the template.
func readScaling() (all []scaling) {
	table := regexp.MustCompile(`^table/\$\{(\w+)\}`)
	for _, r := range must(cfn.Read(templateFile)).OfType("AWS::ApplicationAutoScaling::ScalableTarget") {
		s := scaling{dimension: fmt.Sprint(r.Properties["ScalableDimension"])}
		s.table = table.FindStringSubmatch(fmt.Sprint(cfn.At(r.Properties, "ResourceId")["Fn::Sub"]))[1]
		s.least, _ = strconv.ParseFloat(fmt.Sprint(r.Properties["MinCapacity"]), 64)
		all = append(all, s)
	}
	return all
}

// unused is a month of the capacity that deliveries do not use, and of the alarms of all.
func unused(all []scaling) (u usage) {
	for _, s := range all {
		u[alarms] += alarmsEach
		if strings.Contains(s.dimension, "Read") {
			u[idleReads] += s.least * month / hour
		} else {
			u[idleWrites] += s.least * month / hour
		}
	}
	return u
}

// keys are those of the template.
func (b *bill) keys() float64 {
	return float64(len(must(cfn.Read(templateFile)).OfType("AWS::KMS::Key")))
}
