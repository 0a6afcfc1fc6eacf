import type { CreatedInvitationView } from '../../../src/api/people/invitation-view.ts';
import type { MemberListView } from '../../../src/api/people/member-view.ts';
import type { Role } from '../../../src/domain/roles.ts';
import type { InProcessGateway } from '../start/gateway-in-process.ts';
import { type Answer, type Api, type ApiError, apiOf } from './api.ts';
import { ADMIN_TOKEN } from './requests.ts';

/** A person who is signed in, and a client with the session. */
export interface SignedInPerson extends Api {
  readonly id: number;
  readonly email: string;
  /** The cookie of the session. */
  readonly cookie: string;
}

type World = Pick<InProcessGateway, 'api' | 'url'>;

/** What a browser sends with a request from a page of the gateway. */
export const OWN = { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin' };
export const PASSWORD = 'correct horse battery';

/** Sends a request without a key; with `cookie`, as the person of that session. */
export async function send<Body>(
  { url }: Pick<World, 'url'>,
  method: string,
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
): Promise<Answer<Body>> {
  const response = await fetch(`${url}${path}`, {
    method,
    headers: { ...OWN, ...headers },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const answer = (await response.json()) as Body & { error?: ApiError };
  return { status: response.status, headers: response.headers, body: answer, error: answer.error };
}

/** Client of the API with a session, and the account that each request names, if any. */
export function apiWith(world: Pick<World, 'url'>, cookie: string, accountId?: number): Api {
  const base = { cookie, ...(accountId === undefined ? {} : { 'tollgate-account': String(accountId) }) };
  const call = <Body>(method: string, path: string, body?: unknown, headers?: Record<string, string>) =>
    send<Body>(world, method, path, body, { ...base, ...headers });
  return {
    get: (path) => call('GET', path),
    post: (path, body, headers) => call('POST', path, body ?? {}, headers),
    patch: (path, body, headers) => call('PATCH', path, body ?? {}, headers),
    delete: (path, headers) => call('DELETE', path, undefined, headers),
  };
}

/** The secret in a link. */
export function secretOf(link: string): string {
  return link.slice(link.indexOf('#') + 1);
}

/** `name=value` of the cookie that an answer sets. */
export function cookieOf({ headers }: Pick<Answer<unknown>, 'headers'>): string {
  return (headers.get('set-cookie') ?? '').split(';')[0] as string;
}

/** Invites a person to an account, as the operator. Resolves with the secret of the link. */
export async function invited(
  world: World,
  accountId: number,
  role: Role,
  more: Readonly<Record<string, unknown>> = {},
): Promise<string> {
  const { body } = await apiOf(world, ADMIN_TOKEN).post<CreatedInvitationView>(
    `/api/admin/accounts/${accountId}/invitations/`,
    { role, ...more },
  );
  return secretOf(body.link);
}

let people = 0;

/** Makes a new person who is a member of an account, and signed in. */
export async function memberOf(
  world: World,
  accountId: number,
  role: Role,
  more: Readonly<Record<string, unknown>> = {},
): Promise<SignedInPerson> {
  const email = `person${people++}-${process.pid}@example.com`;
  const secret = await invited(world, accountId, role, more);
  const body = { secret, email, name: `Person ${people}`, password: PASSWORD };
  const accepted = await send(world, 'POST', '/api/invitations/accept/', body);
  if (accepted.status !== 201) throw new Error(`not accepted: ${JSON.stringify(accepted.body)}`);
  const cookie = cookieOf(accepted);
  return { ...apiWith(world, cookie), id: await idOf(world, accountId, email), email, cookie };
}

async function idOf(world: World, accountId: number, email: string): Promise<number> {
  const { body } = await apiOf(world, ADMIN_TOKEN).get<MemberListView>(
    `/api/admin/accounts/${accountId}/members/`,
  );
  const found = body.members.find(({ person }) => person.email === email);
  if (!found) throw new Error(`${email} is no member of ${accountId}`);
  return found.person.id;
}
