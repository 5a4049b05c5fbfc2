package main

import (
	"archive/zip"
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// ofFunction is the name of an archive with a function's code, which has part of its digest. Others, such as that of
// the site, are for people.
var ofFunction = regexp.MustCompile(`^([a-z]+)-[0-9a-f]+\.zip$`)

// stage copies a package, and has each function's archive hold the build for this machine, which runs it.
func stage(source, functions, folder string) error {
	if err := os.CopyFS(folder, os.DirFS(source)); err != nil {
		return fmt.Errorf("copying the package: %w", err)
	}
	archives, _ := filepath.Glob(filepath.Join(folder, "*.zip")) // the pattern is well formed
	staged := 0
	for _, archive := range archives {
		named := ofFunction.FindStringSubmatch(filepath.Base(archive))
		if named == nil {
			continue
		}
		err := checkArchive(archive)
		if err == nil {
			err = replaceArchive(archive, filepath.Join(functions, named[1], "bootstrap"))
		}
		if err != nil {
			return fmt.Errorf("%s: %w", filepath.Base(archive), err)
		}
		staged++
	}
	if staged == 0 {
		return fmt.Errorf("no archive of a function is in %s: run `make package`", source)
	}
	return nil
}

// checkArchive refuses an archive that Lambda could not run: it needs an executable for arm64 by the name bootstrap.
func checkArchive(archive string) error {
	read, err := zip.OpenReader(archive)
	if err != nil {
		return fmt.Errorf("reading: %w", err)
	}
	defer read.Close() //nolint:errcheck // it was only read
	for _, file := range read.File {
		if file.Name != "bootstrap" {
			continue
		}
		if file.Mode()&0o111 == 0 {
			return errors.New("bootstrap is not executable")
		}
		return checkMachine(file)
	}
	return errors.New("it has no bootstrap")
}

func checkMachine(file *zip.File) error {
	content, err := file.Open()
	if err != nil {
		return fmt.Errorf("opening bootstrap: %w", err)
	}
	defer content.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(content)
	if err != nil {
		return fmt.Errorf("reading bootstrap: %w", err)
	}
	binary, err := elf.NewFile(strings.NewReader(string(text)))
	if err != nil {
		return fmt.Errorf("reading bootstrap: %w", err)
	}
	if binary.Machine != elf.EM_AARCH64 {
		return fmt.Errorf("bootstrap is for %s, and the template says arm64", binary.Machine)
	}
	return nil
}

func replaceArchive(archive, binary string) error {
	text, err := os.ReadFile(binary) //nolint:gosec // make native built it
	if err != nil {
		return fmt.Errorf("reading the build for this machine: %w: run `make native`", err)
	}
	out, err := os.Create(archive) //nolint:gosec // in the folder of this rehearsal
	if err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	write := zip.NewWriter(out)
	header := &zip.FileHeader{Name: "bootstrap", Method: zip.Store}
	header.SetMode(0o755)
	entry, err := write.CreateHeader(header)
	if err == nil {
		_, err = entry.Write(text)
	}
	if err := errors.Join(err, write.Close(), out.Close()); err != nil {
		return fmt.Errorf("writing: %w", err)
	}
	return nil
}
