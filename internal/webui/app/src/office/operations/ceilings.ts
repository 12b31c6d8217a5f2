import type { Schemas } from '../../api/client';
import type { Ceiling } from '../queries';

/** Whom a ceiling is for; null: everybody. */
export const nameOf = ({ scope, ownerEmail, applicationName }: Ceiling): string | null =>
  scope === 'owner' ? ownerEmail : scope === 'application' ? applicationName : null;

/** A ceiling of the same target that sets nothing. */
export function targetOf({ scope, ownerId, applicationId }: Pick<Ceiling, 'scope' | 'ownerId' | 'applicationId'>): Schemas['CeilingDraft'] {
  if (scope === 'owner') return { scope, owner: ownerId ?? '' };
  return scope === 'application' ? { scope, application: applicationId ?? '' } : { scope };
}

/** Of those that are listed, the ceiling of what is typed. */
export function existing(listed: readonly Ceiling[], scope: Ceiling['scope'], target: string): Ceiling | undefined {
  const wanted = target.trim().toLowerCase();
  return listed.find(
    (one) =>
      one.scope === scope &&
      (scope === 'all' || (scope === 'owner' ? [one.ownerEmail, one.ownerId] : [one.applicationId]).includes(wanted)),
  );
}
