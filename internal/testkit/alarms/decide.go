package alarms

// decide turns data points, the newest first, into a state ("Configuring how CloudWatch alarms
// treat missing data"): where enough real ones exist, the newest of them decide; else all real ones
// do, and the rest is filled up as the alarm says.
func (a *Alarm) decide(points []number, state State) (State, error) {
	breaching, real := 0, 0
	for _, p := range points {
		if !p.present || real == a.evaluation {
			continue
		}
		real++
		breach, err := a.breaches(p.value)
		if err != nil {
			return "", err
		}
		if breach {
			breaching++
		}
	}
	absent := a.evaluation - real
	switch {
	case breaching >= a.datapoints:
		return InAlarm, nil
	case absent == 0:
		return OK, nil
	}
	switch a.treatment() {
	case "notBreaching":
		return OK, nil
	case "breaching":
		if breaching+absent >= a.datapoints {
			return InAlarm, nil
		}
		return OK, nil
	default:
		return a.decideMissing(points, state)
	}
}

// decideMissing is decide for "missing" and "ignore", with too few real data points and too few of
// them breaching: one within the threshold is enough to be OK. Else "ignore" changes nothing.
func (a *Alarm) decideMissing(points []number, state State) (State, error) {
	oldest := -1
	for i, p := range points {
		if !p.present {
			continue
		}
		oldest = i
		if breach, err := a.breaches(p.value); !breach || err != nil {
			return OK, err
		}
	}
	switch {
	case a.treatment() == "ignore":
		return state, nil
	case oldest < 0:
		return InsufficientData, nil
	case oldest+1 >= a.datapoints: // old enough, and nothing since was within the threshold
		return InAlarm, nil
	default:
		return state, nil
	}
}
