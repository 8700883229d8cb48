package main

import (
	"os/exec"
	"syscall"
)

// group has a program be a group of processes with those that it starts, and end with
// this process, however that ends.
func group(c *exec.Cmd) {
	c.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
