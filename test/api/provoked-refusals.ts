import { RESTRICTED } from '../../src/api/people/credential-session.ts';
import type { Book } from '../../src/book/book.ts';
import { RATES } from '../../src/book/rates.ts';
import { NO_CALL_LIMITS } from '../../src/domain/call-limits.ts';
import { micro } from '../../src/domain/credits.ts';
import type { ErrorCode } from '../../src/domain/errors.ts';
import type { KeySettings } from '../../src/domain/key.ts';
import { newKeyValue } from '../../src/domain/key-value.ts';
import { ROLES, type Role } from '../../src/domain/roles.ts';
import { ENDPOINTS } from '../../src/gateway/endpoints.ts';
import { cookieOf, invited, memberOf, send } from '../helper/clients/people.ts';
import type { Described } from '../helper/documented/api-document.ts';
import type { DocumentedRequest } from '../helper/documented/documented-request.ts';
import { headersOfNewPerson, ownerOf, sessionHeaders } from '../helper/documented/documented-sessions.ts';
import type { Behavior } from '../helper/stand-ins/scripted-provider.ts';
import { ADMIN_TOKEN, type InProcessGateway, type TestAccount } from '../helper/start/gateway-in-process.ts';
import { OPEN_KEY } from '../helper/start/ledger-account.ts';
import { newEmail, personOn } from '../helper/start/people.ts';

/** Changes an accepted request into one that the operation refuses with a certain code. */
type Provoke = (
  request: DocumentedRequest,
  by: { readonly world: InProcessGateway; readonly caller: TestAccount },
  operation: Described,
) => DocumentedRequest | Promise<DocumentedRequest>;

const NOBODY = '999999999';

/** Sends a key, or the operator's token: to sign in, in the body. */
const withKey = (
  request: DocumentedRequest,
  key: string,
  { operationId }: Partial<Described> = {},
): DocumentedRequest =>
  operationId === 'signIn'
    ? { ...request, body: { type: 'application/json', example: { key } } }
    : { ...request, headers: { ...request.headers, authorization: `Bearer ${key}` } };

let clients = 0;

/** A wrong operator token from a new address, because an address has few wrong tokens a minute. */
function withWrongToken(request: DocumentedRequest, operation: Described): DocumentedRequest {
  clients++;
  const headers = { ...request.headers, 'x-forwarded-for': `203.0.113.${clients % 256}` };
  return withKey({ ...request, headers }, 'not-the-token', operation);
}

/** Changes the request to carry another, new key of the account, which has `settings`. */
const keyWith =
  (settings: Partial<KeySettings>, headers: Record<string, string> = {}): Provoke =>
  async (request, { world, caller }, operation) => {
    const { value, prefix, hash } = newKeyValue(world.config.keyPrefix);
    const record = { ...OPEN_KEY, ...settings, prefix, hash };
    const key = await world.book.createKey(caller.accountId, record, Date.now());
    await world.ledger.ledger.publishKey(key, hash);
    return withKey({ ...request, headers: { ...request.headers, ...headers } }, value, operation);
  };

/** Asks a provider to link an identity, which needs a session. */
const asked = (request: DocumentedRequest, { operationId }: Described): DocumentedRequest =>
  operationId === 'useProvider' && request.body
    ? { ...request, body: { ...request.body, example: { link: true } } }
    : request;

/** The session of the operator's token. */
async function headersOfToken({ url }: InProcessGateway) {
  const signIn = await send({ url }, 'POST', '/api/session/', { key: ADMIN_TOKEN });
  return sessionHeaders(cookieOf(signIn));
}

/** Uses up the rotations of an account's minute. */
async function rotatedOften(book: Book, accountId: number): Promise<void> {
  const { id } = await book.createKey(accountId, { ...OPEN_KEY, ...newKeyValue('sk-tg-') }, Date.now());
  for (let rotation = 0; rotation < RATES.rotation.most; rotation++)
    await book.rotateKey(accountId, id, { ...newKeyValue('sk-tg-'), previousValidUntil: null }, Date.now());
}

