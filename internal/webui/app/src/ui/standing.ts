/** What of a selector takes room on the page, the topmost last: a dialog that is gone stays in the tree for a moment. */
export const standing = (selector: string): Element[] =>
  [...document.querySelectorAll(selector)].filter((part) => part.getClientRects().length > 0);
