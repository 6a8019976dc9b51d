package config

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestDirsOfEachPlatform(t *testing.T) {
	home := abs("/home/u")
	at := func(path string) string { return filepath.Join(home, filepath.FromSlash(path)) }
	for _, tc := range []struct {
		name, goos   string
		vars         map[string]string
		data, config string
	}{
		{"linux", "linux", nil, at(".local/share/terminus"), at(".config/terminus")},
		{"freebsd", "freebsd", nil, at(".local/share/terminus"), at(".config/terminus")},
		{"xdg", "linux", map[string]string{"XDG_DATA_HOME": abs("/d"), "XDG_CONFIG_HOME": abs("/c")}, abs("/d/terminus"), abs("/c/terminus")},
		{"macOS", "darwin", nil, at("Library/Application Support/terminus"), at(".config/terminus")},
		{"macOS with xdg", "darwin", map[string]string{"XDG_DATA_HOME": abs("/d"), "XDG_CONFIG_HOME": abs("/c")}, at("Library/Application Support/terminus"), abs("/c/terminus")},
		{"windows", "windows", map[string]string{"LOCALAPPDATA": abs("/l"), "APPDATA": abs("/r"), "XDG_CONFIG_HOME": abs("/c")}, abs("/l/terminus"), abs("/r/terminus")},
		{"windows without a configuration", "windows", map[string]string{"LOCALAPPDATA": abs("/l")}, abs("/l/terminus"), ""},
		{"own variables", "linux", map[string]string{"TERMINUS_DATA_DIR": "rel/data", "TERMINUS_CONFIG_DIR": "rel/config", "XDG_DATA_HOME": abs("/d")}, at("rel/data"), "rel/config"},
		{"own variables as they are", "linux", map[string]string{"TERMINUS_DATA_DIR": abs("/a/../b//c")}, abs("/a/../b//c"), at(".config/terminus")},
		{"relative xdg", "linux", map[string]string{"XDG_DATA_HOME": "d"}, at("d/terminus"), at(".config/terminus")},
	} {
		t.Run(tc.name, func(t *testing.T) {
			d, err := Dirs(environ(tc.goos, home, tc.vars))
			if err != nil || d.Data != tc.data || d.Config != tc.config {
				t.Errorf("%+v, %v; want data %q, configuration %q", d, err, tc.data, tc.config)
			}
		})
	}
}

func TestDirsWithoutAnyPlaceForDataIsAnError(t *testing.T) {
	for _, goos := range []string{"linux", "darwin", "windows"} {
		if _, err := Dirs(Environ{GOOS: goos}); err == nil {
			t.Errorf("%s: no error", goos)
		}
		d, err := Dirs(environ(goos, "", map[string]string{"TERMINUS_CONFIG_DIR": abs("/none")}))
		if err == nil || d.Config != abs("/none") {
			t.Errorf("%s: %+v, %v", goos, d, err)
		}
	}
}

func TestARelativeDataDirectoryNeedsAWorkingDirectory(t *testing.T) {
	e := environ("linux", abs("/home/u"), map[string]string{"TERMINUS_DATA_DIR": "rel/data"})
	e.WorkDir = ""
	if d, err := Dirs(e); err == nil || d.Data != "" || !strings.Contains(err.Error(), `"rel/data"`) {
		t.Errorf("%+v, %v", d, err)
	}
}

func TestPointerFileNamesTheDataDirectory(t *testing.T) {
	moved := abs("/moved/store")
	for _, tc := range []struct {
		name, content string
		want          string // "" means the platform's
		fails         bool
	}{
		{"path", moved, moved, false},
		{"path with blanks around", " \t" + moved + "\r\n\n", moved, false},
		{"empty", "", "", false},
		{"blank", " \n\t\n", "", false},
		{"relative", "moved/store", "", true},
		{"home", "~/store", "", true},
		{"two lines", moved + "\n" + moved, "", true},
		{"huge", strings.Repeat("x", maxPointer+1), "", true},
	} {
		t.Run(tc.name, func(t *testing.T) {
			dir := t.TempDir()
			file := filepath.Join(dir, PointerName)
			writeFile(t, file, tc.content)
			e := environ("linux", abs("/home/u"), map[string]string{"TERMINUS_CONFIG_DIR": dir})
			d, err := Dirs(e)
			switch {
			case tc.fails && (err == nil || !strings.Contains(err.Error(), file) || d.Data != ""):
				t.Errorf("%+v, %v", d, err)
			case tc.fails:
			case err != nil:
				t.Error(err)
			case tc.want != "" && d.Data != tc.want, tc.want == "" && d.Data != abs("/home/u/.local/share/terminus"):
				t.Errorf("data directory is %q", d.Data)
			}
			e = environ("linux", "", map[string]string{"TERMINUS_CONFIG_DIR": dir, "TERMINUS_DATA_DIR": abs("/first")})
			if d, err := Dirs(e); err != nil || d.Data != abs("/first") {
				t.Errorf("the variable does not come first: %+v, %v", d, err)
			}
		})
	}
}

func TestPointerThatCannotBeReadIsAnError(t *testing.T) {
	dir := t.TempDir()
	mkdir(t, filepath.Join(dir, PointerName))
	d, err := Dirs(environ("linux", abs("/home/u"), map[string]string{"TERMINUS_CONFIG_DIR": dir}))
	if err == nil || d.Data != "" {
		t.Errorf("%+v, %v", d, err)
	}
}
