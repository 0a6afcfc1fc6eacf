import { type Test, test } from 'tap';
import type { Config } from '../../src/config/config.ts';
import { type Receiver, startReceiver } from '../helper/stand-ins/receiver.ts';
import { type OwnGateway, startOwnGateway } from '../helper/start/gateway-in-process.ts';

const CALLER = { trace: 'a'.repeat(32), span: 'b'.repeat(16) };
const TRACEPARENT = `00-${CALLER.trace}-${CALLER.span}-01`;

interface Span {
  readonly name: string;
  readonly kind: number;
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly status: { readonly code?: number };
  readonly attributes: readonly { readonly key: string; readonly value: Record<string, unknown> }[];
}

const SERVER = 2;
const CLIENT = 3;
const ERROR = 2;

/** A gateway that sends its traces to a collector on loopback. */
async function startTraced(
  t: Test,
  behave: NonNullable<Parameters<typeof startOwnGateway>[1]>['behave'],
  settings: Partial<NonNullable<Config['tracing']>> = {},
): Promise<{ world: OwnGateway; collector: Receiver }> {
  const collector = await startReceiver();
  t.teardown(() => collector.close());
  const url = collector.url.replace('/hook', '/v1/traces');
  const tracing = { url, sampler: 'parentbased_always_on', ratio: 1, ...settings } as const;
  const world = await startOwnGateway(t, { ...(behave ? { behave } : {}), config: { tracing } });
  return { world, collector };
}

/** Everything that the collector got before the gateway had stopped. */
async function spansOf({ world, collector }: { world: OwnGateway; collector: Receiver }): Promise<Span[]> {
  await world.close();
  return collector.requests.flatMap(({ body }) => {
    const { resourceSpans } = JSON.parse(body) as {
      resourceSpans: { scopeSpans: { spans: Span[] }[] }[];
    };
    return resourceSpans.flatMap(({ scopeSpans }) => scopeSpans.flatMap(({ spans }) => spans));
  });
}

function attributesOf(span: Span | undefined): Record<string, unknown> {
  return Object.fromEntries(
    span?.attributes.map(({ key, value }) => {
      const [shown] = Object.values(value);
      return [key, 'intValue' in value ? Number(shown) : shown];
    }) ?? [],
  );
}

const byKind = (spans: readonly Span[], kind: number) => spans.find((span) => span.kind === kind);

test('a call is a span of the caller’s trace, with one for the upstream below it', async (t) => {
  let seen: string | undefined;
  const traced = await startTraced(t, (request) => {
    seen = request.headers.traceparent as string;
    return {
      usage: {
        prompt_tokens: 100,
        completion_tokens: 7,
        prompt_tokens_details: { cached_tokens: 40, audio_tokens: 20 },
        completion_tokens_details: { audio_tokens: 3 },
      },
    };
  });
  const { key, accountId, keyId } = await traced.world.account();
  const response = await traced.world.chat(
    key,
    { model: 'tokens' },
    { traceparent: TRACEPARENT, tracestate: 'x=1' },
  );
  await response.text();
  const spans = await spansOf(traced);
  t.equal(spans.length, 2);
  const [server, client] = [byKind(spans, SERVER), byKind(spans, CLIENT)];
  t.equal(server?.name, 'POST /v1/chat/completions');
  t.match(server, { traceId: CALLER.trace, parentSpanId: CALLER.span });
  t.match(client, { name: 'chat tokens', traceId: CALLER.trace, parentSpanId: server?.spanId });
  t.equal(seen, `00-${CALLER.trace}-${client?.spanId}-01`, 'the upstream can continue it');
  t.match(attributesOf(server), {
    'http.request.method': 'POST',
    'http.route': '/v1/chat/completions',
    'http.response.status_code': 200,
    'gen_ai.request.model': 'tokens',
    'tollgate.request_id': response.headers.get('x-request-id'),
    'tollgate.account_id': accountId,
    'tollgate.key_id': keyId,
    'tollgate.outcome': 'complete',
    'tollgate.charge': response.headers.get('x-tollgate-charge'),
  });
  t.match(attributesOf(client), {
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'tokens',
    'gen_ai.usage.input_tokens': 100,
    'gen_ai.usage.output_tokens': 7,
    'gen_ai.usage.cache_read.input_tokens': 40,
    'server.address': '127.0.0.1',
    'http.response.status_code': 200,
  });
  const lasts = (span?: Span) =>
    [BigInt(span?.startTimeUnixNano ?? 0), BigInt(span?.endTimeUnixNano ?? 0)] as const;
  const [[from = 0n, to = 0n], [sent = 0n, answered = 0n]] = [lasts(server), lasts(client)];
  t.ok(from <= sent && sent <= answered && answered <= to, 'the upstream’s lies within the caller’s');
});

