package usage

import (
	"errors"
	"fmt"
	"math"
	"regexp"
	"slices"

	"github.com/urfave/cli/v3"

	"github.com/herald-webhooks/herald/internal/operators/invoke"
)

// Text is a flag with any value.
func Text(name, usage string) cli.Flag { return &cli.StringFlag{Name: name, Usage: usage} }

// Times are the two flags of a range of time, named by what happened then. Where a command has one such range alone, or
// two of which one is meant without a name, short is true: --since and --until will do.
func Times(when, about string, short bool) []cli.Flag {
	var flags []cli.Flag
	for _, end := range []struct{ name, usage string }{
		{"since", about + "; 7d or 2h (ago), 22:00 (here), 2026-01-02 or 2026-01-02T15:04:05Z"},
		{"until", "likewise; 22:00 is the first one after since"},
	} {
		f := &cli.StringFlag{Name: when + "-" + end.name, Usage: end.usage}
		if short {
			f.Aliases = []string{end.name}
		}
		flags = append(flags, f)
	}
	return flags
}

// Output is the flag that chooses between tables and JSON.
func Output() cli.Flag {
	f := among("output", "table or json", "table", "json")
	f.Aliases, f.Value = []string{"o"}, "table"
	return f
}

// Among is a flag with one of a few values.
func Among(name, usage string, known ...string) cli.Flag { return among(name, usage, known...) }

func among(name, usage string, known ...string) *cli.StringFlag {
	return &cli.StringFlag{Name: name, Usage: usage, Validator: func(given string) error {
		if given == "" || slices.Contains(known, given) { // empty is refused elsewhere
			return nil
		}
		return fmt.Errorf("%s", invoke.NoSuch(name, given, known))
	}}
}

// Number is a flag with a whole number.
func Number(name, usage string, value, least, most int) cli.Flag {
	return &cli.IntFlag{Name: name, Value: value, Usage: usage, Validator: func(n int) error {
		switch {
		case n >= least && n <= most:
			return nil
		case most == math.MaxInt:
			return fmt.Errorf("must be at least %d", least)
		}
		return fmt.Errorf("must be %d to %d", least, most)
	}}
}

var accountForm = regexp.MustCompile(`^[0-9]{12}$`)

// CheckAccount refuses a text that is no number of an AWS account.
func CheckAccount(account string) error {
	if !accountForm.MatchString(account) {
		return errors.New("--account is the 12 digits of an AWS account")
	}
	return nil
}
