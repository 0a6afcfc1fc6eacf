import { get } from 'node:http';
import { gzipSync } from 'node:zlib';
import { test } from 'tap';
import { micro } from '../../src/domain/credits.ts';
import { codeOf, counted, create, made, PATH, scripted } from '../helper/clients/films.ts';
import { type Behavior, startScriptedProvider } from '../helper/stand-ins/scripted-provider.ts';
import { startGatewayInProcess, testConfig } from '../helper/start/gateway-in-process.ts';
import { mediaCatalog, startMediaGateway, withMedia } from '../helper/start/media-gateway.ts';

function rawStatus(url: string, path: string, key: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const headers = { authorization: `Bearer ${key}` };
    get(url, { path, headers }, (response) => resolve(response.resume().statusCode)).on('error', reject);
  });
}

test('for another account a video does not exist, and no request goes upstream', async (t) => {
  const world = await startMediaGateway(t, () => undefined);
  const [own, other] = [await world.account(), await world.account()];
  const id = await made(world, own.key);
  const sent = world.provider.requests.length;
  for (const [method, path] of [
    ['GET', `${PATH}/${id}`],
    ['DELETE', `${PATH}/${id}`],
    ['GET', `${PATH}/${id}/content`],
  ] as const) {
    t.equal(await codeOf(await world.api(method, path, other.key)), '404 object_not_found');
    t.equal(
      await codeOf(await world.api(method, path.replace(id, 'video_x'), own.key)),
      '404 object_not_found',
    );
  }
  t.equal(world.provider.requests.length, sent);
  t.equal((await world.api('GET', `${PATH}/${id}`, own.key)).status, 200);
});

test('an id cannot lead to another path of the upstream, and there is nothing beside these routes', async (t) => {
  const world = await startMediaGateway(t, (request) =>
    request.method === 'POST' ? { body: { id: '../models?x=', status: 'queued' } } : undefined,
  );
  const { key } = await world.account();
  await (await create(world, key)).text();
  await world.settled();
  const sent = world.provider.requests.length;
  for (const id of [
    '..%2fmodels%3fx%3d',
    '%2e%2e',
    'a%2fb',
    'a%5cb',
    'a%3fb',
    'a%23b',
    'a%00b',
    'a%0ab',
    'x'.repeat(300),
  ]) {
    const response = await world.api('GET', `${PATH}/${id}`, key);
    t.ok([400, 404].includes(response.status), `${id} ${response.status}`);
  }
  // Paths that no client sends that follows the URL standard.
  for (const path of [
    `${PATH}/..`,
    `${PATH}/../models`,
    `${PATH}/%2e%2e/content`,
    `${PATH}/.`,
    `${PATH}//content`,
  ]) {
    t.equal(await rawStatus(world.url, path, key), 404, path);
  }
  for (const [method, path] of [
    ['GET', PATH],
    ['HEAD', `${PATH}/video_1`],
    ['POST', `${PATH}/video_1`],
    ['POST', `${PATH}/video_1/remix`],
    ['POST', `${PATH}/edits`],
    ['PUT', `${PATH}/video_1`],
    ['DELETE', `${PATH}/video_1/content`],
    ['GET', `${PATH}/video_1/content/x`],
  ] as const) {
    t.equal((await world.api(method, path, key)).status, 404, `${method} ${path}`);
  }
  t.equal(world.provider.requests.length, sent);
});

test('a key is checked by the model of the job, and by its record as it is now', async (t) => {
  const world = await startMediaGateway(t, () => undefined);
  const owner = await world.account();
  const id = await made(world, owner.key);
  const path = `${PATH}/${id}`;
  const patch = (body: object) =>
    world.api('PATCH', `/api/keys/${owner.keyId}/`, owner.key, { can_manage: true, ...body });
  await patch({ allowed_models: ['flat'] });
  for (const [method, at] of [
    ['GET', path],
    ['DELETE', path],
    ['GET', `${path}/content`],
  ] as const) {
    t.equal(await codeOf(await world.api(method, at, owner.key)), '403 model_not_allowed');
  }
  await patch({ allowed_models: [], allowed_categories: ['text'] });
  t.equal(await codeOf(await world.api('GET', path, owner.key)), '403 category_not_allowed');
  await patch({ allowed_categories: [], allowed_origins: ['https://app.example.com'] });
  t.equal(await codeOf(await world.api('GET', path, owner.key)), '403 origin_not_allowed');
  const origin = { origin: 'https://app.example.com' };
  const other = (await (
    await world.api('POST', '/api/keys/', owner.key, { name: 'handed out' }, origin)
  ).json()) as { id: number; key: string };
  for (let round = 0; round < 20; round++) {
    t.equal((await world.api('GET', path, other.key)).status, 200);
    await world.api('DELETE', `/api/keys/${other.id}/`, owner.key, undefined, origin);
    t.equal(await codeOf(await world.api('GET', path, other.key)), '401 inactive_api_key');
    await world.api('PATCH', `/api/keys/${other.id}/`, owner.key, { is_active: true }, origin);
  }
});

