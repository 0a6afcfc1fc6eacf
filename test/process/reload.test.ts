import { readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import t from 'tap';
import { until } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { ledgerOf, makeOwner } from '../helper/clients/owner.ts';
import { startWaitingProvider } from '../helper/stand-ins/scripted-provider.ts';
import { makePlace, startGatewayProcess } from '../helper/start/gateway-process.ts';

// One gateway for all tests, each of which begins with the configuration of its start.
const { provider, letGo } = await startWaitingProvider(t);
const place = makePlace(t, provider.url);
const gateway = await startGatewayProcess(t, place);
const owner = await makeOwner(gateway, 1_000);

const file = place.env.TOLLGATE_CONFIG ?? '';
const original = readFileSync(file, 'utf8');
t.beforeEach(async () => {
  writeFileSync(file, original);
  await reload();
});

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly [fact: string]: unknown;
}

const lines = (): Line[] =>
  gateway
    .output()
    .split('\n')
    // The last one may have come in part.
    .slice(0, -1)
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

function edit(change: (text: string) => string): void {
  writeFileSync(file, change(readFileSync(file, 'utf8')));
}

/** Sends SIGHUP, waits until the reload is done, and resolves with its log entries. */
async function reload(): Promise<Line[]> {
  const before = lines().length;
  process.kill(gateway.pid, 'SIGHUP');
  return await until('the reload to be logged', () => {
    const told = lines()
      .slice(before)
      .filter(({ msg }) => /configuration|need a restart/.test(msg));
    return told.some(({ msg }) => /configuration/.test(msg)) && told;
  });
}

const dearer = (text: string) => text.replace('price: { request: 1 }', 'price: { request: 2.5 }');
const MODEL = 'upstream: test, category: text, maxOutputTokens: 10, price: { request: 1 }';

t.test('SIGHUP applies new prices, new models and removed ones, and logs the changes', async (t) => {
  edit((text) => `${dearer(text).replace(/ {2}tokens: .*\n/, '')}  fresh: { ${MODEL} }\n`);
  const [line] = await reload();
  t.match(line, {
    level: 30,
    msg: 'configuration reloaded: models added: 1, removed: 1, changed: 1; models live: 2',
    added: ['fresh'],
    removed: ['tokens'],
    changed: { flat: ['price.request: 1.000000 -> 2.500000'] },
  });

  t.equal((await gateway.chat(owner.key)).headers.get('x-tollgate-charge'), '2.500000');
  t.equal((await gateway.chat(owner.key, { model: 'fresh' })).status, 200);
  t.equal((await gateway.chat(owner.key, { model: 'tokens' })).status, 404);
  const { body } = await apiOf(gateway, owner.key).get<{ data: { id: string }[] }>('/v1/models');
  t.same(
    body.data.map(({ id }) => id),
    ['flat', 'fresh'],
  );
});

t.test("a provider's credential in a file is read again by SIGHUP", async (t) => {
  const secret = `${dirname(file)}/provider-key`;
  writeFileSync(secret, 'first\n');
  edit((text) => text.replace('apiKey: secret', `apiKey: "file:${secret}"`));
  await reload();
  writeFileSync(secret, 'second\n');
  const [line] = await reload();
  t.match(line, { upstreams: { test: ['apiKey'] } });
  const before = provider.requests.length;
  await gateway.chat(owner.key);
  t.equal((await provider.request(before)).headers.authorization, 'Bearer second');
});

t.test('explain checks by the reloaded catalog', async (t) => {
  edit((text) => `${text}  fresh: { ${MODEL} }\n`);
  await reload();
  const api = apiOf(gateway, owner.key);
  const { body } = await api.post<{ allowed: boolean }>(`/api/keys/${owner.keyId}/explain/`, {
    model: 'fresh',
  });
  t.equal(body.allowed, true);
});

t.test(
  'calls in flight are charged the price of their admission, though the price changed or the model is gone',
  async (t) => {
    const caller = await makeOwner(gateway, 100);
    const before = provider.requests.length;
    const wait = { messages: [{ role: 'user', content: 'wait' }] };
    const first = gateway.chat(caller.key, wait);
    await provider.request(before);
    edit(dearer);
    await reload();
    const second = gateway.chat(caller.key, wait);
    await provider.request(before + 1);
    edit((text) => text.replace(/ {2}flat: .*\n/, ''));
    await reload();
    letGo();
    t.equal((await first).headers.get('x-tollgate-charge'), '1.000000');
    t.equal((await second).headers.get('x-tollgate-charge'), '2.500000');
    t.equal((await gateway.chat(caller.key)).status, 404);
    const entries = await until('both charges', async () => {
      const found = await ledgerOf(gateway, caller);
      return found.length === 3 && found;
    });
    t.same(entries.map(({ credits }) => credits).sort(), ['-1.000000', '-2.500000', '100.000000']);
  },
);

t.test('a file with faults changes nothing, and each is logged with its path', async (t) => {
  edit((text) => `${dearer(text)}  unpriced: { upstream: test, category: song }\ncolor: red\n`);
  const [line] = await reload();
  t.equal(line?.level, 50);
  t.match(line?.faults, [/^color: /, /^models\.unpriced\.category: /]);
  t.match(line?.msg, /The current configuration stays active$/);
  t.equal((await gateway.chat(owner.key)).headers.get('x-tollgate-charge'), '1.000000');

  edit((text) => text.replace(/ {2}unpriced: .*\ncolor: red\n/, ''));
  t.match(await reload(), [{ msg: /^configuration reloaded: models added: 0/ }]);
  t.equal((await gateway.chat(owner.key)).headers.get('x-tollgate-charge'), '2.500000');
});

t.test('a model without a price is such a fault', async (t) => {
  edit((text) => `${text}  unpriced: { upstream: test, category: text }\n`);
  t.match(await reload(), [{ level: 50, faults: [/^models\.unpriced\.price: /] }]);
});

t.test('settings that are read at a start only are named at every reload until then', async (t) => {
  edit((text) => `${dearer(text)}server: { port: 1, bodyLimitMb: 1 }\nlimits: { imageTokens: 5 }\n`);
  const expected = { level: 40, needRestart: ['server.bodyLimitMb', 'limits.imageTokens'] };
  t.match((await reload()).concat(await reload()), [
    expected,
    { level: 30 },
    expected,
    { msg: /^configuration reloaded: no model, price or upstream changed/ },
  ]);
  t.equal(
    (await gateway.chat(owner.key)).headers.get('x-tollgate-charge'),
    '2.500000',
    'the rest is in force',
  );
});

t.test('a changed credential is named but not shown, and the next call carries it', async (t) => {
  edit((text) => text.replace('apiKey: secret', 'apiKey: renewed-secret'));
  t.match(await reload(), [{ upstreams: { test: ['apiKey'] } }]);
  t.notMatch(gateway.output(), /renewed-secret/);
  const next = provider.request(provider.requests.length);
  await gateway.chat(owner.key);
  t.equal((await next).headers.authorization, 'Bearer renewed-secret');
});

t.test('a demo upstream that a reload adds is started', async (t) => {
  edit((text) =>
    `${text}  demo: { ${MODEL.replace('test', 'built-in')} }\n`.replace(
      'upstreams: {',
      'upstreams: { built-in: { url: demo, format: openai },',
    ),
  );
  await reload();
  t.equal((await gateway.chat(owner.key, { model: 'demo' })).status, 200);
});
