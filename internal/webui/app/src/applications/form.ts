export const MOST_NAME = 64;
export const MOST_DESCRIPTION = 1024;
export const MOST_CAPABILITIES = 500;

export interface Draft {
  name: string;
  description: string;
  capabilityIds: readonly string[];
}

export type Field = keyof Draft;
export type Wrong = 'nameMissing' | 'tooLong' | 'tooMany' | 'control';

export const nothing: Draft = { name: '', description: '', capabilityIds: [] };

/** Characters as the server counts them: code points. */
export const lengthOf = (text: string): number => [...text].length;

const control = /\p{Cc}/u;

/** What the server would refuse, field by field. */
export function check(draft: Draft): Partial<Record<Field, Wrong>> {
  const wrong: Partial<Record<Field, Wrong>> = {};
  const name = draft.name.trim();
  if (name === '') wrong.name = 'nameMissing';
  else if (lengthOf(name) > MOST_NAME) wrong.name = 'tooLong';
  else if (control.test(name)) wrong.name = 'control';
  if (lengthOf(draft.description) > MOST_DESCRIPTION) wrong.description = 'tooLong';
  else if (control.test(draft.description)) wrong.description = 'control';
  if (draft.capabilityIds.length > MOST_CAPABILITIES) wrong.capabilityIds = 'tooMany';
  return wrong;
}

const sameIds = (a: readonly string[], b: readonly string[]): boolean => a.length === b.length && a.every((id) => b.includes(id));

/** Only what differs, so that an edit elsewhere meanwhile is not undone. */
export function changed(from: Draft, to: Draft): Partial<{ name: string; description: string; capabilityIds: string[] }> {
  return {
    ...(from.name === to.name.trim() ? {} : { name: to.name.trim() }),
    ...(from.description === to.description ? {} : { description: to.description }),
    ...(sameIds(from.capabilityIds, to.capabilityIds) ? {} : { capabilityIds: [...to.capabilityIds] }),
  };
}

export const isDirty = (from: Draft, to: Draft): boolean => Object.keys(changed(from, to)).length > 0;

/** A description is one line: what is pasted with line breaks and tabs is joined by blanks. */
export const oneLine = (text: string): string => text.replace(/\p{Cc}+/gu, ' ');
