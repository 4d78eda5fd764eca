package syntax

import (
	"path"
	"strings"
)

// The languages that names can say.
var (
	langJSON      = &language{"JSON", maxText, checkJSON}
	langJSONLines = &language{"JSON lines", maxText, checkJSONLines}
	langJSONC     = &language{"JSON with comments", maxText, checkJSONC}
	langXML       = &language{"XML", maxText, checkXML}
	langXHTML     = &language{"XHTML", maxText, checkXHTML}
	langYAML      = &language{"YAML", maxTree, checkYAML}
	langTOML      = &language{"TOML", maxTree, checkTOML}
	langGo        = &language{"Go", maxTree, checkGo}
	langBash      = &language{"Bash", maxTree, checkBash}
	langPOSIX     = &language{"shell", maxTree, checkPOSIX}
	langKorn      = &language{"Korn shell", maxTree, checkKorn}
	langBats      = &language{"Bats", maxTree, checkBats}
)

// byExtension holds extensions in lower case.
var byExtension = table(map[*language]string{
	langJSON:      ".json .webmanifest .ipynb .geojson .topojson .jsonld .har .avsc",
	langJSONLines: ".jsonl .ndjson",
	langJSONC:     ".jsonc .code-workspace .code-snippets .sublime-settings .sublime-keymap .sublime-project",
	langYAML:      ".yaml .yml .cff",
	langTOML:      ".toml",
	langXML: ".xml .xsd .xsl .xslt .svg .plist .pom .wsdl .rng .xaml .resx .nuspec .props .targets " +
		".csproj .vbproj .fsproj .vcxproj .rss .atom .kml .gpx .storyboard .xib .entitlements",
	langXHTML: ".xhtml",
	langGo:    ".go",
	langBash:  ".sh .bash",
	langKorn:  ".ksh .mksh",
	langBats:  ".bats",
})

// byName holds whole names, in lower case. They come before extensions.
var byName = table(map[*language]string{
	langJSON: "composer.lock pipfile.lock flake.lock .watchmanconfig .bowerrc .firebaserc",
	langJSONC: ".eslintrc .eslintrc.json .babelrc .babelrc.json .jshintrc .jscsrc .swcrc tslint.json " +
		"devcontainer.json .devcontainer.json cspell.json .cspell.json .markdownlint.json " +
		"opencode.json api-extractor.json rush.json nx.json deno.json language-configuration.json",
	langYAML:  ".clang-format .clang-tidy .clangd .yamllint pubspec.lock",
	langTOML:  "cargo.lock pipfile poetry.lock uv.lock pdm.lock gopkg.lock",
	langBash:  ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .envrc pkgbuild",
	langPOSIX: ".profile",
	langKorn:  ".kshrc .mkshrc",
})

// withComments are folders whose .json files may have comments.
var withComments = map[string]bool{
	".vscode": true, ".zed": true, "zed": true, ".devcontainer": true, ".gemini": true,
}

// table turns lists of names into a map from each name.
func table(lists map[*language]string) map[string]*language {
	names := map[string]*language{}
	for lang, list := range lists {
		for name := range strings.FieldsSeq(list) {
			names[name] = lang
		}
	}
	return names
}

// languageOf returns what the name, and for scripts the first line, says text
// is; nil if nothing.
func languageOf(name, text string) *language {
	name = strings.ToLower(strings.ReplaceAll(name, `\`, "/"))
	folder, base := path.Base(path.Dir(name)), path.Base(name)
	ext := path.Ext(base)
	if ext == base { // a dot file
		ext = ""
	}
	if ext == ".json" && hasComments(folder, base) {
		return langJSONC
	}
	lang := byName[base]
	if lang == nil {
		lang = byExtension[ext]
	}
	if lang.isShell() || lang == nil && ext == "" {
		return scriptLanguage(text, lang)
	}
	return lang
}

// hasComments reports whether comments are fine in the .json file base of
// folder, by the habit of the programs that read it.
func hasComments(folder, base string) bool {
	return withComments[folder] ||
		strings.HasPrefix(base, "tsconfig") ||
		strings.HasPrefix(base, "jsconfig")
}