test('a trace begins here where the caller names none, and the upstream gets one context only', async (t) => {
  const seen: string[][] = [];
  const traced = await startTraced(t, ({ rawHeaders }) => {
    seen.push(rawHeaders.filter((_, at) => at % 2 === 0).map((name) => name.toLowerCase()));
    return undefined;
  });
  const { key } = await traced.world.account();
  await (await traced.world.chat(key)).text();
  await (await traced.world.chat(key, {}, { traceparent: 'nonsense', tracestate: 'x=1' })).text();
  const spans = await spansOf(traced);
  t.equal(spans.filter(({ parentSpanId }) => !parentSpanId).length, 2, 'nonsense is no trace');
  for (const names of seen) {
    t.equal(names.filter((name) => name === 'traceparent').length, 1);
    t.notOk(names.includes('tracestate'), 'a state without its parent is none');
  }
});

test('a refused call is a span with its error code, and has none for an upstream', async (t) => {
  const traced = await startTraced(t, undefined);
  const { key } = await traced.world.account({ credits: 0 });
  await (await traced.world.chat('no-key')).text();
  await (await traced.world.chat(key)).text();
  const spans = await spansOf(traced);
  t.same(
    spans.map((span) => [
      span.kind,
      attributesOf(span)['error.type'],
      attributesOf(span)['http.response.status_code'],
    ]),
    [
      [SERVER, 'invalid_api_key', 401],
      [SERVER, 'insufficient_credits', 402],
    ],
  );
  t.notOk(
    spans.some(({ status }) => status.code === ERROR),
    'the caller’s faults are not the server’s',
  );
});

test('a failure of the upstream marks both spans', async (t) => {
  const traced = await startTraced(t, () => ({ breakAfter: 'nothing' }));
  const { key } = await traced.world.account();
  await (await traced.world.chat(key)).text();
  const spans = await spansOf(traced);
  for (const kind of [SERVER, CLIENT]) {
    const span = byKind(spans, kind);
    t.equal(span?.status.code, ERROR);
    t.equal(attributesOf(span)['error.type'], 'upstream_unavailable');
  }
  t.equal(attributesOf(byKind(spans, SERVER))['tollgate.outcome'], 'upstream_broke');
});

test('a stream’s span lasts to its end and knows the time to its first token', async (t) => {
  const traced = await startTraced(t, () => ({ intervalMs: 10, chunks: 5 }));
  const { key } = await traced.world.account();
  await (await traced.world.chat(key, { stream: true })).text();
  const client = byKind(await spansOf(traced), CLIENT);
  const lastedS = Number(BigInt(client?.endTimeUnixNano ?? 0) - BigInt(client?.startTimeUnixNano ?? 0)) / 1e9;
  const firstS = attributesOf(client)['gen_ai.response.time_to_first_chunk'] as number;
  t.ok(firstS > 0 && firstS < lastedS);
  t.ok(lastedS >= 0.05, 'five pauses of 10 ms');
});

test('a trace has neither keys nor prompts', async (t) => {
  const traced = await startTraced(t, () => ({ text: 'a-secret-answer' }));
  const { key } = await traced.world.account();
  const messages = [{ role: 'user', content: 'a-secret-question' }];
  await (await traced.world.chat(key, { messages })).text();
  await (await traced.world.chat(`${key}x`, { messages })).text();
  await traced.world.close();
  const sent = traced.collector.requests.map(({ body }) => body).join();
  t.match(sent, 'tollgate.charge');
  for (const secret of [key, key.slice(-12), 'a-secret-', 'upstream-secret']) t.notMatch(sent, secret);
});

test('an unsampled call is not exported, and its context passes on as unsampled', async (t) => {
  let seen: string | undefined;
  const traced = await startTraced(
    t,
    ({ headers }) => {
      seen = headers.traceparent as string;
      return undefined;
    },
    { sampler: 'traceidratio', ratio: 0 },
  );
  const { key } = await traced.world.account();
  await (await traced.world.chat(key, {}, { traceparent: TRACEPARENT })).text();
  t.same(await spansOf(traced), []);
  t.match(seen, new RegExp(`^00-${CALLER.trace}-[0-9a-f]{16}-00$`));
});

test('a collector that is gone fails no call and holds up no stop', async (t) => {
  const collector = await startReceiver();
  const url = collector.url;
  await collector.close();
  const world = await startOwnGateway(t, {
    config: { tracing: { url, sampler: 'always_on', ratio: 1 } },
  });
  const { key } = await world.account();
  t.equal((await world.chat(key)).status, 200);
  const startedAt = performance.now();
  await world.close();
  t.ok(performance.now() - startedAt < 10_000);
});

test('without an endpoint, the caller’s trace context passes unchanged', async (t) => {
  let seen: unknown;
  const world = await startOwnGateway(t, {
    behave: ({ headers: { traceparent, tracestate } }) => {
      seen = { traceparent, tracestate };
      return undefined;
    },
  });
  const { key } = await world.account();
  await (await world.chat(key, {}, { traceparent: TRACEPARENT, tracestate: 'x=1' })).text();
  t.same(seen, { traceparent: TRACEPARENT, tracestate: 'x=1' });
});
