package console

import (
	"github.com/gofiber/fiber/v2"
	"golang.org/x/text/language"

	"callgate/internal/fault"
)

// The languages that errors are told in; the first where the request asks for none of them. Codes,
// field names and everything else are the same in each.
var (
	languages    = []language.Tag{language.English, language.SimplifiedChinese}
	languageTags = []string{"en", "zh-CN"}
	matcher      = language.NewMatcher(languages)
)

const maxAcceptLanguage = 256 // bytes; a longer header is nobody's wish

// inLanguageOf returns what puts a fault's sentence into the language that Accept-Language prefers,
// and notes it in the answer.
func inLanguageOf(ctx *fiber.Ctx) func(string) string {
	chosen := 0
	if wish := ctx.Get(fiber.HeaderAcceptLanguage); wish != "" && len(wish) <= maxAcceptLanguage {
		if tags, _, err := language.ParseAcceptLanguage(wish); err == nil && len(tags) > 0 {
			_, chosen, _ = matcher.Match(tags...)
		}
	}
	ctx.Set(fiber.HeaderContentLanguage, languageTags[chosen])
	ctx.Vary(fiber.HeaderAcceptLanguage)
	if chosen == 1 {
		return fault.Chinese
	}
	return func(sentence string) string { return sentence }
}
