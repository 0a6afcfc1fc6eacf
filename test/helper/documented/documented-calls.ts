import { untilServed } from '../check/until.ts';
import type { InProcessGateway, TestAccount } from '../start/gateway-in-process.ts';

/** Values of path parameters, of a query, or of headers. */
export type Values = Readonly<Record<string, string>>;

/** One way to call an operation. Bodies are the examples of the document. */
export interface DocumentedCall {
  /** Creates the resources that the path's parameters name; absent if the path has none. */
  readonly path?: (world: InProcessGateway, caller: TestAccount) => Values | Promise<Values>;
  readonly query?: string;
  readonly headers?: Values;
}

const ownKey = async (world: InProcessGateway, { accountId }: TestAccount) => ({
  key_id: String(await newKey(world, accountId)),
});
const ownAccount = async (world: InProcessGateway) => {
  const { accountId } = await world.account();
  return { account_id: String(accountId) };
};

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
  listKeys: [{}],
  readOwnKey: [{}],
  createKey: [{}],
  updateKey: [{ path: ownKey }],
  deleteKey: [{ path: ownKey }],
  rotateKey: [{ path: ownKey }],
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
  readLedgerEntry: [{ path: ownEntry }],
  listCalls: [
    {},
    { query: 'limit=1&result=ok' },
    { query: 'key_id=1&before=1795270980000.req_1' },
    { query: 'model=demo-chat&endpoint=/v1/chat/completions&code=insufficient_credits&outcome=refused' },
    { query: 'from=2026-01-01&to=2026-11-21T08:00:00Z' },
    { query: 'format=csv' },
    { query: 'format=jsonl' },
  ],
  readCall: [{ path: ownCall }],
  readUsage: [
    {},
    { query: 'group_by=day' },
    { query: 'group_by=key' },
    { query: 'group_by=model&from=2026-01-01&to=2026-11-21' },
  ],
  listAlerts: [{}, { query: 'limit=1' }],
  sendTestAlert: [{}],
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
  createAccount: [{}],
  listAccounts: [{}, { query: 'email=EXAMPLE.com' }, { query: 'limit=1' }, { query: 'after=1' }],
  readAccountById: [{ path: ownAccount }],
  updateAccountById: [{ path: ownAccount }],
  updateKeyOfAccount: [{ path: keyOfAccount }],
  rotateKeyOfAccount: [{ path: keyOfAccount }],
  listLedgerEntriesOfAccount: [
    { path: ownAccount },
    { path: ownAccount, query: 'format=csv' },
    { path: ownAccount, query: 'format=jsonl&from=2026-01-01' },
  ],
  readLedgerEntryOfAccount: [{ path: entryOfAccount }],
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
  readCallOfAll: [{ path: ownCall }],
  explainKeyOfAccount: [{ path: keyOfAccount }],
  listModelsOfOperator: [{}],
  listProviders: [{}],
  listAlertsOfAccount: [{ path: ownAccount }],
  changeCredits: [{ path: ownAccount }, { path: ownAccount, headers: { 'idempotency-key': 'invoice-1001' } }],
  listKeysOfAccount: [{ path: ownAccount }],
  createKeyForAccount: [{ path: ownAccount }],
  deleteKeyOfAccount: [
    {
      async path(world) {
        const { accountId } = await world.account();
        return { account_id: String(accountId), key_id: String(await newKey(world, accountId)) };
      },
    },
  ],
  readHealth: [{}],
  readReadiness: [{}],
  readMetrics: [{}],
};
