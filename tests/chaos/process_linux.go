package main

import (
	"os/exec"
	"syscall"
)

// diesWithParent has a child end with the driver, however that ends.
func diesWithParent(c *exec.Cmd) { c.SysProcAttr = &syscall.SysProcAttr{Pdeathsig: syscall.SIGKILL} }
