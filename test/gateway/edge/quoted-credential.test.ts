import { gzipSync } from 'node:zlib';
import { t as ofFile, test } from 'tap';
import { type Behavior, startScriptedProvider } from '../../helper/stand-ins/scripted-provider.ts';
import { startGatewayInProcess, testCatalog } from '../../helper/start/gateway-in-process.ts';

/** Ends like base64, with characters that JSON and URLs can spell in other ways. */
const SECRET = 'sk-upstream/secret+of=ours==';
const SPELLINGS = [
  SECRET,
  SECRET.replaceAll('/', '\\/'),
  SECRET.replaceAll('+', '\\u002b').replaceAll('=', '\\u003D'),
  encodeURIComponent(SECRET),
  SECRET.toUpperCase(),
];
const QUOTING = `{"error":{"message":"Bearer ${SPELLINGS.join(' or ')} is not known"}}`;
const CLEAN = `{"error":{"message":"Bearer ${SPELLINGS.map(() => '…').join(' or ')} is not known"}}`;
const JSON_TYPE = { 'content-type': 'application/json' };
const SSE_TYPE = { 'content-type': 'text/event-stream' };

type Ask = (given: Behavior, body?: object) => Promise<Response>;

/** One gateway for all tests of this file. */
let shared: Promise<Ask> | undefined;

async function start(): Promise<Ask> {
  let behavior: Behavior = {};
  const provider = await startScriptedProvider({ behave: () => behavior });
  ofFile.teardown(() => provider.close());
  const catalog = new Map(
    [...testCatalog(provider.url)].map(([slug, model]) => [
      slug,
      { ...model, upstream: { ...model.upstream, apiKey: SECRET } },
    ]),
  );
  const world = await startGatewayInProcess(ofFile, { provider, config: { catalog } });
  const { key } = await world.account();
  return async (given, body = {}) => {
    behavior = given;
    return await world.chat(key, { ...body });
  };
}

/** Makes a call to a provider with the given behavior. */
async function ask(given: Behavior, body?: object): Promise<Response> {
  shared ??= start();
  return await (await shared)(given, body);
}

test('an error of the provider that quoted our credential showed it to the client', async (t) => {
  const bytes = Buffer.from(QUOTING);
  const large = `{"error":{"message":"${'x'.repeat(2_000_000)} ${SECRET}"}}`;
  const rows: readonly (readonly [string, Behavior, string])[] = [
    ['whole', { status: 400, headers: JSON_TYPE, body: QUOTING }, CLEAN],
    [
      'with its length',
      { status: 400, headers: { ...JSON_TYPE, 'content-length': bytes.length }, body: QUOTING },
      CLEAN,
    ],
    ['in small parts', { status: 500, headers: JSON_TYPE, body: QUOTING.match(/.{1,7}/gu) ?? [] }, CLEAN],
    [
      'compressed',
      { status: 429, headers: { ...JSON_TYPE, 'content-encoding': 'gzip' }, body: gzipSync(bytes) },
      CLEAN,
    ],
    ['as text', { status: 503, headers: { 'content-type': 'text/plain' }, body: `no ${SECRET}` }, 'no …'],
    ['with a status of 200', { headers: JSON_TYPE, body: QUOTING }, CLEAN],
    ['too large to be held', { status: 400, headers: JSON_TYPE, body: large }, large.replace(SECRET, '…')],
  ];
  for (const [how, behavior, expected] of rows) {
    const response = await ask(behavior);
    t.equal(response.status, behavior.status ?? 502, how);
    t.ok((await response.text()) === expected, how);
  }
});

test('an error event of a stream that quoted our credential showed it to the client', async (t) => {
  const events = [
    'data: {"choices":[{"index":0,"delta":{"content":"Hello"}}]}\n\n',
    `data: ${QUOTING}\n\n`,
    `data: {"after":"${SECRET}"}\n\ndata: [DONE]\n\n`,
  ];
  for (const body of [events, [events.join('')]]) {
    const response = await ask({ headers: SSE_TYPE, body }, { stream: true });
    const text = await response.text();
    t.notMatch(text, SECRET);
    t.match(text, `data: ${CLEAN}\n\n`);
  }
});

test('a header or a redirect of the provider that quoted our credential showed it to the client', async (t) => {
  for (const status of [200, 302, 307, 400, 401, 403, 500]) {
    const body = status === 200 ? {} : { body: QUOTING };
    const headers = { ...JSON_TYPE, location: `/?key=${SECRET}`, 'x-sent': `Bearer ${SECRET}, as it came` };
    const response = await ask({ status, headers, ...body });
    const shown = JSON.stringify([...response.headers]) + (await response.text());
    for (const spelling of SPELLINGS) t.notOk(shown.includes(spelling), `${status} ${spelling}`);
  }
});

test('a body without our credential passes byte for byte, errors too', async (t) => {
  const body = Buffer.from([...Array(256).keys()]);
  const response = await ask({ status: 400, headers: { 'content-type': 'application/octet-stream' }, body });
  t.same(Buffer.from(await response.arrayBuffer()), body);
});
