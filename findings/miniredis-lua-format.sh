#!/usr/bin/env bash
# github.com/alicebob/miniredis/v2 v2.40.0 (Lua by github.com/yuin/gopher-lua), against Redis 7.
#
# A script that a rate limiter keeps in Redis formats an argument as a number: string.format('%.0f', ARGV[1]).
# Expected: "3" for the argument 3, as Redis answers: Lua takes a string that is a number for one.
# Seen: miniredis answers "%!f(string=)" and no error, so that what is stored so is no number when it is read again.
# Arithmetic does coerce (ARGV[1] + 1 is 4 in both), which is why a script that works on one seems to on the other.
# What helps: tonumber(ARGV[1]) before it is formatted.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
cat > go.mod <<'MOD'
module finding

go 1.24
MOD
cat > main.go <<'GO'
package main

import (
	"context"
	"fmt"
	"os"

	"github.com/alicebob/miniredis/v2"
	"github.com/redis/go-redis/v9"
)

func main() {
	server, err := miniredis.Run()
	if err != nil {
		panic(err)
	}
	defer server.Close()
	client := redis.NewClient(&redis.Options{Addr: server.Addr()})
	defer client.Close()
	eval := func(script string) any {
		answer, err := client.Eval(context.Background(), script, nil, 3).Result()
		if err != nil {
			return err
		}
		return answer
	}
	formatted, converted, added := eval(`return string.format('%.0f', ARGV[1])`), eval(`return string.format('%.0f', tonumber(ARGV[1]))`), eval(`return ARGV[1] + 1`)
	fmt.Printf("formatted %q, converted first %q, added to %v\n", formatted, converted, added)
	if formatted == "3" || converted != "3" || added != int64(4) {
		fmt.Println("this is no longer as it was")
		os.Exit(1)
	}
}
GO
go get github.com/alicebob/miniredis/v2@v2.40.0 github.com/redis/go-redis/v9@v9.21.0 2>/dev/null
go run .
