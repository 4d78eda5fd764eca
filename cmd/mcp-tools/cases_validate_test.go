package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
)

// validate decodes every part of the case once, so that a mistake in its form
// shows before anything is run.
func (tc *testCase) validate() error {
	var setup setupForm
	if err := decodeForm(expand(tc.Setup, nil), &setup); err != nil {
		return fmt.Errorf("setup: %w", err)
	}
	if err := setup.Launch.validate(); err != nil {
		return fmt.Errorf("setup: %w", err)
	}
	transport := setup.Launch.transport()
	if err := validateSteps(tc.Steps, transport); err != nil {
		return err
	}
	var check checkForm
	if err := decodeForm(expand(tc.Check, nil), &check); err != nil {
		return fmt.Errorf("check: %w", err)
	}
	if err := check.validate(transport); err != nil {
		return fmt.Errorf("check: %w", err)
	}
	return nil
}

func (la *launchForm) validate() error {
	switch la.transport() {
	case "http":
	case "stdio":
		if len(la.Tokens) > 0 || la.HTTPAddr != "" {
			return errors.New("tokens and http_addr are for the transport http")
		}
	default:
		return fmt.Errorf("transport %q", la.Transport)
	}
	for name, s := range la.SessionForms {
		if _, ok := la.Tokens[s.Token]; s.Token != "" && !ok {
			return fmt.Errorf("session %s: there is no token %s", name, s.Token)
		}
	}
	return nil
}

func validateSteps(steps []any, transport string) error {
	for i, s := range steps {
		var step stepForm
		if err := decodeForm(expand(s, nil), &step); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
		if step.kind() == nil {
			return fmt.Errorf("step %d does nothing", i)
		}
		if only := step.onlyFor(); only != "" && only != transport {
			return fmt.Errorf("step %d is for %s, the case for %s", i, only, transport)
		}
		if err := step.RawHTTP.validate(); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
		if err := validateSteps(step.Parallel, transport); err != nil {
			return fmt.Errorf("step %d: %w", i, err)
		}
	}
	return nil
}

// onlyFor is the transport that the step makes sense with; "": any.
func (s *stepForm) onlyFor() string {
	switch {
	case s.HTTP != nil, s.RawHTTP != nil, s.Delete != nil, s.Forget != nil:
		return "http"
	case s.Raw != nil, s.RawB64 != nil, s.Pipeline != nil, s.CloseStdinAfter != nil:
		return "stdio"
	}
	return ""
}

func (r *rawHTTPForm) validate() error {
	if r == nil {
		return nil
	}
	for _, part := range r.Send {
		switch part.(type) {
		case string, json.Number:
		default:
			return fmt.Errorf("send: %v is neither a text nor a pause", part)
		}
	}
	return nil
}

// validate compiles the patterns, which must be such as Go knows, and refuses
// checks that would not be made.
func (k *checkForm) validate(transport string) error {
	if k.HTTPStatus != nil && transport != "http" || k.NullIDError != nil && transport != "stdio" {
		return fmt.Errorf("not for %s: http_status, null_id_error", transport)
	}
	var all []string
	for _, r := range k.Results {
		all = append(append(all, r.Regex...), r.NotRegex...)
	}
	for _, j := range k.JSON {
		all = append(all, j.Regex)
	}
	for _, re := range append(append(all, k.ProcsAbsentRe...), k.StderrRegex...) {
		if _, err := regexp.Compile(re); err != nil {
			return err
		}
	}
	for i := range k.AnyOf {
		if len(k.AnyOf[i].NotLogged) > 0 {
			return errors.New("not_logged is looked at when all has ended: not within any_of")
		}
		if err := k.AnyOf[i].validate(transport); err != nil {
			return err
		}
	}
	return nil
}
