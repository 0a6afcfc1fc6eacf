import { createHash } from 'node:crypto';
import { t as ofFile, test } from 'tap';
import { sendRaw } from '../../helper/clients/raw-http.ts';
import { startScriptedProvider } from '../../helper/stand-ins/scripted-provider.ts';
import { BODY, type EdgeGateway, LENGTH, startEdgeGateway } from '../../helper/start/edge-gateway.ts';
import { testCatalog } from '../../helper/start/gateway-in-process.ts';

/** Headers that tell gateways and providers behind an upstream's address where a call goes and whose account pays. */
const STEERING = [
  'api_key',
  'authorization-extended',
  'azureml-model-deployment',
  'cf-aig-authorization',
  'cf-aig-custom-cost',
  'chatgpt-account-id',
  'fastly-client-ip',
  'helicone-auth',
  'helicone-target-url',
  'if-none-match',
  'ocp-apim-subscription-key',
  'openai-organization',
  'openai-project',
  'origin',
  'range',
  'referer',
  'x-amz-security-token',
  'x-appengine-user-ip',
  'x-bf-vk',
  'x-envoy-original-path',
  'x-forwarded-for',
  'x-goog-user-project',
  'x-http-method-override',
  'x-litellm-api-key',
  'x-litellm-num-retries',
  'x-ms-oai-image-generation-deployment',
  'x-original-url',
  'x-portkey-api-key',
  'x-portkey-config',
  'x-portkey-custom-host',
  'x-portkey-provider',
  'x-rewrite-url',
  'x_forwarded_for',
];

const PASSING = [
  'accept',
  'accept-language',
  'anthropic-beta',
  'anthropic-dangerous-direct-browser-access',
  'anthropic-version',
  'conversation_id',
  'http-referer',
  'openai-beta',
  'originator',
  'session-id',
  'session_id',
  'thread-id',
  'tracestate',
  'user-agent',
  'x-app',
  'x-claude-code-session-id',
  'x-client-request-id',
  'x-codex-turn-metadata',
  'x-opencode-session',
  'x-session-affinity',
  'x-stainless-lang',
  'x-title',
];

/** Headers that the gateway itself sends. */
const OURS = ['accept-encoding', 'authorization', 'connection', 'content-length', 'content-type', 'host'];

const lines = (names: readonly string[]) => names.map((name) => `${name}: sent\r\n`).join('');
const post = (target: string, head: string, more: string) =>
  `POST ${target} HTTP/1.1\r\n${head}${more}${LENGTH}\r\n${BODY}`;

/** One gateway for all tests of this file; its OpenAI upstream takes two more headers. */
let shared: Promise<EdgeGateway> | undefined;

async function start() {
  const provider = await startScriptedProvider({ record: true });
  ofFile.teardown(() => provider.close());
  const catalog = new Map(
    [...testCatalog(provider.url)].map(([slug, model]) => {
      const passHeaders = model.upstream.name === 'test' ? [] : ['x-team', 'range'];
      return [slug, { ...model, upstream: { ...model.upstream, passHeaders } }];
    }),
  );
  return await startEdgeGateway(ofFile, { provider, config: { catalog } });
}

/** Runs `work` and resolves with the requests that reached the upstream. */
async function sentBy(work: (world: EdgeGateway) => Promise<unknown>) {
  shared ??= start();
  const world = await shared;
  const before = world.provider.requests.length;
  await work(world);
  return world.provider.requests.slice(before);
}

test('a header of a client routed the call at the gateway behind the upstream', async (t) => {
  const [request] = await sentBy(async ({ url, head }) => {
    const more = lines([...STEERING, ...PASSING]);
    t.equal((await sendRaw(url, post('/v1/chat/completions', head, more)))?.status, 200);
  });
  const { headers = {} } = request ?? {};
  t.same(Object.keys(headers).sort(), [...OURS, ...PASSING].sort());
  t.same(
    PASSING.filter((name) => headers[name] !== 'sent'),
    [],
  );
  t.equal(headers.authorization, 'Bearer upstream-secret');
});

test('Connection cannot remove the content type of a body', async (t) => {
  const [request] = await sentBy(async ({ url, head }) => {
    const more = 'Connection: content-type, user-agent\r\nContent-Type: text/plain\r\nUser-Agent: me\r\n';
    t.equal((await sendRaw(url, post('/v1/chat/completions', head, more)))?.status, 200);
  });
  t.equal(request?.headers['content-type'], 'application/json');
  t.notOk('user-agent' in (request?.headers ?? {}));
});

test('a query of a client chose the usage report and the paying project', async (t) => {
  const query =
    '$fields=id&fields=id&$userProject=p&access_token=t&api-version=1&alt=media&limit=1&%62eta=2&beta=true;fields=id';
  const sent = await sentBy(async ({ url, head }) => {
    t.equal((await sendRaw(url, post(`/v1/chat/completions?${query}`, head, '')))?.status, 200);
    t.equal((await sendRaw(url, post('/v1/chat/completions?limit=1', head, '')))?.status, 200);
  });
  t.same(
    sent.map(({ url }) => url),
    ['/v1/chat/completions?beta=2&beta=true%3Bfields%3Did', '/v1/chat/completions'],
  );
});

test('a header passes to the upstream whose passHeaders names it, and to no other', async (t) => {
  const more = { 'X-Team': 'red', Range: 'bytes=0-1', 'X-Other': '1' };
  const body = { model: 'claude-flat', max_tokens: 1, messages: [{ role: 'user', content: 'Hello' }] };
  const [others, named] = await sentBy(async ({ api, chat, owner }) => {
    t.equal((await chat(owner.key, {}, more)).status, 200);
    t.equal((await api('POST', '/v1/messages', owner.key, body, more)).status, 200);
  });
  t.match(named?.headers, { 'x-team': 'red', range: 'bytes=0-1', 'x-other': undefined });
  t.match(others?.headers, { 'x-team': undefined, range: undefined });
});

test('one account got the answer to another’s call by naming the same Idempotency-Key', async (t) => {
  let accountId = 0;
  const sent = await sentBy(async (world) => {
    accountId = world.owner.accountId;
    const other = await world.account();
    for (const key of [world.owner.key, world.owner.key, other.key]) {
      t.equal((await world.chat(key, {}, { 'Idempotency-Key': 'order-1' })).status, 200);
    }
  });
  const [first, again, others] = sent.map(({ headers }) => headers['idempotency-key']);
  t.equal(first, createHash('sha256').update(`${accountId}:order-1`).digest('hex'));
  t.equal(again, first, 'a repeat is known as one');
  t.match(others, /^[0-9a-f]{64}$/);
  t.not(others, first);
});
