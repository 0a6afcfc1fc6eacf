import Anthropic from '@anthropic-ai/sdk';
import OpenAI from 'openai';
import { test } from 'tap';
import type { ReceivedRequest } from '../helper/stand-ins/scripted-provider.ts';
import { startMediaGateway } from '../helper/start/media-gateway.ts';

/** What a client sent, and what arrived at the provider. The SDK itself repeats a failed call. */
interface Pair {
  readonly sent: Headers;
  readonly arrived: ReceivedRequest;
}

/** SDK headers about the connection or the credential, which differ or do not arrive. */
const APART: ReadonlySet<string> = new Set([
  'authorization',
  'x-api-key',
  'content-length',
  'idempotency-key',
]);

const MESSAGES = [{ role: 'user' as const, content: 'Say hello' }];

test('headers of the official SDKs arrive: chat, streams, responses, videos, messages, betas, repeats, options', async (t) => {
  let isBroken = true;
  const world = await startMediaGateway(t, ({ body }) => {
    if (!body.includes('again') || !isBroken) return undefined;
    isBroken = false;
    return { status: 500, body: { error: { message: 'once' } } };
  });
  const { key } = await world.account({ credits: 10_000 });
  const sent: Headers[] = [];
  const listen: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('x-client-request-id', String(sent.push(headers)));
    return fetch(input, { ...init, headers });
  };
  const openai = new OpenAI({
    apiKey: key,
    baseURL: `${world.url}/v1`,
    fetch: listen,
    defaultHeaders: { 'OpenAI-Beta': 'assistants=v2' },
    dangerouslyAllowBrowser: true,
  });
  const anthropic = new Anthropic({
    apiKey: key,
    baseURL: world.url,
    fetch: listen,
    dangerouslyAllowBrowser: true,
  });
  const claude = { model: 'claude', max_tokens: 100, messages: MESSAGES };

  await openai.chat.completions.create({ model: 'flat', messages: MESSAGES });
  for await (const _ of await openai.chat.completions.create({
    model: 'flat',
    messages: MESSAGES,
    stream: true,
  }));
  await openai.responses.create(
    { model: 'flat', input: 'Say hello' },
    { headers: { 'Idempotency-Key': 'mine' } },
  );
  await openai.chat.completions.create({ model: 'flat', messages: [{ role: 'user', content: 'again' }] });
  const { id } = await openai.videos.create({ model: 'film' as 'sora-2', prompt: 'A cat' });
  // The third poll finds it completed.
  for (let look = 0; look < 3; look++) await openai.videos.retrieve(id);
  await (await openai.videos.downloadContent(id, { variant: 'thumbnail' })).arrayBuffer();
  await anthropic.messages.create(claude);
  await anthropic.messages.stream(claude).finalMessage();
  await anthropic.beta.messages.create(
    { ...claude, betas: ['context-1m-2025-08-07'] },
    { query: { beta: 'true' } },
  );
  await anthropic.messages.countTokens({ model: 'claude', messages: MESSAGES });

  const pairs = world.provider.requests.map(
    (request): Pair => ({
      sent: sent[Number(request.headers['x-client-request-id']) - 1] as Headers,
      arrived: request,
    }),
  );
  for (const { sent, arrived } of pairs) {
    const lost = [...sent].filter(([name, value]) => !APART.has(name) && arrived.headers[name] !== value);
    // fetch chooses the boundary of a form, and a GET has no body.
    t.same(
      lost.filter(([name]) => name !== 'content-type'),
      [],
      `${arrived.method} ${arrived.url}`,
    );
  }
  const arrived = pairs.map((pair) => pair.arrived);
  const repeats = arrived.flatMap(({ headers }) => headers['x-stainless-retry-count'] ?? []);
  t.equal(repeats.length, arrived.length, 'every call says which try it is');
  t.ok(repeats.includes('1'), 'a repeat says so');
  const keys = arrived.flatMap(({ headers }) => headers['idempotency-key'] ?? []);
  t.equal(keys.length, 1);
  t.match(keys[0], /^[0-9a-f]{64}$/);
  const urls = arrived.map(({ url }) => url);
  t.ok(urls.includes(`/v1/videos/${id}/content?variant=thumbnail`));
  t.ok(urls.includes('/v1/messages?beta=true'));
  t.ok(arrived.some(({ headers }) => headers['anthropic-beta'] === 'context-1m-2025-08-07'));
});
