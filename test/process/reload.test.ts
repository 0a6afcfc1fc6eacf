import { readFileSync, writeFileSync } from 'node:fs';
import { type Test, test } from 'tap';
import { until } from '../helper/check/until.ts';
import { apiOf } from '../helper/clients/api.ts';
import { ledgerOf, makeOwner } from '../helper/clients/owner.ts';
import { startWaitingProvider } from '../helper/stand-ins/scripted-provider.ts';
import {
  type GatewayProcess,
  makePlace,
  type Place,
  startGatewayProcess,
} from '../helper/start/gateway-process.ts';

/** A gateway whose provider holds the answer to a body with `wait` until it is released. */
async function makeWorld(t: Test) {
  const { provider, letGo } = await startWaitingProvider(t);
  const place = makePlace(t, provider.url);
  const gateway = await startGatewayProcess(t, place);
  return { place, gateway, provider, letGo, owner: await makeOwner(gateway, 100) };
}

interface Line {
  readonly level: number;
  readonly msg: string;
  readonly [fact: string]: unknown;
}

const linesOf = (gateway: GatewayProcess): Line[] =>
  gateway
    .output()
    .split('\n')
    // The last one may have come in part.
    .slice(0, -1)
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line));

function edit({ env }: Place, change: (text: string) => string): void {
  const file = env.TOLLGATE_CONFIG ?? '';
  writeFileSync(file, change(readFileSync(file, 'utf8')));
}

/** Sends SIGHUP, waits until the reload is done, and resolves with its log entries. */
async function reload(gateway: GatewayProcess): Promise<Line[]> {
  const before = linesOf(gateway).length;
  process.kill(gateway.pid, 'SIGHUP');
  return await until('the reload to be logged', () => {
    const lines = linesOf(gateway).slice(before);
    const told = lines.filter(({ msg }) => /configuration|need a restart/.test(msg));
    return told.some(({ msg }) => /configuration/.test(msg)) && told;
  });
}

const dearer = (text: string) => text.replace('price: { request: 1 }', 'price: { request: 2.5 }');
const MODEL = 'upstream: test, category: text, maxOutputTokens: 10, price: { request: 1 }';

test('SIGHUP applies new prices, new models and removed ones, and logs the changes', async (t) => {
  const { place, gateway, owner } = await makeWorld(t);
  edit(place, (text) => `${dearer(text).replace(/ {2}tokens: .*\n/, '')}  fresh: { ${MODEL} }\n`);
  const [line] = await reload(gateway);
  t.match(line, {
    level: 30,
    msg: 'configuration reloaded: models added: 1, removed: 1, changed: 1; models live: 2',
    added: ['fresh'],
    removed: ['tokens'],
    changed: { flat: ['price.request: 1.000000 -> 2.500000'] },
  });

  t.equal((await gateway.served(owner.key)).headers.get('x-tollgate-charge'), '2.500000');
  t.equal((await gateway.served(owner.key, { model: 'fresh' })).status, 200);
  t.equal((await gateway.served(owner.key, { model: 'tokens' })).status, 404);
  const { body } = await apiOf(gateway, owner.key).get<{ data: { id: string }[] }>('/v1/models');
  t.same(
    body.data.map(({ id }) => id),
    ['flat', 'fresh'],
  );
});

test('explain checks by the reloaded catalog', async (t) => {
  const { place, gateway, owner } = await makeWorld(t);
  edit(place, (text) => `${text}  fresh: { ${MODEL} }\n`);
  await reload(gateway);
  const api = apiOf(gateway, owner.key);
  const { body } = await api.post<{ allowed: boolean }>(`/api/keys/${owner.keyId}/explain/`, {
    model: 'fresh',
  });
  t.equal(body.allowed, true);
});

