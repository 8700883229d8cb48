package garbage

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/metrics"
	"strings"
	"testing"
	"time"
)

func TestPercent(t *testing.T) {
	t.Parallel()
	const spare = 256 << 20
	for _, c := range []struct {
		alive uint64
		want  int
	}{
		{0, 1<<31 - 1}, {1 << 20, 25600}, {64 << 20, 400}, {128 << 20, 200}, {255 << 20, 100}, {spare, 100}, {1 << 40, 100},
	} {
		if got := percent(c.alive, spare); got != c.want {
			t.Errorf("of %d bytes alive: %d %%, want %d", c.alive, got, c.want)
		}
	}
}

// TestAllow runs a process of its own, since the collector is the process's.
func TestAllow(t *testing.T) {
	const name = "BEAMCDC_GARBAGE_TEST"
	if os.Getenv(name) != "" {
		Allow(64 << 20)
		fmt.Println(strings.Join(follow(), ","))
		return
	}
	t.Parallel()
	for _, c := range []struct{ gogc, want string }{
		{"", "spares,collects,spares"}, // as what is alive grows and goes
		{"100", "collects,collects,collects"},
	} {
		command := exec.Command(os.Args[0], "-test.run=^TestAllow$")
		command.Env = append(os.Environ(), name+"=1", "GOGC="+c.gogc)
		out, err := command.Output()
		if err != nil {
			t.Fatalf("GOGC=%q: %v\n%s", c.gogc, err, out)
		}
		if got, _, _ := strings.Cut(string(out), "\n"); got != c.want {
			t.Errorf("GOGC=%q: it %s, want %s", c.gogc, got, c.want)
		}
	}
}

// follow tells what the collector does with little, much and little alive again.
func follow() []string {
	var said []string
	patience := 20 * time.Second
	if os.Getenv("GOGC") != "" {
		patience = 50 * time.Millisecond // nothing is to change
	}
	for _, alive := range []int{1 << 20, 128 << 20, 1 << 20} {
		held := make([]byte, alive)
		percent := uint64(100)
		for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(time.Millisecond) {
			runtime.GC()
			sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
			metrics.Read(sample)
			if percent = sample[0].Value.Uint64(); (percent > 100) == (alive < 64<<20) {
				break
			}
		}
		runtime.KeepAlive(held)
		if percent > 100 {
			said = append(said, "spares")
		} else {
			said = append(said, "collects")
		}
	}
	return said
}
