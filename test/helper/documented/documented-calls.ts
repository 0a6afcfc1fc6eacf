import { COMMAND_LINE } from '../../../src/domain/actor.ts';
import type { Role } from '../../../src/domain/roles.ts';
import { untilServed } from '../check/until.ts';
import { apiOf } from '../clients/api.ts';
import { apiWith, invited, memberOf, PASSWORD, secretOf, send } from '../clients/people.ts';
import { ADMIN_TOKEN, type InProcessGateway, type TestAccount } from '../start/gateway-in-process.ts';
import { newEmail, personOn } from '../start/people.ts';
import { headersOfNewPerson, ownerOf } from './documented-sessions.ts';

/** Values of path parameters, of a query, or of headers. */
export type Values = Readonly<Record<string, string>>;

type Example = Readonly<Record<string, unknown>>;

/** One way to call an operation. Bodies are the examples of the document. */
export interface DocumentedCall {
  /** Creates the resources that the path's parameters name; absent if the path has none. */
  readonly path?: (world: InProcessGateway, caller: TestAccount) => Values | Promise<Values>;
  readonly query?: string;
  /** Headers beside, or in place of, those of the credential. */
  readonly headers?: (world: InProcessGateway, example: Example) => Values | Promise<Values>;
  /** Fields of the example that must be others each time, such as secrets that work once. */
  readonly body?: (world: InProcessGateway, caller: TestAccount, example: Example) => Promise<Example>;
}

const ownKey = async (world: InProcessGateway, { accountId }: TestAccount) => ({
  key_id: String(await newKey(world, accountId)),
});
const ownAccount = async (world: InProcessGateway) => {
  const { accountId } = await world.account();
  return { account_id: String(accountId) };
};

/** Another account's key, since the call ends it. */
const ofOtherAccount = async (world: InProcessGateway) => ({
  authorization: `Bearer ${(await world.account()).key}`,
});

async function ownEntry(world: InProcessGateway, { key }: TestAccount): Promise<Values> {
  const answer = await untilServed('a call', () => world.chat(key, { model: 'demo-chat' }));
  await answer.arrayBuffer();
  return { entry_id: answer.headers.get('x-request-id') ?? '' };
}

const ownCall = async (world: InProcessGateway, caller: TestAccount): Promise<Values> => ({
  call_id: (await ownEntry(world, caller)).entry_id ?? '',
});

const keyOfAccount = async (world: InProcessGateway) => {
  const { accountId, keyId } = await world.account();
  return { account_id: String(accountId), key_id: String(keyId) };
};
const entryOfAccount = async (world: InProcessGateway) => {
  const account = await world.account();
  return { account_id: String(account.accountId), ...(await ownEntry(world, account)) };
};

async function ownVideo(world: InProcessGateway, { key }: TestAccount): Promise<Values> {
  const job = { model: 'demo-video', prompt: 'A fox' };
  const answer = await untilServed('a video', () => world.api('POST', '/v1/videos', key, job));
  const { id } = (await answer.json()) as { id: string };
  // The book has the owner of the resource once it has the charge.
  await world.settled();
  return { id };
}

/** Creates a video and reads it twice, after which the demo provider has finished it. */
async function finishedVideo(world: InProcessGateway, caller: TestAccount): Promise<Values> {
  const { id = '' } = await ownVideo(world, caller);
  const read = () => world.api('GET', `/v1/videos/${id}`, caller.key);
  for (const _ of [1, 2]) await (await untilServed('the video', read)).arrayBuffer();
  return { id };
}

const memberIn = async (world: InProcessGateway, accountId: number): Promise<Values> => ({
  person_id: String((await memberOf(world, accountId, 'member')).id),
});
const ownMember = (world: InProcessGateway, { accountId }: TestAccount) => memberIn(world, accountId);
const newPerson = async (world: InProcessGateway) => ({ person_id: String((await personOn(world)).id) });

