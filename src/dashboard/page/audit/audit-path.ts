import type { Scope } from '../session/scope.ts';

/** Path of the audit log of a scope: that of its account, or of all. Parameters without a value are left out. */
export function auditPath(
  { kind, accountId }: Pick<Scope, 'kind' | 'accountId'>,
  parameters: Readonly<Record<string, string | undefined>>,
): string {
  const account_id = kind === 'operated' ? String(accountId) : undefined;
  const given = Object.entries({ account_id, ...parameters }).filter((entry): entry is [string, string] =>
    Boolean(entry[1]),
  );
  return `/api/${kind === 'own' ? 'account' : 'admin'}/audit/?${new URLSearchParams(given)}`;
}
