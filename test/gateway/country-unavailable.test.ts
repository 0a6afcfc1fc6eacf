import { test } from 'tap';
import { startGatewayInProcess } from '../helper/start/gateway-in-process.ts';

// The data is loaded once a process, so this test has its own.
process.env.GEODATADIR = '/nowhere';

test('a key that blocks countries gets 503 while no country can be looked up', async (t) => {
  const world = await startGatewayInProcess(t);
  const { chat, account, provider } = world;
  const from = { 'x-forwarded-for': '8.8.8.8' };
  const { key } = await account({ key: { blockedCountries: ['DE'] } });
  for (const time of ['by its current record', 'by its cached one']) {
    const refused = await chat(key, {}, from);
    t.equal(refused.status, 503, time);
    t.match(refused.headers.get('retry-after'), /^[2-5]$/);
    const { error } = (await refused.json()) as { error: { code: string; message: string } };
    t.equal(error.code, 'service_unavailable');
    t.match(error.message, /^The country of your IP address could not be looked up/);
  }
  t.equal(provider.requests.length, 0);

  const open = await account();
  t.equal((await chat(open.key, {}, from)).status, 200, 'other keys do not need it');
  const inactive = await account({ key: { blockedCountries: ['DE'], isActive: false } });
  t.equal((await chat(inactive.key, {}, from)).status, 401, 'what an earlier check refuses needs no country');
  const elsewhere = await account({ key: { blockedCountries: ['DE'], allowedIps: ['203.0.113.0/24'] } });
  t.equal((await chat(elsewhere.key, {}, from)).status, 403);
});

test('explain says that no country can be looked up, and goes on by one that is named', async (t) => {
  const { account, api } = await startGatewayInProcess(t);
  const { key } = await account();
  const created = await api('POST', '/api/keys/', key, { name: 'x', blocked_countries: ['DE'] });
  const { id } = (await created.json()) as { id: number };
  const explain = (body: object) => api('POST', `/api/keys/${id}/explain/`, key, { model: 'flat', ...body });
  const refused = await explain({ ip: '8.8.8.8' });
  t.equal(refused.status, 503);
  t.match(await refused.text(), /could not be looked up. Try again shortly, or send country/);
  t.equal((await explain({ ip: '8.8.8.8', country: 'FR' })).status, 200);
});
