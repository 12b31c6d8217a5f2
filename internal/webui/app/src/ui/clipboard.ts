/**
 * Copies text in whatever way the browser allows, within the click that asked for it: a promise is
 * handed to the clipboard before it is kept, since Safari refuses a copy after an awaited fetch.
 * Null: copied. Else the text itself, which can then only be copied by hand. Throws what reading the
 * text throws.
 */
export async function copyText(source: string | Promise<string>): Promise<string | null> {
  const text = Promise.resolve(source);
  text.catch(() => undefined); // told below
  if (await byClipboard(source)) return null;
  const known = await text;
  return byCommand(known) ? null : known;
}

/** Only pages from https or localhost have a clipboard. */
async function byClipboard(source: string | Promise<string>): Promise<boolean> {
  const clipboard = navigator.clipboard as Clipboard | undefined;
  if (!clipboard) return false;
  try {
    if (typeof source === 'string') await clipboard.writeText(source);
    else if (typeof ClipboardItem === 'function') await clipboard.write([new ClipboardItem({ 'text/plain': blobOf(source) })]);
    else await clipboard.writeText(await source);
    return true;
  } catch {
    return false;
  }
}

function blobOf(source: Promise<string>): Promise<Blob> {
  const blob = source.then((text) => new Blob([text], { type: 'text/plain' }));
  blob.catch(() => undefined); // a clipboard that refuses does not look at it
  return blob;
}

function byCommand(text: string): boolean {
  const before = document.activeElement;
  // Inside the dialog that holds the focus, or it would be taken back at once.
  const place = before?.closest('[role=dialog]') ?? document.body;
  const field = document.createElement('textarea');
  field.className = 'unseen';
  field.readOnly = true; // no keyboard comes up on a phone
  field.value = text;
  place.append(field);
  field.select();
  try {
    return document.execCommand('copy');
  } catch {
    return false;
  } finally {
    field.remove();
    if (before instanceof HTMLElement) before.focus({ preventScroll: true });
  }
}
