import { existsSync } from 'node:fs';

// Debian's Chromium; CHROMIUM names another, and without either Playwright's own is used.
const found = (...paths: string[]) => process.env['CHROMIUM'] ?? paths.find((path) => existsSync(path));

const shell = found('/usr/bin/chromium-headless-shell', '/usr/bin/chromium');
const whole = found('/usr/bin/chromium');

/** How Chromium is launched: without what draws its windows, where that is there: six tenths of the CPU. */
export const headless = shell ? { executablePath: shell } : {};

/** With all that a person's has, such as reports of the network's errors. */
export const entire = whole ? { executablePath: whole } : { channel: 'chromium' };
