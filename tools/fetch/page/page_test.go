package page

import (
	"flag"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/txtar"
	"github.com/stretchr/testify/require"
)

var update = flag.Bool("update", false, "rewrite the wanted Markdown; read it before it is kept")

var example = &url.URL{Scheme: "https", Host: "example.org", Path: "/docs/page.html"}

// TestShapes reads pages built as well-known programs build theirs.
func TestShapes(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txtar")
	require.NoError(t, err)
	require.Greater(t, len(files), 40)
	for _, file := range files {
		t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar"), func(t *testing.T) {
			b, err := os.ReadFile(file)
			require.NoError(t, err)
			ar := txtar.Parse(b)
			require.Len(t, ar.Files, 2)
			got := show(Read(ar.Files[0].Data, example, Markdown))
			if *update {
				ar.Files[1].Data = []byte(got)
				require.NoError(t, os.WriteFile(file, txtar.Format(ar), 0o644))
				return
			}
			require.Equal(t, string(ar.Files[1].Data), got)
		})
	}
}

func show(p Page) string {
	var b strings.Builder
	b.WriteString("title: " + p.Title + "\npart: " + p.Part + "\n")
	for _, note := range p.Notes {
		b.WriteString("note: " + note + "\n")
	}
	return b.String() + "\n" + p.Text + "\n"
}
