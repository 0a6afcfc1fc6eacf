import { memberOf, OWN, type SignedInPerson } from '../clients/people.ts';
import type { InProcessGateway, TestAccount } from '../start/gateway-in-process.ts';
import { signedIn } from '../start/people.ts';
import type { Values } from './documented-calls.ts';

const owners = new WeakMap<TestAccount, Promise<SignedInPerson>>();
const operators = new WeakMap<InProcessGateway, Promise<Values>>();

/** An owner of the caller's account who is signed in, the same one for each call. */
export function ownerOf(world: InProcessGateway, caller: TestAccount): Promise<SignedInPerson> {
  const owner = owners.get(caller) ?? memberOf(world, caller.accountId, 'owner');
  owners.set(caller, owner);
  return owner;
}

/** Headers of the session of an operator, the same one for each call. */
export function operatorHeaders(world: InProcessGateway): Promise<Values> {
  const headers = operators.get(world) ?? headersOfNewPerson(world, { isOperator: true });
  operators.set(world, headers);
  return headers;
}

/** Headers of a new person, who is a member of no account. */
export async function headersOfNewPerson(
  world: InProcessGateway,
  person: { readonly isOperator?: boolean } = {},
): Promise<Values> {
  const { browser } = await signedIn(world, person);
  return sessionHeaders(browser.cookie);
}

/** What the page sends with a session, and the account that it names, if any. */
export function sessionHeaders(cookie = '', accountId?: number): Values {
  return { ...OWN, cookie, ...(accountId === undefined ? {} : { 'tollgate-account': String(accountId) }) };
}