/** A key with a limit of one call in flight, and a call in flight. */
async function keyWithoutPlace(world: InProcessGateway): Promise<string> {
  const { key, accountId, keyId } = await world.account({ key: { maxParallelRequests: 1 } });
  const { ledger } = world.ledger;
  const subject = await ledger.current(accountId, keyId);
  const own = { ...NO_CALL_LIMITS, maxParallelRequests: 1 };
  await ledger.admit({
    requestId: `place-of-${keyId}`,
    accountId,
    keyId,
    personId: null,
    keyVersion: subject?.key.version ?? 0,
    accountVersion: subject?.accountVersion ?? 0,
    hold: micro(0),
    estimate: micro(0),
    spendingLimits: [],
    limits: { key: own, account: NO_CALL_LIMITS, tokens: undefined },
    model: 'demo-chat',
    category: 'text',
    endpoint: '/v1/messages/count_tokens',
  });
  return key;
}

const raw =
  (text: string | Buffer, type?: string): Provoke =>
  (request) => ({
    ...request,
    body: { type: type ?? request.body?.type ?? 'application/json', raw: text },
  });

const changed =
  (change: Record<string, unknown>): Provoke =>
  (request) => ({
    ...request,
    body: {
      type: request.body?.type ?? 'application/json',
      example: { ...(request.body?.example as object), ...change },
    },
  });

const provider =
  (behavior: Behavior): Provoke =>
  (request) => ({
    ...request,
    headers: { ...request.headers, 'x-provider': JSON.stringify(behavior) },
  });

/** Active hours that do not include the present time. */
function otherHours(): string {
  const start = (new Date().getUTCHours() + 2) % 24;
  const hour = (at: number) => `${String(at % 24).padStart(2, '0')}:00`;
  return `${hour(start)}-${hour(start + 1)}`;
}

const without =
  (name: string): Provoke =>
  (request) => {
    const { [name]: _, ...example } = (request.body?.example ?? {}) as Record<string, unknown>;
    return { ...request, body: { type: request.body?.type ?? '', example } };
  };

/** Makes a field of the body or form invalid, or a parameter if the operation has neither. */
const wrongField: Provoke = (request, by, operation) => {
  const [parameter] = (operation.parameters ?? []).filter((one) => one.in === 'query');
  if (parameter) return { ...request, query: `${parameter.name}=wrong&${parameter.name}=twice` };
  if (operation.path.startsWith('/v1/')) return changed({ n: 'many' })(request, by, operation);
  if (request.body === undefined) return { ...request, query: 'no_such_parameter=1' };
  return changed({ no_such_field: 1 })(request, by, operation);
};

const inPath =
  (name: string): Provoke =>
  (request) => ({ ...request, path: { ...request.path, [name]: NOBODY } });

const withHeaders =
  (headers: Readonly<Record<string, string>>): Provoke =>
  (request) => ({ ...request, headers: { ...request.headers, ...headers } });

/** A role that the description of an operation does not name; undefined: it names all. */
const roleWithout = ({ description = '' }: Described): Role | undefined =>
  ROLES.find((role) => !new RegExp(`Roles of people:.*\\b${role}\\b`).test(description));

/** Fails to prove who the caller is as often as a minute allows, from an address that nobody else has. */
async function failedOften(
  request: DocumentedRequest,
  { world }: { readonly world: InProcessGateway },
  { method, path }: Described,
): Promise<DocumentedRequest> {
  clients++;
  const headers = { ...request.headers, 'x-forwarded-for': `198.51.100.${clients % 256}` };
  const example = { ...(request.body?.example ?? {}), ...wrongPassword(path) };
  for (let failed = 0; failed < 10; failed++) {
    const answer = await fetch(`${world.url}${path}`, { method, headers, body: JSON.stringify(example) });
    await answer.body?.cancel();
  }
  return { ...request, headers, body: { type: 'application/json', example } };
}

const wrongPassword = (path: string) =>
  path === '/api/session/'
    ? { password: 'not the password' }
    : { password: 'another password', current_password: 'not the password' };

/** A member of an account, whom an operator has deactivated since. */
async function inactiveMember(
  world: InProcessGateway,
  accountId: number,
  made?: (id: number) => Promise<void>,
) {
  const { id } = await memberOf(world, accountId, 'member');
  await made?.(id);
  await world.api('PATCH', `/api/admin/people/${id}/`, world.config.adminToken ?? '', { is_active: false });
  return id;
}

