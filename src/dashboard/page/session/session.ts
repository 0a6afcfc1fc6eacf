import { signal } from '@preact/signals';

/** Who is signed in, and with what. The token is in session storage only: it ends with the tab. */
export interface Session {
  readonly token: string;
  readonly role: 'owner' | 'operator';
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
      ? { token, role: role === 'operator' ? 'operator' : 'owner' }
      : undefined;
  } catch {
    return undefined;
  }
}
