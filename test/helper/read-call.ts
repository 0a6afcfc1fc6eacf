import type { Model } from '../../src/domain/catalog.ts';
import type { ReadCall } from '../../src/gateway/call.ts';
import { ENDPOINTS } from '../../src/gateway/endpoints.ts';
import { testCatalog } from './gateway-in-process.ts';

const CATALOG = testCatalog('http://127.0.0.1');

/** The members of a call that estimates look at. `hold` in micro-credits. */
export function readCall({
  value = {},
  keyId = 1,
  model = 'tokens',
  path = '/v1/chat/completions',
  hold = 1_000_000_000,
  more = {},
}: {
  value?: Record<string, unknown>;
  keyId?: number;
  model?: string;
  path?: string;
  hold?: number;
  more?: Partial<Model>;
}): ReadCall {
  const endpoint = ENDPOINTS.find((row) => row.path === path);
  const body = { value, model: { ...CATALOG.get(model), ...more } };
  const compiled = { key: { id: keyId } };
  return { body, compiled, endpoint, hold, serviceTiers: [], mediaTokens: 0 } as unknown as ReadCall;
}
