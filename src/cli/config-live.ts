import type { Config } from '../config/config.ts';
import { DEMO_URL } from '../config/config.ts';
import { placesOf, targetName, type Upstream } from '../domain/catalog.ts';
import { messageOf, wordsOf } from '../gateway/targets/failures.ts';
import { addressOf } from '../gateway/upstream/address.ts';
import { cloudHeaders, isOfCloud } from '../gateway/upstream/cloud-credentials.ts';
import { upstreamHeaders } from '../gateway/upstream/headers.ts';

/** Longest wait for an answer. */
const WITHIN_MS = 15_000;
/** The cheapest route that reads with the credential, in both formats. */
const MODELS = '/v1/models';

/** A provider's answer to one credential. */
export interface LiveAnswer {
  readonly target: string;
  readonly ok: boolean;
  /** HTTP status; null: none came. */
  readonly status: number | null;
  readonly ms: number;
  /** The number of models that it lists, or the provider's words, without the credential. */
  readonly answer: string;
}

/** Asks each credential of the catalog, but the demo's, for the provider's list of models. */
export async function askProviders({ catalog }: Pick<Config, 'catalog'>): Promise<LiveAnswer[]> {
  const upstreams = new Map<string, Upstream>();
  for (const { upstream } of placesOf(catalog)) {
    if (upstream.url !== DEMO_URL) upstreams.set(targetName(upstream), upstream);
  }
  return await Promise.all([...upstreams.values()].map(ask));
}

async function ask(upstream: Upstream): Promise<LiveAnswer> {
  const target = targetName(upstream);
  const beganAt = performance.now();
  const elapsed = () => Math.round(performance.now() - beganAt);
  try {
    const response = await request(upstream);
    const text = await response.text();
    const answer = response.ok ? countOf(text) : wordsOf(messageOf(text), upstream) || response.statusText;
    return { target, ok: response.ok, status: response.status, ms: elapsed(), answer };
  } catch (error) {
    const { message, cause } = error as Error;
    const why = cause instanceof Error ? cause.message : message;
    return { target, ok: false, status: null, ms: elapsed(), answer: wordsOf(why, upstream) };
  }
}

async function request(upstream: Upstream): Promise<Response> {
  // A deployment has no list of models; its provider has one beside them.
  const path = upstream.path?.replace('/deployments/{model}', '');
  const { origin, path: at, query } = addressOf({ ...upstream, path }, MODELS, '');
  const full = query === '' ? at : `${at}?${query}`;
  const list = upstreamHeaders(undefined, upstream);
  if (isOfCloud(upstream))
    list.push(...(await cloudHeaders(upstream, { method: 'GET', origin, path: full, body: undefined })));
  if (upstream.format === 'anthropic') list.push('anthropic-version', '2023-06-01');
  const headers = new Headers();
  for (let index = 0; index < list.length; index += 2)
    headers.set(list[index] as string, list[index + 1] as string);
  return await fetch(`${origin}${full}`, {
    headers,
    redirect: 'manual',
    signal: AbortSignal.timeout(WITHIN_MS),
  });
}

function countOf(text: string): string {
  try {
    const { data } = JSON.parse(text) as { data?: unknown };
    if (Array.isArray(data)) return `${data.length} models`;
  } catch {
    // It answered, whatever that was.
  }
  return 'no list of models';
}
