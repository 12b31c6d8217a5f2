// Package limits holds callers to what they may use: rates, concurrency and quotas that owners set for their applications
// and for single keys of them, within ceilings that administrators set.
//
// A call is counted in up to three scopes, the narrowest first: its key, where that has limits, its application, and its
// owner, where an administrator's ceiling holds for all of the owner's applications together. Each has a tally of its own,
// and all hold. Where several are used up, the one that is so for longest answers.
// A key that replaces another has the limits of that one, and a count of its own: it has used nothing yet.
//
// Redis has one count for each limit of a scope: how much was taken in each bucket of its window (250 ms of a
// minute, one Beijing day). A gateway takes leases of it ahead of need (window.lua) and spends them in memory, so that
// a warm call asks nobody; what it does not spend within 600 ms it gives back. A lease counts from when it was
// granted, and its bucket stays in the window until what was spent last of it is a minute old: the limit holds in any
// 60 s, at the price of 1.4 % of it. Calls in flight are slots that a gateway holds (slots.lua). Tokens are charged
// when a call ends: until then it holds an estimate, what calls of the narrowest scope that knows use on average; what
// exceeds the limit is a debt that is paid before anybody calls again. Where the answer does not say how many it used, the
// estimate stays, or what was seen of the answer if that is more: it is kept on the call, and so in the ledger.
//
// While Redis does not answer, and for 7 s after it does again, a gateway spends its share of what it knows to be left:
// by then every gateway has told the count what it spent. A count that Redis has lost is told again by every gateway;
// of a day, the ledger adds what nobody who is there can tell.
package limits