async function invitationIn(world: InProcessGateway, accountId: number): Promise<Values> {
  const path = `/api/admin/accounts/${accountId}/invitations/`;
  const { body } = await apiOf(world, ADMIN_TOKEN).post<{ id: number }>(path, { role: 'member' });
  return { invitation_id: String(body.id) };
}
const ownInvitation = (world: InProcessGateway, { accountId }: TestAccount) => invitationIn(world, accountId);
const invitationToAccount = async (world: InProcessGateway) => {
  const account = await ownAccount(world);
  return { ...account, ...(await invitationIn(world, Number(account.account_id))) };
};

/** Another session of the person who calls. */
async function otherSession(world: InProcessGateway, caller: TestAccount): Promise<Values> {
  const { email, cookie } = await ownerOf(world, caller);
  // Another browser: a sign-in with this cookie would end its session.
  await send(world, 'POST', '/api/session/', { email, password: PASSWORD });
  const { get } = apiWith(world, cookie);
  const { body } = await get<{ sessions: { id: number; is_current: boolean }[] }>('/api/session/sessions/');
  return { session_id: String(body.sessions.find((session) => !session.is_current)?.id) };
}

/** An identity at a provider of the person who calls. */
async function ownIdentity(world: InProcessGateway, caller: TestAccount): Promise<Values> {
  const { id } = await ownerOf(world, caller);
  const identity = { issuer: 'https://id.example.com', subject: newEmail(), email: null };
  await world.book.linkIdentity(id, identity, COMMAND_LINE, Date.now());
  return { identity_id: String((await world.book.identities(id)).at(-1)?.id) };
}

/** The secret of a link that the operator makes for an e-mail address. */
async function linkFor(world: InProcessGateway, email: string, isOperator: boolean): Promise<string> {
  const body = { email, is_operator: isOperator };
  const answer = await apiOf(world, ADMIN_TOKEN).post<{ link: string }>('/api/admin/people/', body);
  return secretOf(answer.body.link);
}

const invitationTo = async (world: InProcessGateway, { accountId }: TestAccount) => ({
  secret: await invited(world, accountId, 'member' satisfies Role),
});

async function newKey(world: InProcessGateway, accountId: number): Promise<number> {
  const path = `/api/admin/accounts/${accountId}/keys/`;
  const answer = await untilServed('a key', () =>
    world.api('POST', path, world.config.adminToken ?? '', { name: 'made for a call' }),
  );
  if (answer.status !== 201) throw new Error(`no key was made: ${answer.status} ${await answer.text()}`);
  const { id } = (await answer.json()) as { id: number };
  return id;
}

