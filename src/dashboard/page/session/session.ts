import { signal } from '@preact/signals';

/** Role and token of the signed-in user. The token is in session storage only, so that it is gone with the tab. */
export interface Session {
  readonly token: string;
  /** `owner`: a managing key. `key`: a key that may not manage, and so sees itself only. */
  readonly role: 'owner' | 'key' | 'operator';
  /** Id of the session's key; undefined for the operator. */
  readonly keyId: number | undefined;
}

const PLACE = 'tollgate.session';

export const session = signal<Session | undefined>(stored());
/** Number of sign-ins in this tab. Going on with a new value of the session's key does not count. */
export const signIns = signal(0);
/** Reason why the last session ended; "" where the user ended it. */
export const farewell = signal('');

/** Begins a session, and stores it for reloads of the tab. */
export function signIn(next: Session): void {
  sessionStorage.setItem(PLACE, JSON.stringify(next));
  farewell.value = '';
  signIns.value += 1;
  session.value = next;
}

/** Goes on with another value of the session's key, which was rotated. */
export function renew(token: string): void {
  if (session.value === undefined) return;
  const renewed = { ...session.value, token };
  sessionStorage.setItem(PLACE, JSON.stringify(renewed));
  session.value = renewed;
}

/** Sets the role by whether the session's key may manage, as the gateway just answered. */
export function setManaging(isManaging: boolean): void {
  const { token, role, keyId } = session.value ?? {};
  const now = isManaging ? 'owner' : 'key';
  if (token === undefined || role === 'operator' || role === now) return;
  signIn({ token, role: now, keyId });
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
    const { token, role, keyId } = JSON.parse(sessionStorage.getItem(PLACE) ?? '') as Session;
    const isOperator = role === 'operator';
    // A page of an earlier version stored no id of the key.
    if (typeof token !== 'string' || (typeof keyId !== 'number' && !isOperator)) return undefined;
    return { token, role: isOperator || role === 'key' ? role : 'owner', keyId };
  } catch {
    return undefined;
  }
}
