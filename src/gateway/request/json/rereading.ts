import type { InputTokens, Meter, ParsedRequest, RequestFacts } from '../../../metering/meter.ts';
import { parseObject, type ReadJson } from './json-reader.ts';

/** Rough size in bytes of a token of JSON. */
const BYTES_PER_TOKEN = 4;

/**
 * Counts the tokens of a request of which only facts are in memory: reads the bytes of a small one again, and returns
 * what was counted in a large one. Not a closure of the reader, which would keep the whole request in memory.
 */
export function inputTokensOf(
  meter: Meter,
  facts: RequestFacts,
  counted: Buffer | InputTokens,
): () => InputTokens {
  return () =>
    Buffer.isBuffer(counted)
      ? meter.inputTokens({ ...facts, value: parseObject(counted.toString()), elidedStrings: undefined })
      : counted;
}

/** Tokens of a body that is large or has very many parts, which is not read again. */
export function countOnce(meter: Meter, body: ParsedRequest, { skippedBytes }: ReadJson): InputTokens {
  const { text, media } = meter.inputTokens(body);
  return { text: text + Math.ceil(skippedBytes / BYTES_PER_TOKEN), media };
}
