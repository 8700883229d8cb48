//go:build !race

package rowproto

const raceDetector = false
