//go:build !linux

package main

import (
	"os/exec"
	"syscall"
)

// group has a program be a group of processes with those that it starts. One that is left
// has to be ended by hand.
func group(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