test('a call in flight is charged the price that it was admitted with', async (t) => {
  const { place, gateway, provider, letGo, owner } = await makeWorld(t);
  const waiting = gateway.served(owner.key, { messages: [{ role: 'user', content: 'wait' }] });
  await provider.request(0);
  edit(place, dearer);
  await reload(gateway);
  letGo();
  t.equal((await waiting).headers.get('x-tollgate-charge'), '1.000000');
  t.equal((await gateway.served(owner.key)).headers.get('x-tollgate-charge'), '2.500000');
  const entries = await until('both charges', async () => {
    const found = await ledgerOf(gateway, owner);
    return found.length === 3 && found;
  });
  t.match(entries, [{ credits: '-2.500000' }, { credits: '-1.000000' }, { type: 'top_up' }]);
});

test('a call in flight ends well where its model is removed', async (t) => {
  const { place, gateway, provider, letGo, owner } = await makeWorld(t);
  const waiting = gateway.served(owner.key, { messages: [{ role: 'user', content: 'wait' }] });
  await provider.request(0);
  edit(place, (text) => text.replace(/ {2}flat: .*\n/, ''));
  await reload(gateway);
  letGo();
  t.equal((await waiting).status, 200);
  t.equal((await gateway.served(owner.key)).status, 404);
});

test('a file with faults changes nothing, and each is logged with its path', async (t) => {
  const { place, gateway, owner } = await makeWorld(t);
  edit(place, (text) => `${dearer(text)}  unpriced: { upstream: test, category: song }\ncolor: red\n`);
  const [line] = await reload(gateway);
  t.equal(line?.level, 50);
  t.match(line?.faults, [/^color: /, /^models\.unpriced\.category: /]);
  t.match(line?.msg, /The current configuration stays active$/);
  t.equal((await gateway.served(owner.key)).headers.get('x-tollgate-charge'), '1.000000');

  edit(place, (text) => text.replace(/ {2}unpriced: .*\ncolor: red\n/, ''));
  t.match(await reload(gateway), [{ msg: /^configuration reloaded: models added: 0/ }]);
  t.equal((await gateway.served(owner.key)).headers.get('x-tollgate-charge'), '2.500000');
});

test('a model without a price is such a fault', async (t) => {
  const { place, gateway } = await makeWorld(t);
  edit(place, (text) => `${text}  unpriced: { upstream: test, category: text }\n`);
  t.match(await reload(gateway), [{ level: 50, faults: [/^models\.unpriced\.price: /] }]);
});

test('settings that are read at a start only are named at every reload until then', async (t) => {
  const { place, gateway, owner } = await makeWorld(t);
  edit(place, (text) => `${dearer(text)}server: { port: 1, bodyLimitMb: 1 }\nlimits: { imageTokens: 5 }\n`);
  const expected = { level: 40, needRestart: ['server.bodyLimitMb', 'limits.imageTokens'] };
  t.match((await reload(gateway)).concat(await reload(gateway)), [
    expected,
    { level: 30 },
    expected,
    { msg: /^configuration reloaded: no model, price or upstream changed/ },
  ]);
  t.equal(
    (await gateway.served(owner.key)).headers.get('x-tollgate-charge'),
    '2.500000',
    'the rest is in force',
  );
});

test('a changed credential is named but not shown, and the next call carries it', async (t) => {
  const { place, gateway, provider, owner } = await makeWorld(t);
  edit(place, (text) => text.replace('apiKey: secret', 'apiKey: renewed-secret'));
  t.match(await reload(gateway), [{ upstreams: { test: ['apiKey'] } }]);
  t.notMatch(gateway.output(), /renewed-secret/);
  const next = provider.request(0);
  await gateway.served(owner.key);
  t.equal((await next).headers.authorization, 'Bearer renewed-secret');
});

test('a demo upstream that a reload adds is started', async (t) => {
  const { place, gateway, owner } = await makeWorld(t);
  edit(place, (text) =>
    `${text}  demo: { ${MODEL.replace('test', 'built-in')} }\n`.replace(
      'upstreams: {',
      'upstreams: { built-in: { url: demo, format: openai },',
    ),
  );
  await reload(gateway);
  t.equal((await gateway.served(owner.key, { model: 'demo' })).status, 200);
});
