import { signal } from '@preact/signals';

/** Role and token of the signed-in user. The token is in session storage only, so that it is gone with the tab. */
export interface Session {
  readonly token: string;
  /** `owner`: a managing key. `key`: a key that may not manage, and so sees itself only. */
  readonly role: 'owner' | 'key' | 'operator';
  /** Id of the session's key; undefined for the operator. */
  readonly keyId: number | undefined;
  /** Whom the page shows as signed in: the account's e-mail address, or the name of a key that sees itself only. */
  readonly name?: string;
  /** True if the token is the key's previous value, in its grace, which changes nothing. */
  readonly isPrevious?: boolean;
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
  change({ token, isPrevious: false });
}

/** Notes whether the token is the newest value of the session's key, which begins with `prefix`. */
export function setNewestPrefix(prefix: string): void {
  const { token, isPrevious = false } = session.value ?? {};
  if (token !== undefined && token.startsWith(prefix) === isPrevious) change({ isPrevious: !isPrevious });
}

/** Changes the session without beginning another. */
function change(fields: Partial<Session>): void {
  if (session.value === undefined) return;
  const changed = { ...session.value, ...fields };
  sessionStorage.setItem(PLACE, JSON.stringify(changed));
  session.value = changed;
}

/** Sets the role by whether the session's key may manage, as the gateway just answered. */
export function setManaging(isManaging: boolean): void {
  const current = session.value;
  const role = isManaging ? 'owner' : 'key';
  if (current === undefined || current.role === 'operator' || current.role === role) return;
  signIn({ ...current, role });
}

/** True if the session may make changes: its key manages, and it has the newest value of the key. */
export function mayChange(): boolean {
  return manages() && session.value?.isPrevious !== true;
}

/** True if the session sees the whole account, and not one key only. */
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
  const text = sessionStorage.getItem(PLACE);
  return text === null ? undefined : (JSON.parse(text) as Session);
}
