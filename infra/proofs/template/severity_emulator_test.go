//go:build emulator

package template

import "testing"

// With one topic, all alarms go there.
func TestAlarms_tellTheTopicOfTheirSeverityWhenTheyBeginAndEnd(t *testing.T) {
	documented := severities(t)
	const page, ticket = "AlarmTopicArn", "TicketTopicArn"
	for name, row := range map[string]struct {
		given []string
		want  map[string]string // the topic that is told, by severity
	}{
		"no topic":     {nil, map[string]string{"page": "", "ticket": ""}},
		"one for all":  {[]string{page}, map[string]string{"page": page, "ticket": page}},
		"tickets only": {[]string{ticket}, map[string]string{"page": "", "ticket": ticket}},
		"one for each": {[]string{page, ticket}, map[string]string{"page": page, "ticket": ticket}},
	} {
		var parameters []string
		for _, topic := range row.given {
			parameters = append(parameters, topic+"=arn:aws:sns:eu-central-1:111122223333:"+topic)
		}
		for id, r := range translated(t, parameters...).OfType("AWS::CloudWatch::Alarm") {
			for _, reaction := range []string{"AlarmActions", "OKActions"} {
				told := ""
				for _, topic := range list(r.Properties[reaction]) {
					told += target(topic)
				}
				if want, known := row.want[documented[id]]; !known || told != want {
					t.Errorf("%s: of %s, a %q, %s tells %q", name, id, documented[id], reaction, told)
				}
			}
		}
	}
}
