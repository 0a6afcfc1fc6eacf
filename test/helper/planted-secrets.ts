import { writeFileSync } from 'node:fs';
import type { Test } from 'tap';
import { newKeyValue } from '../../src/domain/key-value.ts';
import { type GatewayProcess, makePlace } from './gateway-process.ts';
import { sendRaw } from './raw-http.ts';
import { startScriptedProvider } from './scripted-provider.ts';
import type { Place } from './secrets.ts';
import { until } from './until.ts';

export const ADMIN_TOKEN = 'planted-admin-token-4711';
export const UPSTREAM_KEY = 'planted-upstream-key-4712';
export const HOOK_TOKEN = 'planted-hook-token-4713';
/** A well-formed key that does not exist, like one of another gateway, or a mistyped one. */
export const STRANGER = newKeyValue('sk-tg-').value;

export interface Secrets {
  readonly managing: string;
  readonly limited: string;
  readonly webhook: string;
}

/**
 * Makes a place with models that work, that their provider refuses or breaks off, and whose upstream is unreachable.
 */
export function configure(t: Test, upstreamUrl: string, env: NodeJS.ProcessEnv) {
  const place = makePlace(t, upstreamUrl, {
    ...env,
    ADMIN_TOKEN,
    UPSTREAM_KEY,
    LOG_LEVEL: 'trace',
  });
  const model = 'category: text, price: { request: 1 }, maxOutputTokens: 10';
  writeFileSync(
    place.env.TOLLGATE_CONFIG ?? '',
    `alerts: { allowPrivateNetworks: true }
upstreams:
  test: { url: "${upstreamUrl}", apiKey: "\${UPSTREAM_KEY}", format: openai }
  gone: { url: "http://127.0.0.1:1", apiKey: "\${UPSTREAM_KEY}", format: openai }
models:
  flat: { upstream: test, ${model} }
  refused: { upstream: test, ${model} }
  broken: { upstream: test, ${model} }
  gone: { upstream: gone, ${model} }
`,
  );
  return place;
}

const chat = (model: string, more = {}) => ({
  model,
  messages: [{ role: 'user', content: 'Hello' }],
  ...more,
});

