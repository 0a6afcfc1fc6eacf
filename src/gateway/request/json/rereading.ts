import type { InputTokens, MeteredBody } from '../../../metering/meter.ts';
import type { Endpoint } from '../../endpoints.ts';
import { parseObject } from './json-reader.ts';

/**
 * The endpoint for a call whose body was reduced to scalars: an estimate uses the tokens `counted` in a large body, or
 * else reads the bytes again.
 */
export function rereading(endpoint: Endpoint, counted: InputTokens | Buffer): Endpoint {
  const { meter } = endpoint;
  const inputTokens = Buffer.isBuffer(counted)
    ? (scalars: MeteredBody) => meter.inputTokens(wholeOf(scalars, counted))
    : () => counted;
  return { ...endpoint, meter: { ...meter, inputTokens } };
}

function wholeOf(scalars: MeteredBody, bytes: Buffer): MeteredBody {
  return { ...scalars, value: parseObject(bytes.toString()), elidedStrings: undefined };
}