test('a key at its limit, of an account without credits, can fetch the videos it paid for', async (t) => {
  const world = await startMediaGateway(t, () => undefined);
  const { key } = await world.account({ credits: 2.25, key: { spendingLimit: micro(2_250_000) } });
  const id = await made(world, key);
  t.equal((await create(world, key)).status, 402);
  for (let polls = 0; polls < 2; polls++) t.equal((await world.api('GET', `${PATH}/${id}`, key)).status, 200);
  t.equal((await world.api('GET', `${PATH}/${id}/content`, key)).status, 200);
});

test('a refund lowers the key’s spend, so that it can spend again', async (t) => {
  const state = { status: 'queued' };
  const world = await startMediaGateway(t, scripted(state));
  const { key, keyId } = await world.account({ credits: 10, key: { spendingLimit: micro(3_000_000) } });
  const id = await made(world, key);
  t.equal(await codeOf(await create(world, key)), '402 spending_limit_exceeded');
  state.status = 'failed';
  await world.api('GET', `${PATH}/${id}`, key);
  t.equal((await create(world, key)).status, 200);
  const { keys } = (await (await world.api('GET', '/api/keys/', key)).json()) as {
    keys: { id: number; spending_current: string }[];
  };
  t.match(keys, [{ id: keyId, spending_current: '2.250000' }]);
});

test('the content passes as it comes, with its variant and back-pressure, and its range where that passes', async (t) => {
  const part = Buffer.alloc(1024 * 1024, 'v');
  const provider = await startScriptedProvider({
    behave: ({ url, headers }) =>
      url.includes('/content')
        ? {
            status: headers.range ? 206 : 200,
            headers: { 'content-type': 'video/mp4', 'content-range': 'bytes 0-9/10', 'set-cookie': 'a=b' },
            body: Array.from({ length: 40 }, () => part),
          }
        : undefined,
  });
  t.teardown(() => provider.close());
  const [[, film] = []] = [...mediaCatalog(provider.url)].filter(([slug]) => slug === 'film');
  if (!film) throw new Error('there is no film');
  const upstream = { ...film.upstream, passHeaders: ['range'] };
  const catalog = new Map([['film', { ...film, upstream }]]);
  const world = withMedia(await startGatewayInProcess(t, { provider, config: { catalog } }));
  const { key } = await world.account();
  const id = await made(world, key);
  const response = await world.api('GET', `${PATH}/${id}/content?variant=video&x=%2F`, key, undefined, {
    range: 'bytes=0-9',
  });
  t.equal(response.status, 206);
  t.equal(response.headers.get('content-range'), 'bytes 0-9/10');
  t.equal(response.headers.get('set-cookie'), null);
  let length = 0;
  for await (const chunk of response.body ?? []) length += (chunk as Uint8Array).length;
  t.equal(length, 40 * part.length);
  const received = await world.provider.request(1);
  t.equal(received.url, `${PATH}/${id}/content?variant=video`);
  t.equal(received.headers.range, 'bytes=0-9');
  t.equal(received.headers.authorization, 'Bearer upstream-secret');
});

test('who leaves within the content ends the upstream’s answer, and a broken one is never a clean end', async (t) => {
  const behavior: { now: Behavior } = { now: { body: ['x'.repeat(1_000), 'y'], stallAfter: 1 } };
  const world = await startMediaGateway(t, ({ url }) =>
    url.includes('/content') ? behavior.now : undefined,
  );
  const { key } = await world.account();
  const path = `${PATH}/${await made(world, key)}/content`;
  const leave = new AbortController();
  const response = await fetch(`${world.url}${path}`, {
    headers: { authorization: `Bearer ${key}` },
    signal: leave.signal,
  });
  await response.body?.getReader().read();
  leave.abort();
  t.equal(await (await world.provider.request(1)).ended, 'broken');
  behavior.now = { body: ['x', 'y'], breakAfter: 1 };
  await t.rejects((await world.api('GET', path, key)).text());
});

test('a job that takes too long to answer gets 504, and its content breaks off', async (t) => {
  const { limits } = testConfig('', '');
  const world = await startMediaGateway(
    t,
    ({ method, url }) => {
      if (method === 'POST') return undefined;
      return url.includes('/content')
        ? { body: ['begun', 'never'], stallAfter: 1 }
        : { stallAfter: 'nothing' };
    },
    { limits: { ...limits, requestTimeoutMs: 3_000 } },
  );
  const { key } = await world.account();
  const path = `${PATH}/${await made(world, key)}`;
  const [state, content] = await Promise.all([
    world.api('GET', path, key),
    world.api('GET', `${path}/content`, key),
  ]);
  t.equal(await codeOf(state), '504 upstream_timeout');
  t.equal(content.status, 200);
  await t.rejects(content.text());
});

