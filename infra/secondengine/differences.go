package main

// differences are the cases that fail on DynamoDB Local, and why. infra/docs/local-stack.md has them in words.
var differences = map[string]string{
	"internal/dynamo TestDeadLetters_List_findsWhatIsSelected/of_no_time": "BETWEEN with an upper bound below the lower " +
		"one is refused, as on AWS; moto finds nothing",
}
