// Command recording makes the README's picture: a terminal that plays what a program prints, and then a screenshot.
//
//	ONCE=1 .local/bin/demo | go run ./infra/local/recording -then console.png -out herald.svg
//
// The picture is an SVG that needs no script. A viewer that does not play it, and a reader who wants no motion, sees
// the screenshot. The terminal shows each line in its order. Long waits are shortened, and lines that are wider than
// the terminal are cut.
package main

import (
	"bufio"
	"encoding/base64"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"time"
)

func main() {
	if err := run(os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "recording:", err)
		os.Exit(1)
	}
}

func run(in io.Reader, shown io.Writer) error {
	command := flag.String("command", "make run", "what the terminal shows as typed")
	then := flag.String("then", "", "the PNG of the screenshot")
	out := flag.String("out", "", "the SVG to write")
	flag.Parse()
	screenshot, err := os.ReadFile(*then)
	if err != nil {
		return fmt.Errorf("reading the screenshot: %w", err)
	}
	lines, err := read(in, shown, time.Now)
	if err != nil {
		return err
	}
	picture := draw(*command, lines, base64.StdEncoding.EncodeToString(screenshot))
	return os.WriteFile(*out, picture, 0o644) //nolint:gosec // a document
}

// line is a line of output and the time since the one before it.
type line struct {
	text  string
	after time.Duration
}

// read keeps what it passes on.
func read(in io.Reader, shown io.Writer, now func() time.Time) (lines []line, err error) {
	scanner, last := bufio.NewScanner(in), now()
	for scanner.Scan() {
		at := now()
		lines = append(lines, line{scanner.Text(), at.Sub(last)})
		last = at
		fmt.Fprintln(shown, scanner.Text())
	}
	if err := scanner.Err(); err != nil {
		return nil, fmt.Errorf("reading the output: %w", err)
	}
	if len(lines) == 0 {
		return nil, errors.New("there is no output to record")
	}
	return lines, nil
}
