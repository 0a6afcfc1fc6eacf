import type { Catalog, Model } from '../../src/domain/catalog.ts';
import { ENDPOINTS } from '../../src/gateway/endpoints.ts';
import type { Asked } from '../../src/metering/request/asked.ts';
import { refuseUnpriced } from '../../src/metering/request/charges.ts';
import { checkMembers } from '../../src/metering/request/members/check-members.ts';
import { creditPrice } from './credit-price.ts';
import { testCatalog } from './gateway-in-process.ts';
import { jsonBodyOf } from './json-body.ts';

export type Path =
  | '/v1/chat/completions'
  | '/v1/responses'
  | '/v1/messages'
  | '/v1/completions'
  | '/v1/embeddings';

export type PricedPath = Path | '/v1/images/generations';

/** A model `m` of the format of the endpoint; a credit a token, in or out, where nothing else is said. */
export function modelAt(path: PricedPath, more: Partial<Model> = {}): Model {
  const base = testCatalog('http://127.0.0.1').get(path.startsWith('/v1/messages') ? 'claude' : 'tokens');
  if (!base) throw new Error('no model');
  const price = creditPrice({ input: 1_000_000, output: 1_000_000 });
  return { ...base, slug: 'm', price, ...more };
}

/** What a body asks of a model. Throws the refusal. */
export function askedOf(path: PricedPath, model: Model, body: Record<string, unknown>): Asked {
  const endpoint = ENDPOINTS.find((candidate) => candidate.path === path);
  if (!endpoint) throw new Error('no endpoint');
  const catalog: Catalog = new Map([[model.slug, model]]);
  const read = jsonBodyOf(Buffer.from(JSON.stringify({ model: model.slug, ...body })), catalog, endpoint);
  const found = endpoint.members && checkMembers(read, endpoint.members);
  const asked = endpoint.meter.ask(read);
  if (found) refuseUnpriced(found, model);
  refuseUnpriced(asked, model);
  return asked;
}

/** Code and param of the refusal of a body; undefined where it passes. */
export function refusalOf(path: Path, model: Model, body: Record<string, unknown>): string | undefined {
  try {
    askedOf(path, model, body);
    return undefined;
  } catch (error) {
    const { code, param } = error as { code: string; param: string };
    return `${code} ${param}`;
  }
}
