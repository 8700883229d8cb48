//go:build !linux

package main

import "os/exec"

// diesWithParent can't have a child end with a driver that is killed here.
func diesWithParent(*exec.Cmd) {}
