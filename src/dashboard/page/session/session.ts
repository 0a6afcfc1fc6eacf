import { signal } from '@preact/signals';

/** Role and token of the signed-in user. The token is in session storage only, so that it is gone with the tab. */
export interface Session {
  readonly token: string;
  /** `owner`: a managing key. `key`: a key that may not manage, and so sees itself only. */
  readonly role: 'owner' | 'key' | 'operator';
}

const PLACE = 'tollgate.session';

export const session = signal<Session | undefined>(stored());
/** Reason why the last session ended; "" where the user ended it. */
export const farewell = signal('');

export function signIn(next: Session): void {
  sessionStorage.setItem(PLACE, JSON.stringify(next));
  farewell.value = '';
  session.value = next;
}

/** Sets the role by whether the session's key may manage, as the gateway just answered. */
export function setManaging(isManaging: boolean): void {
  const { token, role } = session.value ?? {};
  const now = isManaging ? 'owner' : 'key';
  if (token === undefined || role === 'operator' || role === now) return;
  signIn({ token, role: now });
}

/** True where the session sees the whole account, and not one key only. */
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
