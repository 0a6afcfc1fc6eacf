import type { LimitView } from '../../../api/keys/limit-view.ts';
import type { Role } from '../../../domain/roles.ts';
import type { WireLimit } from '../../../domain/spending-limits.ts';
import type { PageRole } from './may.ts';

export interface Person {
  readonly id: number;
  readonly email: string;
  readonly name: string;
  readonly is_operator: boolean;
}

/** A membership of the person who is signed in. */
export interface Membership {
  readonly account: { readonly id: number; readonly name: string };
  readonly role: Role;
  readonly is_active: boolean;
  readonly can_create_keys: boolean;
  readonly spending_limits: readonly WireLimit[];
  readonly limits: readonly LimitView[];
  readonly active_keys: number;
}

/** Answer of `GET /api/session/`. */
export interface SignedIn {
  readonly person: Person;
  readonly memberships: readonly Membership[];
}

/** Whose pages a person can look at: an account by its id, or the operator's. */
export type View = number | 'operator';

/** The views of a person, in the order in which they are offered. Deactivated memberships have none. */
export function viewsOf({ person, memberships }: SignedIn): readonly { view: View; name: string }[] {
  return [
    ...memberships
      .filter(({ is_active }) => is_active)
      .map(({ account }) => ({ view: account.id, name: account.name })),
    ...(person.is_operator ? [{ view: 'operator' as const, name: 'Operator: all accounts' }] : []),
  ];
}

/**
 * The role and account in which a person looks at the page: as chosen in this tab, else the first view. `chosen` is the
 * text that was stored; null if there is none.
 */
export function viewOf(
  signedIn: SignedIn,
  chosen: string | null,
): { readonly role: PageRole; readonly accountId: number | undefined } {
  const views = viewsOf(signedIn).map(({ view }) => view);
  const view = views.find((known) => String(known) === chosen) ?? views[0];
  if (view === undefined) return { role: 'person', accountId: undefined };
  if (view === 'operator') return { role: 'operator', accountId: undefined };
  const membership = signedIn.memberships.find(({ account }) => account.id === view);
  return { role: membership?.role ?? 'person', accountId: view };
}