/** Client of the gateway that notes every answer. */
function callerOf(gateway: GatewayProcess) {
  const answers: Place[] = [];
  const call = async (
    method: string,
    path: string,
    token: string | undefined,
    body?: unknown,
    headers: Record<string, string> = {},
  ) => {
    const response = await fetch(`${gateway.url}${path}`, {
      method,
      headers: {
        ...(token === undefined ? {} : { authorization: `Bearer ${token}` }),
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text().catch(() => '');
    const where = `answer ${response.status} to ${method} ${path.split('?', 1)[0]}`;
    answers.push({ where, text: `${JSON.stringify([...response.headers])}\n${text}` });
    return { status: response.status, text };
  };
  const raw = async (where: string, bytes: string) => {
    const answer = await sendRaw(gateway.url, bytes);
    answers.push({
      where: `answer ${answer?.status} to ${where}`,
      text: JSON.stringify([answer, ...(answer?.headers ?? [])]),
    });
  };
  return { answers, call, raw };
}

type Caller = ReturnType<typeof callerOf>;

/** Calls with each key the routes that it may use and those that it may not; `id` is that of the limited key. */
async function useRoutes({ call }: Caller, { managing, limited }: Secrets, id: number): Promise<void> {
  for (const key of [managing, limited]) {
    for (const model of ['flat', 'refused', 'broken', 'gone', 'unknown']) {
      await call('POST', '/v1/chat/completions', key, chat(model));
      await call('POST', '/v1/chat/completions', key, chat(model, { stream: true }));
    }
    await call('POST', '/v1/chat/completions', undefined, chat('flat'), { 'x-api-key': key });
    await call('POST', '/v1/messages', undefined, chat('flat'), { 'x-api-key': key });
    await call('POST', '/v1/chat/completions', key, chat('flat'), {
      cookie: `key=${key}`,
      'x-forwarded-for': '1.2.3.4',
    });
    for (const path of [
      '/v1/models',
      '/api/keys/',
      '/api/account/',
      '/api/account/ledger/',
      '/api/account/ledger/?format=csv',
      '/api/account/usage/',
      '/api/account/alerts/',
      '/api/admin/accounts/',
      '/metrics',
      '/readyz',
      '/healthz',
      '/openapi.json',
      '/v1/unknown',
    ]) {
      await call('GET', path, key);
    }
    await call('POST', `/api/keys/${id}/explain/`, key, { model: 'flat' });
    await call('PATCH', `/api/keys/${id}/`, key, { description: 'x' });
    await call('PATCH', '/api/account/', key, { alert_threshold: 149 });
  }
}

/** Sends secrets in places where they are refused, such as the query. */
async function misplace({ call, raw }: Caller, { managing }: Secrets): Promise<void> {
  for (const secret of [managing, STRANGER, ADMIN_TOKEN]) {
    for (const name of ['api_key', 'token']) {
      await call('POST', `/v1/chat/completions?${name}=${secret}`, undefined, chat('flat'));
      await call('GET', `/api/keys/?${name}=${secret}`, undefined);
      await call('GET', `/api/admin/accounts/?${name}=${secret}`, undefined);
    }
    await call('POST', '/v1/chat/completions', `${secret}x`, chat('flat'));
    await call('POST', '/v1/chat/completions', secret.slice(0, -1), chat('flat'));
    await call('POST', '/v1/chat/completions', undefined, `{"api_key":"${secret}"`, {
      authorization: `Basic ${secret}`,
    });
    await call('GET', '/metrics', secret, undefined, { 'x-forwarded-for': '1.2.3.4' });
    await call('POST', '/api/keys/', managing, `{"name":"${secret}`);
    await raw(
      'a broken request',
      `GET /healthz?${secret} HTTP/1.1\r\nAuthorization: Bearer ${secret}\r\nX A: b\r\n\r\n`,
    );
    await raw('a request that is no HTTP', `${secret}\r\n\r\n`);
  }
  await call('POST', `/v1/chat/completions?api_key=${managing}`, managing, chat('flat'));
}

/** Uses every route, rightly and wrongly, and notes every answer. */
export async function drive(
  gateway: GatewayProcess,
  hook: string,
): Promise<{ secrets: Secrets; answers: Place[] }> {
  const caller = callerOf(gateway);
  const { call, answers } = caller;
  const account = await call('POST', '/api/admin/accounts/', ADMIN_TOKEN, {
    email: 'a@example.com',
    credits: 150,
  });
  const managing: string = JSON.parse(account.text).key.key;
  const created = await call('POST', '/api/keys/', managing, {
    name: 'limited',
    spending_limit: 100,
    webhook_url: hook,
  });
  const { key: limited, id } = JSON.parse(created.text) as { key: string; id: number };
  const webhook: string = JSON.parse((await call('GET', '/api/account/', managing)).text).webhook_secret;
  const secrets = { managing, limited, webhook };

  await useRoutes(caller, secrets, id);
  await call('POST', '/api/account/alerts/test/', managing);
  await misplace(caller, secrets);
  await call('GET', '/api/admin/accounts/', ADMIN_TOKEN);
  await call('GET', '/api/admin/accounts/1/', ADMIN_TOKEN);
  await call('POST', '/api/admin/accounts/1/credits/', ADMIN_TOKEN, { amount: 1, note: 'x' });
  await call('GET', '/metrics', ADMIN_TOKEN);
  await until('the test alert to be sent', async () =>
    /"delivered"/.test((await call('GET', '/api/account/alerts/', managing)).text),
  );
  await call('DELETE', `/api/keys/${id}/`, managing);
  await call('POST', '/v1/chat/completions', limited, chat('flat'));
  return { secrets, answers };
}

export async function startUpstream(t: Test) {
  const provider = await startScriptedProvider({
    record: true,
    behave: ({ body }) => {
      const { model } = JSON.parse(body.toString()) as { model: string };
      if (model === 'refused')
        return { status: 401, body: { error: { message: `bad key ${UPSTREAM_KEY}` } } };
      return model === 'broken' ? { breakAfter: 'nothing' } : undefined;
    },
  });
  t.teardown(() => provider.close());
  return provider;
}

/** Places to search in the requests that the upstream received. */
export function upstreamPlaces(requests: readonly { url: string; headers: object; body: Buffer }[]): Place[] {
  return requests.flatMap(({ url, headers, body }) => [
    { where: 'upstream path', text: url },
    { where: 'upstream body', text: body.toString('latin1') },
    ...Object.entries(headers).map(([name, value]) => ({
      where: `upstream header ${name}`,
      text: String(value),
    })),
  ]);
}
