import { type Dispatcher, Pool } from 'undici';
import { type CallRequest, chatCall } from './call-request.ts';
import type { Options } from './options.ts';
import { peerTarget } from './peer.ts';
import type { Column, ProfileReport, Row } from './report.ts';
import { percentile } from './rounds.ts';
import { onStage } from './stage.ts';
import { MODEL, TARGETS_MODEL } from './wire.ts';

/** The role comes immediately and the first content 10 ms later; a target may fail in between. */
const STREAM = { chunks: 2, intervalMs: 10 };
const AT_ONCE = 8;
/** Number of calls before the code is compiled. */
const WARM_UP_SHARE = 0.3;
const CONTENT = /"content":"[^"]/;

const COLUMNS: readonly Column[] = [
  { key: 'p50Ms', title: 'first token: p50 ms', digits: 2 },
  { key: 'p95Ms', title: 'p95 ms', digits: 2 },
  { key: 'p50Ratio', title: 'p50 ratio', digits: 3 },
  { key: 'p95Ratio', title: 'p95 ratio', digits: 3 },
  { key: 'addedMs', title: 'added p50', digits: 2 },
];

/** The time from a call to the first content of its stream, with calls through the targets in turn. */
export async function firstToken(options: Options): Promise<ProfileReport> {
  const { peer, upstreamPort, quick } = options;
  const about = `the first content of a stream, ${STREAM.intervalMs} ms after its opening; ${AT_ONCE} streams at once, through each in turn`;
  const shape = { accounts: 1, keysEach: 1, restricted: true, upstreamPort };
  const { result, checks } = await onStage(shape, async (stage) => {
    const key = stage.accounts[0]?.keys[0] ?? '';
    const call = chatCall(key, { promptBytes: 750, stream: true, behavior: STREAM });
    const atTargets = { ...call, body: call.body.replace(MODEL, TARGETS_MODEL) };
    const targets = [
      stage.direct,
      stage.baseline,
      { ...stage.gateway, name: 'tollgate, one upstream' },
      { ...stage.gateway, name: 'tollgate, two targets', requests: [atTargets] },
      ...(peer ? [peerTarget(peer, [call])] : []),
    ];
    const pools = targets.map(({ urls }) => new Pool(urls[0] ?? '', { connections: AT_ONCE }));
    const samples: number[][] = targets.map(() => []);
    let next = 0;
    const amount = targets.length * (quick ? 300 : 1_000);
    const caller = async () => {
      for (let index = next++; index < amount; index = next++) {
        const at = index % targets.length;
        const { requests: [own] = [] } = targets[at] as (typeof targets)[number];
        const milliseconds = await untilContent(pools[at] as Pool, own ?? call);
        if (index > amount * WARM_UP_SHARE) samples[at]?.push(milliseconds);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, caller));
    await Promise.all(pools.map((pool) => pool.close()));
    return targets.map(({ name }, at) => ({ name, sorted: (samples[at] ?? []).sort((a, b) => a - b) }));
  });
  const [direct, base] = result.map(
    ({ sorted }) => [percentile(sorted, 0.5), percentile(sorted, 0.95)] as const,
  );
  const rows = result.map(({ name, sorted }): Row => {
    const [p50Ms, p95Ms] = [percentile(sorted, 0.5), percentile(sorted, 0.95)];
    const [p50Ratio, p95Ratio] = [p50Ms / (base?.[0] ?? 0), p95Ms / (base?.[1] ?? 0)];
    return {
      target: name,
      values: { p50Ms, p95Ms, p50Ratio, p95Ratio, addedMs: p50Ms - (direct?.[0] ?? 0) },
    };
  });
  return { profile: 'first-token', about, columns: COLUMNS, rows, checks, notes: [] };
}

/** Milliseconds until the first content of a stream. Resolves when the stream is complete. */
function untilContent(pool: Pool, { method, path, headers, body }: CallRequest): Promise<number> {
  return new Promise((resolve, reject) => {
    const sentAt = performance.now();
    let contentMs: number | undefined;
    let text = '';
    const handler: Dispatcher.DispatchHandler = {
      onRequestStart() {},
      onResponseStart() {},
      onResponseData(_controller, chunk) {
        text += chunk.toString('latin1');
        if (contentMs === undefined && CONTENT.test(text)) contentMs = performance.now() - sentAt;
      },
      onResponseEnd() {
        if (contentMs !== undefined && text.endsWith('data: [DONE]\n\n')) resolve(contentMs);
        else reject(new Error(`a stream was not whole: ${text}`));
      },
      onResponseError: (_controller, error) => reject(error),
    };
    pool.dispatch({ method, path, headers, body }, handler);
  });
}
