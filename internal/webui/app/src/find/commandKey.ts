/** ⌘ on Apple's keyboards, Ctrl elsewhere. */
export const commandKey = (): string => (/Mac|iP(hone|ad|od)/.test(navigator.platform) ? '⌘K' : 'Ctrl K');