const otherModel = (operation: Described) =>
  operation.path.startsWith('/v1/images') ? 'demo-chat' : 'demo-image';

export const PROVOKED: Partial<Record<ErrorCode, Provoke>> = {
  missing_api_key: (request) => ({ ...request, headers: {} }),
  invalid_api_key: (request, _by, operation) => withKey(request, 'sk-tg-nobody-has-this-key', operation),
  inactive_api_key: keyWith({ isActive: false }),
  expired_api_key: keyWith({ expiresAt: 1 }),
  outside_active_hours: (...given) => keyWith({ activeHours: otherHours() })(...given),
  ip_not_allowed: keyWith({ allowedIps: ['203.0.113.0/24'] }),
  // An address of Google's, in the United States.
  country_blocked: keyWith({ blockedCountries: ['US'] }, { 'x-forwarded-for': '8.8.8.8' }),
  origin_not_allowed: keyWith({ allowedOrigins: ['https://app.example.com'] }),
  async inactive_account(request, { world }, operation) {
    const { key, accountId } = await world.account();
    await world.api('PATCH', `/api/admin/accounts/${accountId}/`, world.config.adminToken ?? '', {
      is_active: false,
    });
    return withKey(request, key, operation);
  },
  async management_not_allowed(request, by, operation) {
    if (operation.operationId !== 'rotateOwnKey')
      return await keyWith({ canManage: false })(request, by, operation);
    const { key } = await by.world.account();
    await by.world.api('POST', '/api/key/rotate/', key, { grace_seconds: 60 });
    return withKey(request, key);
  },
  invalid_admin_token: (request, _by, operation) => withWrongToken(request, operation),
  invalid_json: raw('{"name":'),
  unsupported_media_type: raw('name=x', 'text/plain'),
  body_too_large: raw(Buffer.alloc(2 * 1024 * 1024 + 1, ' ')),
  invalid_field: wrongField,
  unpriced_parameter: changed({ litellm_params: 'of nobody' }),
  key_not_found: (request, _by, operation) =>
    operation.path.includes('{key_id}')
      ? { ...request, path: { ...request.path, key_id: NOBODY } }
      : { ...request, query: `key_id=${NOBODY}` },
  call_not_found: (request) => ({ ...request, path: { ...request.path, call_id: 'req_of_nobody' } }),
  entry_not_found: (request) => ({ ...request, path: { ...request.path, entry_id: 'req_of_nobody' } }),
  account_not_found(request, by, operation) {
    if (!operation.path.startsWith('/api/admin/'))
      return withHeaders({ 'tollgate-account': NOBODY })(request, by, operation);
    return operation.path.includes('{account_id}')
      ? { ...request, path: { ...request.path, account_id: NOBODY } }
      : { ...request, query: `account_id=${NOBODY}` };
  },
  account_required: async (request, { world }) => ({ ...request, headers: await headersOfNewPerson(world) }),
  not_signed_in(request, _by, { operationId }) {
    const example = operationId === 'useProvider' ? { link: true } : { secret: 'of an invitation' };
    const body = request.body && { body: { ...request.body, example } };
    return { ...request, headers: { ...request.headers, cookie: '' }, ...body };
  },
  async not_permitted(request, { world, caller }, operation) {
    if (operation.path.startsWith('/api/admin/'))
      return { ...request, headers: await headersOfNewPerson(world) };
    if (!operation.path.startsWith('/api/account/') && !operation.path.startsWith('/api/keys/'))
      return { ...asked(request, operation), headers: await headersOfToken(world) };
    const { cookie } = await memberOf(world, caller.accountId, roleWithout(operation) ?? 'viewer');
    return { ...request, headers: sessionHeaders(cookie) };
  },
  cross_site: withHeaders({ 'sec-fetch-site': 'cross-site' }),
  invalid_credentials: (request, by, operation) =>
    changed(wrongPassword(operation.path))(request, by, operation),
  member_not_found: (request, by, operation) =>
    operation.path.includes('{person_id}')
      ? inPath('person_id')(request, by, operation)
      : changed({ person_id: Number(NOBODY) })(request, by, operation),
  invitation_not_found: inPath('invitation_id'),
  person_not_found: inPath('person_id'),
  session_not_found: inPath('session_id'),
  identity_not_found: inPath('identity_id'),
  setup_gone: changed({ code: 'of nobody' }),
  invitation_gone: changed({ secret: 'of nobody' }),
  reset_gone: changed({ secret: 'of nobody' }),
  async invitation_email(request, by, operation) {
    const { world, caller } = by;
    const secret = await invited(world, caller.accountId, 'member', { email: newEmail() });
    return changed({ secret })(request, by, operation);
  },
  async already_member(request, { world, caller }) {
    const { cookie } = await ownerOf(world, caller);
    const secret = await invited(world, caller.accountId, 'member');
    const body = { type: 'application/json', example: { secret } };
    return { ...request, headers: sessionHeaders(cookie), body };
  },
  /** The only owner leaves. */
  async last_owner(request, { world }) {
    const { accountId } = await world.account();
    const { id, cookie } = await memberOf(world, accountId, 'owner');
    return { ...request, path: { person_id: String(id) }, headers: sessionHeaders(cookie) };
  },
  async member_inactive(request, by, operation) {
    const { world, caller } = by;
    const accountId = Number(request.path.account_id ?? caller.accountId);
    if (operation.method === 'POST')
      return changed({ person_id: await inactiveMember(world, accountId) })(request, by, operation);
    let keyId = 0;
    await inactiveMember(world, accountId, async (personId) => {
      const { prefix, hash } = newKeyValue(world.config.keyPrefix);
      keyId = (await world.book.createKey(accountId, { ...OPEN_KEY, personId, prefix, hash }, Date.now())).id;
    });
    const path = { ...request.path, key_id: String(keyId) };
    return changed({ is_active: true })({ ...request, path }, by, operation);
  },
  async email_taken(request, by, operation) {
    if (!operation.path.startsWith('/api/admin/accounts/')) {
      // Links and invitations are for an e-mail address, which somebody else takes meanwhile.
      const { email = newEmail() } = (request.body?.example ?? {}) as { email?: string };
      await personOn(by.world, { email });
      return changed({ email })(request, by, operation);
    }
    await by.world.account({ email: 'taken@example.com' }).catch(() => undefined);
    return changed({ email: 'taken@example.com' })(request, by, operation);
  },
  async too_many_keys(request, { world }) {
    const { key, accountId } = await world.account();
    for (let more = 1; more < world.config.accounts.maxKeys; more++) {
      const made = { ...OPEN_KEY, prefix: 'sk-tg-more', hash: `${accountId}-${more}` };
      await world.book.createKey(accountId, made, Date.now());
    }
    if (request.path.account_id === undefined) return withKey(request, key);
    return { ...request, path: { ...request.path, account_id: String(accountId) } };
  },
  async idempotency_key_reused(request, by, operation) {
    const headers = { 'idempotency-key': 'used-before' };
    const path = operation.path.replace('{account_id}', request.path.account_id ?? '');
    await by.world.api('POST', path, by.world.config.adminToken ?? '', { amount: 1 }, headers);
    return { ...request, headers: { ...request.headers, ...headers } };
  },
  version_conflict: (request) => ({ ...request, headers: { ...request.headers, 'if-match': '"999"' } }),
  /**
   * Uses up the limits of a key, or what an account may do so often: of test alerts, sends the five that are accepted,
   * so that the request is the sixth.
   */
  async rate_limit_exceeded(request, by, operation) {
    const { world } = by;
    if (operation.path.startsWith('/api/session/')) return await failedOften(request, by, operation);
    if (operation.path === '/metrics' || operation.path.startsWith('/api/admin/')) {
      const wrong = withWrongToken(request, operation);
      for (let sent = 0; sent < 10; sent++) {
        await fetch(`${world.url}/metrics`, { headers: wrong.headers });
      }
      return wrong;
    }
    if (request.path.id !== undefined && operation.path.startsWith('/v1/')) {
      const limited = await keyWith({ rpmLimit: 1 })(request, by, operation);
      const { authorization = '' } = limited.headers;
      const call = { model: 'demo-chat', input: 'x' };
      await world.api('POST', '/v1/moderations', authorization.slice('Bearer '.length), call);
      return limited;
    }
    if (ENDPOINTS.some(({ path, isCounting }) => isCounting && path === operation.path))
      return withKey(request, await keyWithoutPlace(world));
    if (operation.path.startsWith('/v1/')) {
      const limited = await world.account({ key: { rpmLimit: 1 } });
      await world.api('POST', '/v1/moderations', limited.key, { model: 'demo-chat', input: 'x' });
      return withKey(request, limited.key);
    }
    const { key, accountId, keyId } = await world.account();
    if (operation.path.endsWith('/rotate/')) {
      await rotatedOften(world.book, accountId);
      const path = { ...request.path, key_id: String(keyId) };
      if (request.path.account_id === undefined) return withKey({ ...request, path }, key);
      return { ...request, path: { ...path, account_id: String(accountId) } };
    }
    if (operation.path === '/api/account/') {
      for (let change = 1; change <= RATES.alert_threshold.most; change++)
        await world.book.updateAccount(accountId, { alertThreshold: micro(change) }, Date.now(), true);
      return withKey(request, key);
    }
    for (let sent = 0; sent < 5; sent++) await world.api('POST', '/api/account/alerts/test/', key);
    return withKey(request, key);
  },
  model_required: without('model'),
  model_not_found: (request, by, operation) =>
    request.body
      ? changed({ model: 'gpt-0' })(request, by, operation)
      : { ...request, path: { ...request.path, id: 'gpt-0' } },
  endpoint_mismatch: (request, by, operation) =>
    changed({ model: otherModel(operation) })(request, by, operation),
  category_not_allowed: (request, by, operation) => {
    const isVideo = operation.path.startsWith('/v1/videos');
    return keyWith({ allowedCategories: [isVideo ? 'text' : 'video'] })(request, by, operation);
  },
  model_not_allowed: keyWith({ allowedModels: ['gpt-0'] }),
  usage_limit_reached: keyWith({ spendingLimit: 0 as never }, { originator: 'codex_exec' }),
  spending_limit_exceeded: keyWith({ spendingLimit: 0 as never }),
  insufficient_credits: async (request, { world }) =>
    withKey(request, (await world.account({ credits: 0 })).key),
  object_not_found: (request, by, operation) =>
    request.body === undefined
      ? { ...request, path: { id: 'video_of_nobody' } }
      : changed({ file_id: 'file_1' })(request, by, operation),
  upstream_unavailable: provider({ breakAfter: 'nothing' }),
  upstream_auth_failed: provider({ status: 401 }),
  upstream_timeout: provider({ stallAfter: 'nothing' }),
};

