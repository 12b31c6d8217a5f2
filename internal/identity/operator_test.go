package identity

import (
	"errors"
	"testing"

	"callgate/internal/fault"
)

func (w *world) operatorCode(email string) string {
	w.t.Helper()
	code, _, err := w.OperatorCode(w.t.Context(), email, "command line")
	if err != nil {
		w.t.Fatal(err)
	}
	return code
}

func TestAnOperatorsCodeSignsAnAdministratorInOnce(t *testing.T) {
	w := newWorld(t)
	for _, mine := range []bool{false, true} { // whether the browser has asked for a code that never came
		if mine {
			w.code(Admin, admin)
		}
		code := w.operatorCode(" " + admin)
		if in, err := w.logIn(Admin, admin, code); err != nil || in.Principal.Audience != Admin {
			t.Fatalf("%v, %v", in.Principal, err)
		}
		_, err := w.logIn(Admin, admin, code)
		wantKind(t, err, fault.BadCredential)
	}
	if made, used := w.number(`SELECT count(*) FROM audit_log WHERE action = 'administrator.sign_in_code' AND actor = 'command line'`),
		w.number(`SELECT count(*) FROM audit_log WHERE action = 'administrator.sign_in'`); made != 2 || used != 2 {
		t.Errorf("the audit trail has %d codes and %d sign-ins", made, used)
	}
	_, _, err := w.OperatorCode(t.Context(), developer, "command line")
	if fault.KindOf(errors.Unwrap(err)) != fault.Invalid && fault.KindOf(err) != fault.Invalid {
		t.Errorf("a developer's code: %v", err)
	}
}

func TestAnOperatorsCodeEnds(t *testing.T) {
	for name, end := range map[string]func(*world, string){
		"after five minutes": func(w *world, _ string) { w.pass(codeTTL) },
		"with the next one": func(w *world, code string) {
			for w.operatorCode(admin) == code {
			}
		},
		"after five tries": func(w *world, code string) {
			for range codeTries {
				_, err := w.logIn(Admin, admin, wrong(code))
				wantKind(w.t, err, fault.BadCredential)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			code := w.operatorCode(admin)
			end(w, code)
			_, err := w.logIn(Admin, admin, code)
			wantKind(t, err, fault.BadCredential)
		})
	}
	w := newWorld(t) // it is no developer's
	code := w.operatorCode(admin)
	_, err := w.logIn(Developer, admin, code)
	wantKind(t, err, fault.BadCredential)
}
