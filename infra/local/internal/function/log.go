package function

import (
	"io"
	"os"
)

// LogSize is the size of the function's log, to be given to LogSince later.
func (f *Function) LogSize() int64 {
	info, err := os.Stat(f.LogFile)
	if err != nil {
		return 0
	}
	return info.Size()
}

// LogSince returns the last bytes, at most limit, that all processes wrote after the log had the given size.
func (f *Function) LogSince(size, limit int64) []byte {
	file, err := os.Open(f.LogFile)
	if err != nil {
		return nil
	}
	defer func() { _ = file.Close() }()
	end := f.LogSize()
	lines, _ := io.ReadAll(io.NewSectionReader(file, max(size, end-limit), limit)) // what can be read is shown
	return lines
}
