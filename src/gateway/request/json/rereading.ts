import type { InputTokens, MeteredBody } from '../../../metering/meter.ts';
import type { Endpoint } from '../../endpoints.ts';
import { parseObject, type ReadJson } from './json-reader.ts';

/** Rough size in bytes of a token of JSON. */
const BYTES_PER_TOKEN = 4;

/**
 * The endpoint for a call whose body was reduced to scalars: an estimate reads the bytes of a small one again, and uses
 * the tokens counted in a large one.
 */
export function rereading(endpoint: Endpoint, counted: Buffer | InputTokens): Endpoint {
  const { meter } = endpoint;
  const inputTokens = Buffer.isBuffer(counted)
    ? (scalars: MeteredBody) => meter.inputTokens(wholeOf(scalars, counted))
    : () => counted;
  return { ...endpoint, meter: { ...meter, inputTokens } };
}

/** Tokens of a body that is large or has very many parts, which is not read again. */
export function countOnce({ meter }: Endpoint, body: MeteredBody, { skippedBytes }: ReadJson): InputTokens {
  const { text, media } = meter.inputTokens(body);
  return { text: text + Math.ceil(skippedBytes / BYTES_PER_TOKEN), media };
}

function wholeOf(scalars: MeteredBody, bytes: Buffer): MeteredBody {
  return { ...scalars, value: parseObject(bytes.toString()), elidedStrings: undefined };
}
