import { type Config, DEMO_URL } from '../config/config.ts';
import { type Catalog, type Model, placesOf, targetName, type Upstream } from '../domain/catalog.ts';
import { messageOf, wordsOf } from '../gateway/targets/failures.ts';
import { addressOf } from '../gateway/upstream/address.ts';
import { cloudHeaders, isOfCloud } from '../gateway/upstream/cloud-credentials.ts';
import { wholeAnswer } from '../gateway/upstream/fetch.ts';
import { upstreamHeaders } from '../gateway/upstream/headers.ts';
import { UpstreamTransport } from '../gateway/upstream/transport.ts';

/** Timeout of a request. */
const WITHIN_MS = 15_000;
/** Cheapest route that uses the credential, in both formats. */
const MODELS = '/v1/models';
const NO_LIST = 'no list of models';

/** A provider's answer to one credential. */
export interface LiveAnswer {
  readonly target: string;
  readonly ok: boolean;
  /** HTTP status; null if no response. */
  readonly status: number | null;
  readonly ms: number;
  /** Number of listed models, or the provider's message without the credential. */
  readonly answer: string;
}

/** Requests the provider's model list with each credential of the catalog except the demo's, at each of its addresses. */
export async function askProviders({ catalog, limits }: Config): Promise<LiveAnswer[]> {
  const transport = new UpstreamTransport(limits);
  try {
    return await Promise.all([...placesByTarget(catalog)].map((places) => ask(places, transport)));
  } finally {
    await transport.close();
  }
}

/** The models at each address of each target. */
function placesByTarget(catalog: Catalog): Iterable<readonly [Model, ...Model[]]> {
  const byTarget = new Map<string, [Model, ...Model[]]>();
  for (const place of placesOf(catalog)) {
    if (place.upstream.url === DEMO_URL) continue;
    const name = nameOf(place.upstream);
    const places = byTarget.get(name);
    if (!places) byTarget.set(name, [place]);
    else if (places[0].upstream.format === place.upstream.format) places.push(place);
  }
  return byTarget.values();
}

function nameOf(upstream: Upstream): string {
  return upstream.isApart ? `${targetName(upstream)} (/v1/messages)` : targetName(upstream);
}

async function ask(places: readonly [Model, ...Model[]], transport: UpstreamTransport): Promise<LiveAnswer> {
  const { upstream } = places[0];
  const target = nameOf(upstream);
  const beganAt = performance.now();
  const result = (ok: boolean, status: number | null, answer: string): LiveAnswer => {
    return { target, ok, status, ms: Math.round(performance.now() - beganAt), answer };
  };
  try {
    const { status, body } = await request(places[0], transport);
    const text = body.toString();
    // Not every provider lists models at the address of its second format, too.
    if (upstream.isApart && (status === 404 || status === 405)) return result(true, status, NO_LIST);
    if (status < 200 || status >= 300) return result(false, status, wordsOf(messageOf(text), upstream));
    const { isApi, words } = listIn(text, places);
    return result(isApi, status, words);
  } catch (error) {
    const { message, code = '' } = error as NodeJS.ErrnoException;
    const isPlain = code.startsWith('ERR_SSL_') || code === 'EPROTO';
    const why = isPlain ? 'speaks no TLS at this port: use http://, or another port' : message || code;
    return result(false, null, wordsOf(why, upstream));
  }
}

async function request({ upstream }: Model, transport: UpstreamTransport) {
  // Deployments have no model list; their provider has one outside the deployment path.
  const path = upstream.path?.replace('/deployments/{model}', '');
  const to = addressOf({ ...upstream, path }, MODELS, '');
  const full = to.query === '' ? to.path : `${to.path}?${to.query}`;
  const headers = upstreamHeaders(undefined, upstream);
  const unsigned = { method: 'GET', origin: to.origin, path: full, body: undefined } as const;
  if (isOfCloud(upstream)) headers.push(...(await cloudHeaders(upstream, unsigned)));
  if (upstream.format === 'anthropic') headers.push('anthropic-version', '2023-06-01');
  const signal = AbortSignal.timeout(WITHIN_MS);
  return await wholeAnswer(await transport.fetch(to, { method: 'GET', path: full, headers, signal }));
}

/** What a list of models says; a page of HTML, as of a portal that asks for a password, is not the API. */
function listIn(text: string, places: readonly Model[]): { isApi: boolean; words: string } {
  let list: { data?: unknown; has_more?: unknown } | null;
  try {
    list = JSON.parse(text);
  } catch {
    return { isApi: false, words: 'no JSON, so it is no API: check url' };
  }
  const { data, has_more } = list ?? {};
  if (!Array.isArray(data)) return { isApi: true, words: NO_LIST };
  const count = `${data.length} models`;
  if (has_more === true) return { isApi: true, words: count };
  const ids = data.map((item: { id?: unknown } | null) => String(item?.id));
  const absent = places.filter(
    // Deployments have names of their own.
    ({ upstream, upstreamModel }) =>
      !upstream.path?.includes('{model}') && !ids.some((id) => isNamed(id, upstreamModel)),
  );
  const names = [...new Set(absent.map(({ upstreamModel }) => upstreamModel))];
  // No fault: lists can lack aliases and models on request.
  return { isApi: true, words: names.length === 0 ? count : `${count}, without ${names.join(', ')}` };
}

/** Whether a listed id stands for the name: some have a folder (`models/`) or a tag (`:latest`). */
function isNamed(id: string, name: string): boolean {
  return id === name || id.endsWith(`/${name}`) || id.startsWith(`${name}:`);
}
