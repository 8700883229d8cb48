package version

import (
	"runtime"
	"runtime/debug"
	"strings"
	"testing"
)

func TestDescribe(t *testing.T) {
	setting := func(key, value string) debug.BuildSetting { return debug.BuildSetting{Key: key, Value: value} }
	for _, c := range []struct {
		build debug.BuildInfo
		want  string
	}{
		{debug.BuildInfo{GoVersion: "go1.2"}, "no commit is known, go1.2"},
		{debug.BuildInfo{GoVersion: "go1.2", Main: debug.Module{Version: "(devel)"}, Settings: []debug.BuildSetting{setting("vcs.revision", "abc")}}, "(devel), commit abc, go1.2"},
		{debug.BuildInfo{GoVersion: "go1.2", Settings: []debug.BuildSetting{
			setting("vcs.revision", "abc"), setting("vcs.time", "2020-01-02T03:04:05Z"), setting("vcs.modified", "true"),
		}}, "commit abc of 2020-01-02T03:04:05Z with changed files, go1.2"},
	} {
		if got := describe(&c.build); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

func TestStringNamesGo(t *testing.T) {
	if got := String(); !strings.HasSuffix(got, runtime.Version()) {
		t.Errorf("got %q, want it to end with %s", got, runtime.Version())
	}
}
