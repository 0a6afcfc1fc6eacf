import { test } from 'tap';
import { codeOf, counted, made, PATH } from '../../helper/clients/films.ts';
import { ADMIN_TOKEN } from '../../helper/start/gateway-in-process.ts';
import { startMediaGateway } from '../../helper/start/media-gateway.ts';

test('a key with an rpm_limit asked for its job without bound', async (t) => {
  const world = await startMediaGateway(t, () => undefined);
  const account = await world.account({ key: { rpmLimit: 3 } });
  const id = await made(world, account.key);
  const polls = await Promise.all(
    Array.from({ length: 20 }, () => world.api('GET', `${PATH}/${id}`, account.key)),
  );
  t.same(polls.map(({ status }) => status).sort(), [...Array(2).fill(200), ...Array(18).fill(429)]);
  t.equal(world.provider.requests.length, 3);
  const refused = polls.find(({ status }) => status === 429) as Response;
  t.equal(await codeOf(refused), '429 rate_limit_exceeded');
  t.equal(refused.headers.get('x-ratelimit-limit-requests'), '3');
  t.equal(refused.headers.get('x-ratelimit-remaining-requests'), '0');
  t.ok(Number(refused.headers.get('retry-after')) >= 1);
  const served = polls.find(({ status }) => status === 200);
  t.equal(served?.headers.get('x-ratelimit-limit-requests'), '3');
  for (const path of [`${PATH}/${id}`, `${PATH}/${id}/content`]) {
    t.equal((await world.api('GET', path, account.key)).status, 429, path);
  }
  t.equal((await world.chat(account.key)).status, 429, 'reads count beside calls');
  t.equal(world.provider.requests.length, 3);
  await counted(t, world, account.accountId, { top_up: 1, charge: 1 });
});

test('reads take nothing but a request: no place, no credits, no tokens, no entry', async (t) => {
  const world = await startMediaGateway(t, ({ url }) =>
    url.endsWith('/content') ? { body: ['begun', 'never'], stallAfter: 1 } : undefined,
  );
  const account = await world.account({ credits: 3, key: { tpmLimit: 1, maxParallelRequests: 1 } });
  const id = await made(world, account.key);
  const { balance } = await world.held(account);
  const emptied = { amount: -balance / 1_000_000, note: 'spent elsewhere' };
  const admin = `/api/admin/accounts/${account.accountId}/credits/`;
  t.equal((await world.api('POST', admin, ADMIN_TOKEN, emptied)).status, 200);
  const leaving = new AbortController();
  const download = await fetch(`${world.url}${PATH}/${id}/content`, {
    headers: { authorization: `Bearer ${account.key}` },
    signal: leaving.signal,
  });
  t.equal(download.status, 200);
  t.equal((await world.api('GET', `${PATH}/${id}`, account.key)).status, 200);
  t.equal((await world.chat(account.key)).status, 402, 'the one place is free');
  t.equal((await world.api('DELETE', `${PATH}/${id}`, account.key)).status, 200);
  leaving.abort();
  const { key } = await world.ledger.ledger.limitStates(account.accountId, account.keyId);
  t.match(key, { parallel: { open: 0 }, tokens: { debt: 0 } });
  t.match(await world.held(account), { balance: 0, held: 0 });
  await counted(t, world, account.accountId, { top_up: 1, charge: 1, adjustment: 1 });
});

test('a limit that is set between two polls holds for the next one, and so does the end of the key', async (t) => {
  const world = await startMediaGateway(t, () => undefined);
  const owner = await world.account();
  const response = await world.api('POST', '/api/keys/', owner.key, { name: 'poller' });
  const { key, id: keyId } = ((await response.json()) as { key: string; id: number }) ?? {};
  const path = `${PATH}/${await made(world, owner.key)}`;
  const poll = async () => (await world.api('GET', path, key)).status;
  t.same([await poll(), await poll()], [200, 200]);
  await (await world.api('PATCH', `/api/keys/${keyId}/`, owner.key, { rpm_limit: 1 })).text();
  t.same([await poll(), await poll()], [200, 429]);
  await (await world.api('PATCH', `/api/keys/${keyId}/`, owner.key, { allowed_models: ['flat'] })).text();
  t.equal(await poll(), 403);
  await (await world.api('DELETE', `/api/keys/${keyId}/`, owner.key)).text();
  t.equal(await poll(), 401);
});
