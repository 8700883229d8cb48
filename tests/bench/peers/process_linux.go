package main

import (
	"os/exec"
	"syscall"
)

// endWithUs has a program end with this process, however that ends.
func endWithUs(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