/**
 * True for the refusal of a list or an export, which takes eight clients that do not read (unread-answers.test.ts); of
 * what every role may do; and of a change of the last owner, whom only another owner could change at the same moment
 * (test/api/people/members.test.ts).
 */
export function isProvokedElsewhere(operation: Described, code: ErrorCode): boolean {
  const { method, path, operationId } = operation;
  if (!path.startsWith('/api/')) return false;
  // By the session of a key that its restrictions keep out (test/api/people/key-sessions.test.ts).
  if (operationId === 'readSession') return RESTRICTED.includes(code);
  if (code === 'last_owner') return operationId === 'updateMember';
  if (code === 'not_permitted' && !path.startsWith('/api/admin/'))
    return method === 'GET' && roleWithout(operation) === undefined;
  return code === 'rate_limit_exceeded' && method === 'GET';
}

/**
 * Codes that require a broken component, a connection that is not HTTP, or a gateway with other settings: without
 * passwords, with identity providers, or without ADMIN_TOKEN (test/api/people). Other tests provoke them.
 */
export const UNPROVOKED: ReadonlySet<string> = new Set<ErrorCode>([
  'service_unavailable',
  'internal_error',
  'invalid_request',
  'request_timeout',
  'unknown_endpoint',
  'use_provider',
  'sign_in_again',
  'last_operator',
  'last_way',
]);
