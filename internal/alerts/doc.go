// Package alerts tells owners and administrators when what they watch gets out of hand, and when it is over. Rules
// are evaluated by one console at a time, every few seconds, from figures that a Source reads; a change of state and
// what is to be sent of it are written in one transaction, so that each change is told once and none is made up.
// What is to be sent waits in an outbox in PostgreSQL, from which every console delivers: at least once, under ids that stay
// the same, numbered by rule.
//
//   - rule.go, draft.go, rules.go, edit.go: rules, and how they are kept
//   - channel.go: where a rule's events go
//   - state.go, source.go, measure.go, evaluator.go: what is found of rules, and when that is a change
//   - outbox.go, dispatcher.go, log.go: what is to be sent, by whom, and what became of it
//   - byhand.go: how much of it people may ask for
//   - days.go, daywords.go: that Beijing days are closed, which is told as it is
//   - payload.go, words.go, chat.go, sender.go: what is sent, and how
package alerts
