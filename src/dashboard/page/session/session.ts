import { signal } from '@preact/signals';

/** Who is signed in, and with what. The token is in session storage only: it ends with the tab. */
export interface Session {
  readonly token: string;
  /** `key`: one that may not manage, and so sees itself only. */
  readonly role: 'owner' | 'key' | 'operator';
}

const PLACE = 'tollgate.session';

export const session = signal<Session | undefined>(stored());
/** Why the last session ended, where its holder did not end it. */
export const farewell = signal('');

export function signIn(next: Session): void {
  sessionStorage.setItem(PLACE, JSON.stringify(next));
  farewell.value = '';
  session.value = next;
}

/** What the gateway says of the session's key now: that it may manage, or that it may not. */
export function setManaging(isManaging: boolean): void {
  const { token, role } = session.value ?? {};
  const now = isManaging ? 'owner' : 'key';
  if (token === undefined || role === 'operator' || role === now) return;
  signIn({ token, role: now });
}

/** Whether more is seen than a key's own. */
export function manages(): boolean {
  return session.value?.role !== 'key';
}

/** `reason` is shown on the sign-in page. */
export function signOut(reason = ''): void {
  sessionStorage.removeItem(PLACE);
  farewell.value = reason;
  session.value = undefined;
}

function stored(): Session | undefined {
  try {
    const { token, role } = JSON.parse(sessionStorage.getItem(PLACE) ?? '') as Session;
    return typeof token === 'string'
      ? { token, role: role === 'operator' || role === 'key' ? role : 'owner' }
      : undefined;
  } catch {
    return undefined;
  }
}