/** Ways to call every operation of the document, by `operationId`. A new operation needs a line here. */
export const CALLS: Readonly<Record<string, readonly DocumentedCall[]>> = {
  listKeys: [{}, { query: 'limit=1&search=web&person_id=2' }, { query: 'status=limit_reached&after=1' }],
  readKey: [{ path: (_world, { keyId }) => ({ key_id: String(keyId) }) }],
  readOwnKey: [{}],
  readKeyForOpenRouter: [{}],
  readCreditsForOpenRouter: [{}],
  readBillingSubscription: [{}],
  readBillingUsage: [{}, { query: 'start_date=2026-11-01&end_date=2026-11-30' }],
  createKey: [{}],
  updateKey: [{ path: ownKey }],
  deleteKey: [{ path: ownKey }],
  rotateKey: [{ path: ownKey }],
  rotateOwnKey: [{ headers: ofOtherAccount }],
  explainKey: [{ path: ownKey }],
  readAccount: [{}],
  updateAccount: [{}],
  listLedgerEntries: [
    {},
    { query: 'limit=1' },
    { query: 'key_id=1&before=1000000' },
    { query: 'type=top_up' },
    { query: 'model=demo-chat' },
    { query: 'format=csv' },
    { query: 'format=jsonl' },
  ],
  readLedgerEntry: [{ path: ownEntry, query: 'parts=true' }],
  listCalls: [
    {},
    { query: 'limit=1&result=ok' },
    { query: 'key_id=1&before=1795270980000.req_1' },
    { query: 'model=demo-chat&endpoint=/v1/chat/completions&code=insufficient_credits&outcome=refused' },
    { query: 'from=2026-01-01&to=2026-11-21T08:00:00Z' },
    { query: 'format=csv' },
    { query: 'format=jsonl' },
  ],
  summarizeCalls: [
    {},
    { query: 'result=ok&person_id=1&from=2026-11-21T08:00:00Z&to=2026-11-21' },
    { query: 'model=demo-chat&endpoint=/v1/chat/completions&code=insufficient_credits&outcome=refused' },
  ],
  readCall: [{ path: ownCall }],
  readUsage: [
    {},
    { query: 'group_by=day' },
    { query: 'group_by=key' },
    { query: 'group_by=model&from=2026-01-01&to=2026-11-21' },
  ],
  listLimits: [{}, { query: 'limit=1&of=key&min_share=0.8' }],
  listAlerts: [{}, { query: 'limit=1' }],
  sendTestAlert: [{}],
  listAuditEntries: [
    {},
    { query: 'limit=1&before=1000000&action=key.create' },
    { query: 'actor=operator:&target=account:1&from=2026-01-01' },
    { query: 'format=csv' },
    { query: 'format=jsonl' },
  ],
  listMembers: [{}],
  updateMember: [{ path: ownMember }],
  removeMember: [{ path: ownMember }],
  listInvitations: [{}],
  createInvitation: [{}],
  withdrawInvitation: [{ path: ownInvitation }],
  lookAtInvitation: [{ body: invitationTo }],
  acceptInvitation: [
    {
      headers: async (world, { email }) => (email === undefined ? await headersOfNewPerson(world) : {}),
      body: async (world, caller, { email }) => ({
        ...(await invitationTo(world, caller)),
        ...(email === undefined ? {} : { email: newEmail() }),
      }),
    },
  ],
  readWaysToSignIn: [{}],
  signIn: [
    {
      body: async (world, { key }, example) =>
        'key' in example ? { key } : { email: (await personOn(world)).email, password: PASSWORD },
    },
  ],
  readSession: [{}],
  signOut: [{ headers: (world) => headersOfNewPerson(world) }],
  updateOwnPerson: [{}],
  listSessions: [{}],
  endSessions: [{ headers: (world) => headersOfNewPerson(world) }],
  endSession: [{ path: otherSession }],
  useProvider: [
    {
      path: () => ({ name: 'company' }),
      headers: async (world, { link }) => (link === true ? await headersOfNewPerson(world) : {}),
      body: async (world, caller, { link }) => (link === true ? {} : await invitationTo(world, caller)),
    },
  ],
  listIdentities: [{}],
  unlinkIdentity: [{ path: ownIdentity }],
  setUp: [
    {
      async body(world) {
        const email = newEmail();
        return { code: await linkFor(world, email, true), email };
      },
    },
  ],
  resetPassword: [{ body: async (world) => ({ secret: await linkFor(world, newEmail(), false) }) }],
  listModels: [{}],
  readModel: [{ path: () => ({ id: 'demo-chat' }) }],
  createChatCompletion: [{}],
  createCompletion: [{}],
  createResponse: [{}],
  createEmbedding: [{}],
  createModeration: [{}],
  createMessage: [{}],
  countMessageTokens: [{}],
  compactResponse: [{}],
  countInputTokens: [{}],
  createImage: [{}],
  editImage: [{}],
  varyImage: [{}],
  createSpeech: [{}],
  createTranscription: [{}],
  createTranslation: [{}],
  createVideo: [{}],
  readVideo: [{ path: ownVideo }],
  deleteVideo: [{ path: ownVideo }],
  readVideoContent: [{ path: finishedVideo }],
  createAccount: [{ body: async () => ({ email: newEmail() }) }],
  readAttention: [{}],
  readAttentionOfOperator: [{}],
  listAccounts: [
    {},
    { query: 'sort=-spend' },
    { query: 'email=EXAMPLE.com' },
    { query: 'limit=1' },
    { query: 'after=1' },
  ],
  readAccountById: [{ path: ownAccount }],
  updateAccountById: [{ path: ownAccount }],
  eraseAccountById: [{ path: ownAccount }],
  updateKeyOfAccount: [{ path: keyOfAccount }],
  rotateKeyOfAccount: [{ path: keyOfAccount }],
  listLedgerEntriesOfAccount: [
    { path: ownAccount },
    { path: ownAccount, query: 'format=csv' },
    { path: ownAccount, query: 'format=jsonl&from=2026-01-01' },
  ],
  readLedgerEntryOfAccount: [{ path: entryOfAccount, query: 'parts=true' }],
  readUsageOfAccount: [{ path: ownAccount }, { path: ownAccount, query: 'group_by=key' }],
  readUsageOfAll: [
    {},
    ...['account', 'key', 'model', 'upstream', 'day'].map((group) => ({ query: `group_by=${group}` })),
    { query: 'format=csv&from=2026-01-01&to=2026-11-21' },
  ],
  listCallsOfAccount: [
    { path: ownAccount },
    { path: ownAccount, query: 'format=csv&upstream=demo' },
    { path: ownAccount, query: 'format=jsonl' },
  ],
  listCallsOfAll: [
    {},
    { query: 'account_id=1&upstream=demo' },
    { query: 'format=csv' },
    { query: 'format=jsonl' },
  ],
  summarizeCallsOfAccount: [{ path: ownAccount }, { path: ownAccount, query: 'upstream=demo' }],
  summarizeCallsOfAll: [{}, { query: 'account_id=1&upstream=demo&from=2026-01-01' }],
  readCallOfAll: [{ path: ownCall }],
  explainKeyOfAccount: [{ path: keyOfAccount }],
  listModelsOfOperator: [{}],
  listModelsOfAccount: [{}, { query: 'limit=1' }],
  listProviders: [{}],
  readGatewayHealth: [{}],
  listLimitsOfAccount: [{ path: ownAccount }, { path: ownAccount, query: 'of=member' }],
  listAlertsOfAccount: [{ path: ownAccount }],
  changeCredits: [
    { path: ownAccount },
    { path: ownAccount, headers: () => ({ 'idempotency-key': 'invoice-1001' }) },
  ],
  listKeysOfAccount: [{ path: ownAccount }, { path: ownAccount, query: 'limit=1&status=active' }],
  readKeyOfAccount: [{ path: keyOfAccount }],
  createKeyForAccount: [{ path: ownAccount }],
  deleteKeyOfAccount: [
    {
      async path(world) {
        const { accountId } = await world.account();
        return { account_id: String(accountId), key_id: String(await newKey(world, accountId)) };
      },
    },
  ],
  listMembersOfAccount: [{ path: ownAccount }],
  createInvitationToAccount: [{ path: ownAccount }],
  listInvitationsToAccount: [{ path: ownAccount }],
  withdrawInvitationToAccount: [{ path: invitationToAccount }],
  listAuditEntriesOfAll: [{}, { query: 'action=session.create&actor=person:1' }, { query: 'format=csv' }],
  listPeople: [{}, { query: 'limit=1&after=1' }],
  createPerson: [{ body: async () => ({ email: newEmail() }) }],
  updatePerson: [{ path: newPerson }],
  erasePerson: [{ path: newPerson }],
  createResetLink: [{ path: newPerson }],
  readHealth: [{}],
  readReadiness: [{}],
  readMetrics: [{}],
};
