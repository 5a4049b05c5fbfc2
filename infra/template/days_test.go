package template

// days are what may happen to a stage and exactly the alarms that it raises. TestAlarms_onEveryDay
// lives through each; the runbook's table of alarms names them.
var days = []struct {
	name   string
	raises []string
}{
	{"a good day", nil},
	{"a silent day", nil},
	{"one invocation meets faults of ours", nil},
	{"a tenant's endpoint is down", nil},
	{"a death a minute, each sealed at once", nil},

	{"KMS refuses to open secrets", []string{"DeliverFaultsAlarm"}},
	{"KMS refuses, a delivery every four minutes", []string{"DeliverFaultsAlarm"}},
	{"IAM refuses deliver and release the endpoints", []string{"DeliverFaultsAlarm", "ReleaseFaultsAlarm"}},
	{"IAM refuses fanout the endpoints", []string{"FanoutFaultsAlarm"}},
	{"DeliveryQueue takes nothing", []string{"FanoutFaultsAlarm"}},
	{"RetryQueue takes nothing", []string{"ResultsLostAlarm"}},
	{"visibility timeouts cannot be changed", []string{"ResultsLostAlarm"}},
	{"IAM refuses deliver the delivery states", []string{"ResultsLostAlarm"}},
	{"DynamoDB throttles everything", []string{
		"DeadLettersStuckAlarm", "DeadletterFaultsAlarm", "DeliverFaultsAlarm", "FanoutFaultsAlarm",
		"ReleaseFaultsAlarm", "ReleaseTicksMissingAlarm", "ResultsLostAlarm", "TableThrottlesAlarm",
	}},
	{"KMS refuses data keys", []string{"DeadLettersStuckAlarm", "DeadletterFaultsAlarm"}},
	{"deadletter does not run", []string{"DeadLettersStuckAlarm"}},
	{"every endpoint is down", []string{"FirstAttemptsAlarm"}},
	{"a burst of deaths", []string{"DeathsAlarm"}},
	{"logs are refused", []string{"MetricsLostAlarm", "ReleaseTicksMissingAlarm"}},
	{"release does not run", []string{"ReleaseTicksMissingAlarm"}},
	{"release cannot read what is due", []string{"ReleaseFaultsAlarm", "ReleaseTicksMissingAlarm"}},
	{"Backlog deletes nothing", []string{"BacklogLateAlarm", "ReleaseFaultsAlarm"}},
	{"release does not keep up", []string{"BacklogLateAlarm"}},
	{"DynamoDB throttles Backlog", []string{"WaitingThrottlesAlarm"}},

	{"events are rejected", []string{"RejectedEventsAlarm"}},
	{"an event fails again and again", []string{"RejectedEventsAlarm"}},
	{"rejected events wait for a day", []string{"RejectedEventsWaitingAlarm"}},
	{"fanout does not keep up", []string{"EventsAgeAlarm"}},
	{"deliver does not keep up", []string{"DeliveryAgeAlarm", "RetryBacklogAlarm"}},
	{"deliveries pile up in flight", []string{"DeliveryInFlightAlarm", "RetryInFlightAlarm"}},
	{"every function crashes", []string{
		"ApikeysErrorsAlarm", "ControlErrorsAlarm", "DeadletterErrorsAlarm", "DeliverErrorsAlarm", "FanoutErrorsAlarm",
		"InspectErrorsAlarm", "ReleaseErrorsAlarm", "ReplayErrorsAlarm", "WebhooksErrorsAlarm",
	}},
	{"Lambda throttles", []string{"ThrottlesAlarm"}},
	{"the management API fails", []string{"ApiErrorsAlarm"}},
}

// provenBy are the days that raise each alarm, by its logical id.
func provenBy() map[string][]string {
	by := map[string][]string{}
	for _, d := range days {
		for _, alarm := range d.raises {
			by[alarm] = append(by[alarm], d.name)
		}
	}
	return by
}
