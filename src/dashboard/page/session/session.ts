import { signal } from '@preact/signals';

/** The role and token of whoever is signed in. The token is in session storage only: it ends with the tab. */
export interface Session {
  readonly token: string;
  /** `key`: a key that may not manage, and so sees itself only. */
  readonly role: 'owner' | 'key' | 'operator';
}

const PLACE = 'tollgate.session';

export const session = signal<Session | undefined>(stored());
/** Why the last session ended, where the user did not end it. */
export const farewell = signal('');

export function signIn(next: Session): void {
  sessionStorage.setItem(PLACE, JSON.stringify(next));
  farewell.value = '';
  session.value = next;
}

/** Takes over whether the session's key may manage, as the gateway just said. */
export function setManaging(isManaging: boolean): void {
  const { token, role } = session.value ?? {};
  const now = isManaging ? 'owner' : 'key';
  if (token === undefined || role === 'operator' || role === now) return;
  signIn({ token, role: now });
}

/** Whether the session sees the whole account, and not one key only. */
export function manages(): boolean {
  return session.value?.role !== 'key';
}

/** Ends the session. `reason` is shown on the sign-in page. */
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