test('answers of the upstream that are the gateway’s concern are not passed on', async (t) => {
  let behavior: Behavior | undefined;
  const world = await startMediaGateway(t, () => behavior);
  const { key } = await world.account();
  const path = `${PATH}/${await made(world, key)}`;
  for (const [given, expected] of [
    [{ status: 401, body: { error: { message: 'secret' } } }, '502 upstream_auth_failed'],
    [{ status: 302, headers: { location: 'http://elsewhere' }, body: '' }, '502 upstream_unavailable'],
    [{ breakAfter: 'nothing' }, '502 upstream_unavailable'],
  ] as const) {
    behavior = given;
    for (const [method, at] of [
      ['GET', path],
      ['DELETE', path],
      ['GET', `${path}/content`],
    ] as const) {
      t.equal(await codeOf(await world.api(method, at, key)), expected, `${method} ${at}`);
    }
  }
  behavior = { status: 404, body: { error: { message: 'gone' } } };
  t.match(await (await world.api('GET', path, key)).json(), { error: { message: 'gone' } });
});

test('deleting a job that failed unseen gives its charge back first', async (t) => {
  const world = await startMediaGateway(t, scripted({ status: 'failed' }));
  const account = await world.account({ credits: 10 });
  const id = await made(world, account.key);
  t.match(await (await world.api('DELETE', `${PATH}/${id}`, account.key)).json(), { deleted: true });
  t.equal((await world.held(account)).balance, 10_000_000);
  await counted(t, world, account.accountId, { top_up: 1, charge: 1, refund: 1 });
  t.equal(await codeOf(await world.api('GET', `${PATH}/${id}`, account.key)), '404 object_not_found');
});

test('a job without a known state is not deleted', async (t) => {
  const state = {
    status: 'failed',
    polls: () => ({ status: 500, body: { error: { message: 'try later' } } }),
  };
  const world = await startMediaGateway(t, (request) =>
    request.method === 'GET' ? state.polls() : scripted({ status: 'failed' })(request),
  );
  const account = await world.account({ credits: 10 });
  const id = await made(world, account.key);
  t.equal((await world.api('DELETE', `${PATH}/${id}`, account.key)).status, 500);
  t.notOk(world.provider.requests.some(({ method }) => method === 'DELETE'));
});

for (const headers of [{ 'content-encoding': 'gzip' }, {}])
  test(`a failure that comes compressed is read, refunded and passed on: ${JSON.stringify(headers)}`, async (t) => {
    const answer = { object: 'video', status: 'failed' };
    const polls = ({ method }: { method: string }) =>
      method === 'GET' ? { headers, body: gzipSync(JSON.stringify(answer)) } : undefined;
    const world = await startMediaGateway(t, scripted({ status: 'queued', polls }));
    const account = await world.account({ credits: 10 });
    const id = await made(world, account.key);
    t.same(await (await world.api('GET', `${PATH}/${id}`, account.key)).json(), answer);
    t.equal((await world.held(account)).balance, 10_000_000);
  });

test('an answer about a job that unfolds to too much, or in an unknown coding, gets 502', async (t) => {
  const tooLarge = gzipSync(' '.repeat(5_000_000));
  for (const [coding, body] of [
    ['gzip', tooLarge],
    ['compress', 'x'],
  ] as const) {
    const polls = ({ method }: { method: string }) =>
      method === 'GET' ? { headers: { 'content-encoding': coding }, body } : undefined;
    const world = await startMediaGateway(t, scripted({ status: 'queued', polls }));
    const { key } = await world.account({ credits: 10 });
    const id = await made(world, key);
    t.equal((await world.api('GET', `${PATH}/${id}`, key)).status, 502, coding);
  }
});

test('a body sent with a DELETE does not matter', async (t) => {
  const world = await startMediaGateway(t, scripted({ status: 'completed' }));
  const { key } = await world.account();
  const path = `${PATH}/${await made(world, key)}`;
  t.equal((await world.api('DELETE', path, key, { a: 'x'.repeat(2_000_000) })).status, 413);
  t.equal((await world.api('DELETE', path, key, '{')).status, 200);
});

test('a completed job is not refunded, nor is one that is only asked for', async (t) => {
  const state = { status: 'in_progress' };
  const world = await startMediaGateway(t, scripted(state));
  const account = await world.account({ credits: 10 });
  const id = await made(world, account.key);
  for (state.status of ['in_progress', 'completed'])
    await (await world.api('GET', `${PATH}/${id}`, account.key)).text();
  await (await world.api('DELETE', `${PATH}/${id}`, account.key)).text();
  await counted(t, world, account.accountId, { top_up: 1, charge: 1 });
});

test('a deleted job stays deleted when its charge reaches the book after that', async (t) => {
  const world = await startMediaGateway(t, scripted({ status: 'completed' }));
  const { key } = await world.account();
  for (let round = 0; round < 10; round++) {
    const id = await made(world, key);
    await (await world.api('DELETE', `${PATH}/${id}`, key)).text();
    await world.settled();
    t.equal((await world.api('GET', `${PATH}/${id}`, key)).status, 404);
  }
});
