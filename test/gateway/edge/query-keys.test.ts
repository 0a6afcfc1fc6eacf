import { test } from 'tap';
import { startGatewayInProcess } from '../../helper/start/gateway-in-process.ts';

const BODY = JSON.stringify({ model: 'flat', messages: [] });

for (const name of ['api_key', 'key', 'access_token', 'Authorization', 'x-api-key']) {
  test(`a key sent only in the query as ${name} gets 401`, async (t) => {
    const { url, account, provider } = await startGatewayInProcess(t, { behave: () => undefined });
    const { key } = await account();
    for (const [method, path] of [
      ['POST', '/v1/chat/completions'],
      ['GET', '/v1/models'],
      ['GET', '/api/keys/'],
      ['GET', '/api/account/'],
    ] as const) {
      const response = await fetch(`${url}${path}?${name}=${key}`, {
        method,
        ...(method === 'POST' ? { body: BODY } : {}),
      });
      const text = await response.text();
      t.equal(response.status, 401, path);
      t.match(JSON.parse(text), { error: { code: 'missing_api_key' } });
      t.notMatch(text, key);
    }
    t.equal(provider.requests.length, 0);
  });
}

test('a key in the query beside one in the header is refused, and does not go upstream', async (t) => {
  const { api, account, provider } = await startGatewayInProcess(t, { behave: () => undefined });
  const { key } = await account();
  const encoded = [...key].map((letter) => `%${letter.charCodeAt(0).toString(16)}`).join('');
  for (const query of [
    `api_key=${key}`,
    `a=1&b=${key}`,
    encoded,
    `%zz=${encoded}`,
    `a=%ff${encoded.toUpperCase()}`,
  ]) {
    const response = await api('POST', `/v1/chat/completions?${query}`, key, BODY);
    t.equal(response.status, 400, query);
    t.match(await response.json(), { error: { code: 'invalid_request', message: /replace/ } });
  }
  t.equal(provider.requests.length, 0);
});

test('a query without a key passes, and only its allowed parameters go upstream', async (t) => {
  const { api, account, provider } = await startGatewayInProcess(t, { behave: () => undefined });
  const { key } = await account();
  const query = '?beta=true&a=%zz&b=%E2%82%AC&key=other';
  t.equal((await api('POST', `/v1/chat/completions${query}`, key, BODY)).status, 200);
  t.equal((await provider.request(0)).url, '/v1/chat/completions?beta=true');
});
