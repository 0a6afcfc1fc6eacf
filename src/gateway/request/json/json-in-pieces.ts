import type { Catalog } from '../../../domain/catalog.ts';
import type { ByteSource } from '../../../metering/byte-source.ts';
import { isObject } from '../../../metering/json-value.ts';
import type { Meter } from '../../../metering/meter.ts';
import type { Endpoint } from '../../endpoints.ts';
import { INSPECTED_FIELDS, type JsonBody, parseJsonBody, parseObject } from '../json-body.ts';
import { Upload } from '../spool/upload.ts';
import type { WeightedSemaphore } from '../weighted-semaphore.ts';
import { elideLongStrings } from './elide-long-strings.ts';
import { heavyStep } from './heavy-step.ts';

/**
 * Check 9 of specification section 3 for JSON that is large (and therefore in a file) or has very many parts. The body
 * is read piece by piece, and other calls run in between. Throws GatewayError.
 */
export async function readJsonInPieces(
  source: ByteSource,
  catalog: Catalog,
  endpoint: Endpoint,
  keepsSamples = false,
): Promise<JsonBody> {
  const elided = await elideLongStrings(source, keepsSamples);
  const { text, isHeavy } = elided;
  const value = isHeavy ? await heavyStep(() => parseObject(text)) : parseObject(text);
  const read = { bytes: new Upload(source), size: source.size, text, value, elided };
  const parse = () => parseJsonBody(read, catalog, endpoint);
  return isHeavy ? await heavyStep(parse) : parse();
}

/**
 * A large body as it stays in memory while its call runs: only those inspected fields that are no lists, and objects without
 * their members.
 */
export function retainScalars(body: JsonBody): JsonBody {
  const scalars = Object.entries(body.value)
    .filter(([name, value]) => INSPECTED_FIELDS.has(name) && !Array.isArray(value))
    .map(([name, value]) => [name, isObject(value) ? {} : value] as const);
  body.elidedStrings?.keepOnly(scalars.map(([, value]) => value));
  return { ...body, value: Object.fromEntries(scalars), text: '', spans: new Map(), elided: undefined };
}

/** Meter for a body that was cut down to its scalars: an estimate reads the body from its source once more. */
export function rereadingMeter(endpoint: Endpoint, source: ByteSource, semaphore: WeightedSemaphore): Meter {
  const { meter } = endpoint;
  return {
    ...meter,
    async estimate(folded, outputText, count, storedTokens) {
      const release = await semaphore.acquire(source.size);
      try {
        const catalog: Catalog = new Map([[folded.model.slug, folded.model]]);
        const body = await readJsonInPieces(source, catalog, endpoint, true);
        const counting = body.elidedStrings?.counting(count) ?? count;
        return await heavyStep(() => meter.estimate(body, outputText, counting, storedTokens));
      } finally {
        release();
      }
    },
  };
}
