// Command tick is a function for the tests of schedules: it takes longer than a minute of the local stack and fails.
package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-lambda-go/lambda"
)

func main() { lambda.Start(handle) }

func handle(context.Context) error {
	fmt.Println("begin")
	time.Sleep(7 * time.Second)
	fmt.Println("end")
	return errors.New("as asked")
}
