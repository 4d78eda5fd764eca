package tools

import (
	"context"
	"fmt"
	"strings"

	"mcp-tools/tools/skills"
)

const (
	// maxSkillLine is how many bytes of a skill are shown in the list, and maxSkillList
	// how many of the whole list.
	maxSkillLine = 250
	maxSkillList = 20000
)

// skill gives a model the words of a skill: what to do in a certain case, written by
// the user or the project.
func skill() Tool {
	return New(Tool{
		Name:  "skill",
		Title: "Use a skill",
		Description: "Returns the instructions of a skill, which then are to be followed. Use it when a task is what a skill is for, before you begin; " +
			"without a name it lists the skills there are. A skill may come with further files, which read_file reads.",
		Traits:    Traits{ReadOnly: true, Idempotent: true, ClosedWorld: true},
		MaxResult: -1,
	}, runSkill)
}

type skillInput struct {
	Name string `json:"skill_name,omitempty" jsonschema:"Name of the skill; none: list them."`
	Args string `json:"args,omitempty" jsonschema:"What the skill is to be done with."`
}

func runSkill(ctx context.Context, s *Session, in skillInput) (Output, error) {
	src := s.skillSource(ctx)
	found, problems := src.All()
	name := strings.TrimPrefix(strings.TrimSpace(in.Name), "/")
	if name == "" {
		return Output{Text: listSkills(found, problems)}, nil
	}
	k := skillNamed(found, name)
	if k == nil || !k.ForModel {
		return Output{}, unknownSkill(name, found)
	}
	out := Output{Text: fmt.Sprintf("[Skill %q activated]\n\n%s", k.Name, k.Text(in.Args))}
	if files, more := src.Files(k); len(files) > 0 {
		list := strings.Join(files, ", ")
		if more {
			list += " and others"
		}
		out.Notes = append(out.Notes, fmt.Sprintf("files of this skill in %s: %s", k.Dir, list))
	}
	if len(k.Tools) > 0 {
		out.Notes = append(out.Notes, "tools this skill is written for: "+strings.Join(k.Tools, ", "))
	}
	if k.Fork {
		out.Notes = append(out.Notes, "this skill is written for a sub-agent, and there is none here: follow it yourself")
	}
	return out, nil
}

// Skills are the skills there are for this session, for a user to call.
func (s *Session) Skills(ctx context.Context) []skills.Skill {
	if !s.Offers("skill") {
		return nil
	}
	found, _ := s.skillSource(ctx).All()
	return found
}

// skillSource is where this session finds skills. Without a workspace there are those
// of the user.
func (s *Session) skillSource(ctx context.Context) skills.Source {
	src := skills.Source{Library: s.env.Library, Hidden: s.policy().keeps}
	if ws, err := s.workspace(ctx); err == nil {
		src.Workspace = ws
	}
	return src
}

func skillNamed(found []skills.Skill, name string) *skills.Skill {
	for i := range found {
		if strings.EqualFold(found[i].Name, name) {
			return &found[i]
		}
	}
	return nil
}

func unknownSkill(name string, found []skills.Skill) error {
	var names []string
	for _, k := range found {
		if k.ForModel {
			names = append(names, k.Name)
		}
	}
	text := "Unknown skill: " + shorten(printable(name), maxWord)
	if len(names) == 0 {
		return Fail(Output{Text: text + ". There are no skills"})
	}
	more := ""
	if len(names) > maxNames {
		more = fmt.Sprintf(" and %d more", len(names)-maxNames)
		names = names[:maxNames]
	}
	return Fail(Output{Text: text + ". There are: " + strings.Join(names, ", ") + more})
}

func listSkills(found []skills.Skill, problems []skills.Problem) string {
	var b strings.Builder
	left := 0
	for _, k := range found {
		if !k.ForModel {
			continue
		}
		if b.Len() > maxSkillList {
			left++
			continue
		}
		b.WriteString(k.Line(maxSkillLine) + "\n")
	}
	if b.Len() == 0 {
		b.WriteString("There are no skills. One is a folder with a SKILL.md in " + strings.Join(skills.Dirs, ", ") + " of the project.\n")
	}
	if left > 0 {
		fmt.Fprintf(&b, "... and %d more\n", left)
	}
	for i, p := range problems {
		if i == maxNamed {
			fmt.Fprintf(&b, "... and %d more that cannot be used\n", len(problems)-i)
			break
		}
		fmt.Fprintf(&b, "%s cannot be used: %s\n", printable(p.Dir), p.Why)
	}
	return strings.TrimRight(b.String(), "\n")
}
