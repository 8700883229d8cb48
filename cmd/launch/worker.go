package main

import (
	"debug/elf"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Machines of Dataflow's with ARM processors, by the beginnings of their types.
var armMachines = []string{"t2a-", "c4a-", "n4a-"}

// architecture returns GOARCH of a machine type.
func architecture(machineType string) string {
	for _, series := range armMachines {
		if strings.HasPrefix(machineType, series) {
			return "arm64"
		}
	}
	return "amd64"
}

var elfMachines = map[string]elf.Machine{"amd64": elf.EM_X86_64, "arm64": elf.EM_AARCH64}

// checkWorker reports why a binary can't run on Dataflow's workers: they have Linux,
// and their image has no C library to link to.
func checkWorker(path, architecture string) error {
	file, err := elf.Open(path)
	var format *elf.FormatError
	switch {
	case errors.As(err, &format), errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF): // shorter than a program's head
		return errors.New("it is no program for Linux")
	case err != nil:
		return err
	}
	defer func() { _ = file.Close() }() // it was for reading alone
	if file.Machine != elfMachines[architecture] {
		return fmt.Errorf("it is for another processor than the workers' %s", architecture)
	}
	for _, segment := range file.Progs {
		if segment.Type == elf.PT_INTERP {
			return errors.New("it needs a C library, which workers lack")
		}
	}
	return nil
}

// buildWorker tells how to make a binary that runs on the workers.
func buildWorker(architecture string) string {
	return fmt.Sprintf("build one by CGO_ENABLED=0 GOOS=linux GOARCH=%s go build -o worker ./cmd/launch, and give --worker_binary worker", architecture)
}
