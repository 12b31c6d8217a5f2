/**
 * Whether a key belongs to a word that is still being composed, such as one in pinyin: its Enter and
 * Escape are the input method's. Safari tells of the last one by the code 229 alone.
 */
export const composing = (event: { isComposing: boolean; keyCode: number }): boolean => event.isComposing || event.keyCode === 229;
