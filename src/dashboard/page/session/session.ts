import { signal } from '@preact/signals';
import type { Action } from '../../../domain/roles.ts';
import { entry } from '../entry-here.ts';
import { can, type PageRole } from './may.ts';
import { type Membership, type SignedIn, type View, viewOf } from './person.ts';

/**
 * Who is signed in: by a token, which is in session storage only, so that it is gone with the tab; or as a person by a
 * cookie, which the page does not see.
 */
export interface Session {
  /** Undefined for a person. */
  readonly token: string | undefined;
  readonly role: PageRole;
  /** Id of the session's key; undefined for the operator and for a person. */
  readonly keyId: number | undefined;
  /** Whom the page shows as signed in: the account's e-mail address, the person's name, or the name of a key. */
  readonly name?: string;
  /** True if the token is the key's previous value, in its grace, which changes nothing. */
  readonly isPrevious?: boolean;
  /** The person, and their memberships. */
  readonly signedIn?: SignedIn;
  /** The account whose pages a person looks at. */
  readonly accountId?: number | undefined;
}

const PLACE = 'tollgate.session';
/** Place of the view that a person chose in this tab. */
const VIEW = 'tollgate.view';

/** Entries begin without the token of this tab: they are for people. */
export const session = signal<Session | undefined>(entry === undefined ? stored() : undefined);
/** Number of sign-ins in this tab. Going on with a new value of the session's key does not count. */
export const signIns = signal(0);
/** Reason why the last session ended; "" where the user ended it. */
export const farewell = signal('');

/** Begins a session, and stores its token for reloads of the tab. An entry gives way to the page. */
export function signIn(next: Session): void {
  store(next);
  farewell.value = '';
  signIns.value += 1;
  session.value = next;
  if (entry !== undefined) location.replace('./');
}

/** Loads the page as the person whom the cookie now has, and not with the token of this tab. */
export function enter(): void {
  sessionStorage.removeItem(PLACE);
  location.replace('./');
}

/** Session of a person, in the view that was chosen in this tab. */
export function sessionOfPerson(signedIn: SignedIn): Session {
  const { name, email } = signedIn.person;
  return {
    token: undefined,
    keyId: undefined,
    name: name || email,
    signedIn,
    ...viewOf(signedIn, sessionStorage.getItem(VIEW)),
  };
}

/** Goes on with what the gateway just answered about the person, who was found by the cookie. */
export function setPerson(signedIn: SignedIn): void {
  session.value = sessionOfPerson(signedIn);
}

/** Shows another account, or the operator's pages. Everything is loaded again, filters and lists too. */
export function chooseView(view: View): void {
  sessionStorage.setItem(VIEW, String(view));
  location.hash = '#/home';
  location.reload();
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
  store(changed);
  session.value = changed;
}

/** Sets the role by whether the session's key may manage, as the gateway just answered. */
export function setManaging(isManaging: boolean): void {
  const current = session.value;
  const role = isManaging ? 'admin' : 'key';
  if (current?.token === undefined || current.role === 'operator' || current.role === role) return;
  signIn({ ...current, role });
}

/** True if a person is signed in, by the cookie. */
export function isPerson(): boolean {
  return session.value?.signedIn !== undefined;
}

/** True if the session may do something in its account. The previous value of a key changes nothing. */
export function may(action: Action): boolean {
  const { role, isPrevious } = session.value ?? {};
  return role !== undefined && can(role, action) && isPrevious !== true;
}

/** The person's membership of the account that is shown; undefined for a key and for the operator. */
export function ownMembership(): Membership | undefined {
  const { signedIn, accountId } = session.value ?? {};
  return signedIn?.memberships.find(({ account }) => account.id === accountId);
}

/** True if the session may create keys. Owners can forbid it to members. */
export function mayCreateKeys(): boolean {
  return may('change keys') && (!makesOwnKeys() || ownMembership()?.can_create_keys === true);
}

/** True if the session makes keys that are a member's, and not the account's: they have neither rights nor webhooks. */
export function makesOwnKeys(): boolean {
  return session.value?.role === 'member';
}

/** True if the session sees more of the account than one key. */
export function manages(): boolean {
  return session.value?.role !== 'key';
}

/** True if the session can read the catalog of models. */
export function knowsModels(): boolean {
  return session.value?.token !== undefined || session.value?.signedIn?.person.is_operator === true;
}

/** Ends the session. `reason` is shown on the sign-in page. */
export function signOut(reason = ''): void {
  sessionStorage.removeItem(PLACE);
  sessionStorage.removeItem(VIEW);
  farewell.value = reason;
  session.value = undefined;
}

function store(next: Session): void {
  if (next.token === undefined) sessionStorage.removeItem(PLACE);
  else sessionStorage.setItem(PLACE, JSON.stringify(next));
}

function stored(): Session | undefined {
  const text = sessionStorage.getItem(PLACE);
  return text === null ? undefined : (JSON.parse(text) as Session);
}
