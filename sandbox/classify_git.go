package sandbox

import (
	"slices"
	"strings"
)

const (
	gitDiffLong = "stat[ numstat shortstat name-only name-status summary patch no-patch no-color color[ unified= word-diff[ color-words[ ignore-all-space ignore-space-change ignore-blank-lines diff-filter= find-renames[ find-copies[ no-renames minimal patience histogram no-ext-diff no-textconv relative[ full-index abbrev[ cc raw text dirstat[ compact-summary exit-code quiet function-context submodule[ check"
	gitLogLong  = gitDiffLong + " oneline graph decorate[ no-decorate all branches[ tags[ remotes[ max-count= skip= author= committer= grep= since= until= after= before= format= pretty[ date= reverse merges no-merges first-parent follow abbrev-commit no-abbrev-commit topo-order date-order left-right cherry-pick cherry-mark ancestry-path simplify-by-decoration source full-history invert-grep regexp-ignore-case fixed-strings extended-regexp no-walk parents children boundary no-notes stdin"
)

// gitUses are the subcommands of git that only read when used as their entry says.
var gitUses = map[string]*usage{
	"status":        {flags: "sbvuz", long: "short branch porcelain[ untracked-files[ ignored[ long verbose show-stash ahead-behind no-ahead-behind"},
	"log":           {flags: "pscwbRabzirEFmu", values: "nSGLMCU", long: gitLogLong, digits: true, more: gitFormat},
	"show":          {flags: "pscwbzm", values: "nSGUMC", long: gitLogLong, digits: true, more: gitFormat},
	"diff":          {flags: "pswbRzaW", values: "SGUMC", long: gitDiffLong + " cached staged merge-base no-index", digits: true},
	"shortlog":      {flags: "nsec", long: gitLogLong, more: gitFormat},
	"whatchanged":   {flags: "p", values: "n", long: gitLogLong, digits: true, more: gitFormat},
	"blame":         {flags: "wMCeslbftn", values: "L", long: "porcelain line-porcelain show-name show-email root abbrev= date="},
	"rev-parse":     {long: "show-toplevel abbrev-ref[ short[ git-dir is-inside-work-tree is-bare-repository verify symbolic-full-name symbolic show-prefix show-cdup absolute-git-dir all branches tags quiet"},
	"rev-list":      {values: "n", long: "count all max-count= since= until= author= grep= oneline no-merges merges first-parent left-right reverse objects abbrev-commit", digits: true},
	"ls-files":      {flags: "comdsztuiv", values: "x", long: "cached others modified deleted stage ignored exclude-standard exclude= full-name error-unmatch unmerged abbrev[ directory no-empty-directory"},
	"ls-tree":       {flags: "rdtlz", long: "name-only name-status full-tree full-name abbrev[ object-only long"},
	"cat-file":      {flags: "tspe"},
	"describe":      {long: "tags all always long abbrev= dirty[ exact-match match= exclude= contains first-parent candidates="},
	"merge-base":    {flags: "a", long: "all is-ancestor fork-point octopus independent"},
	"name-rev":      {long: "name-only tags refs= always"},
	"show-ref":      {flags: "sdq", long: "heads tags head hash[ verify abbrev[ dereference"},
	"for-each-ref":  {long: "format= sort= count= contains[ merged[ no-merged[ points-at=", more: gitFormat},
	"count-objects": {flags: "vH"},
	"grep":          {flags: "nilIcwEFPGvhHoLWpz", values: "eABCm", long: "line-number ignore-case files-with-matches count word-regexp extended-regexp fixed-strings perl-regexp cached untracked no-index max-depth= and or not all-match show-function function-context no-color color[ heading break only-matching column name-only", digits: true},
	"branch":        {flags: "arv", long: "all remotes list show-current verbose contains[ no-contains[ merged[ no-merged[ sort= format= column[ no-column color[ no-color points-at=", more: gitLists},
	"tag":           {flags: "l", long: "list sort= format= contains[ no-contains[ merged[ no-merged[ points-at= column[ no-column", more: gitLists},
	"remote":        {flags: "v", long: "verbose", most: -1},
	"config":        {long: "get= get-all= get-regexp= list local show-origin name-only", flags: "lz", most: -1, more: gitGets},
	"version":       {most: -1},
	"reflog":        {values: "n", long: "max-count= date= oneline", most: -1, digits: true},
}

// gitReads: subcommands that only read, after no option but those of paging.
func gitReads(args []string) string {
	for len(args) > 0 && (args[0] == "--no-pager" || args[0] == "-P" || args[0] == "--no-optional-locks") {
		args = args[1:]
	}
	if len(args) == 0 {
		return ""
	}
	if args[0] == "stash" && len(args) == 2 && args[1] == "list" || args[0] == "worktree" && len(args) == 2 && args[1] == "list" {
		return ""
	}
	u := gitUses[args[0]]
	if u == nil {
		return args[0] + " may change the repository"
	}
	if bad := u.check(args[1:]); bad != "" {
		return args[0] + " " + bad
	}
	return ""
}

// gitFormat: a format that wants signatures runs the program that checks them.
func gitFormat(options, _ []string) string {
	for _, o := range options {
		if name, value, ok := strings.Cut(o, "="); ok && (name == "--format" || name == "--pretty") && strings.Contains(value, "%G") {
			return "with this format runs a program"
		}
	}
	return ""
}

// gitLists: with operands, and not asked to list, it makes something.
func gitLists(options, operands []string) string {
	if bad := gitFormat(options, nil); bad != "" {
		return bad
	}
	if slices.Contains(options, "-l") || slices.Contains(options, "--list") {
		return ""
	}
	if len(operands) > 0 {
		return "with " + operands[0] + " may change the repository"
	}
	return ""
}

// gitGets: of the repository's own settings, for the user's may hold secrets.
func gitGets(options, _ []string) string {
	local, gets := false, false
	for _, o := range options {
		local = local || o == "--local"
		gets = gets || strings.HasPrefix(o, "--get") || o == "--list" || o == "-l"
	}
	if !gets || !local {
		return "may change settings, or show the user's"
	}
	return ""
}
