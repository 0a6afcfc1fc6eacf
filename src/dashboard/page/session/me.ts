import type { SessionView } from '../../../api/people/person-view.ts';
import { ask } from '../data/client.ts';
import { queryClient } from '../data/query.ts';

/** A membership of the person who is signed in. */
export type Membership = SessionView['memberships'][number];

/** Who is signed in: a person, or a key, or neither (the admin token). `accountId` is that of the session's key. */
export interface Me extends SessionView {
  readonly accountId?: number;
}

/** Query of who is signed in. Rejects with a 401 without a session. */
export const meQuery = {
  queryKey: ['me'],
  queryFn: async (): Promise<Me> => {
    const me = await ask<SessionView>('/api/session/');
    if (me.key === null) return me;
    const { account_id } = await ask<{ account_id: number }>('/api/key/');
    return { ...me, accountId: account_id };
  },
  staleTime: 60_000,
};

/** Drops everything that was loaded for the session before. */
export function forgetSession(): void {
  queryClient.clear();
}

/** Name under which the page shows who is signed in. */
export function nameOf({ person, key }: Me): string {
  if (person) return person.name || person.email;
  return key?.name ?? 'Operator';
}

/** Accounts that can be chosen: of active memberships, or that of the session's key. */
export function accountsOf(me: Me): readonly { readonly id: number; readonly name: string }[] {
  if (me.key && me.accountId !== undefined) return [{ id: me.accountId, name: me.key.name }];
  return me.memberships.filter(({ is_active }) => is_active).map(({ account }) => account);
}

/** Path of the first page of a session: the operator's, else the first account's, else the person's own. */
export function homeOf(me: Me): string {
  // Operators begin with all accounts, not with the demo account.
  if (me.is_operator) return '/operator/home';
  const [first] = accountsOf(me);
  return first === undefined ? '/me' : `/a/${first.id}/home`;
}
