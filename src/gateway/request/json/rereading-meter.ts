import { type ByteSource, inMemory } from '../../../metering/byte-source.ts';
import type { MeteredBody } from '../../../metering/meter.ts';
import type { Endpoint } from '../../endpoints.ts';
import type { ReadLarge } from '../call-memory.ts';
import { inOwnTurn } from './heavy-step.ts';
import { parseObject, readJsonInPieces } from './json-reader.ts';

const ANY_NAME = { take: () => false };

/**
 * The endpoint for a call whose body was reduced to scalars: an estimate reads the body again. `readLarge`: for a body
 * that is large or has very many parts.
 */
export function rereading(endpoint: Endpoint, body: Buffer | ByteSource, readLarge?: ReadLarge): Endpoint {
  const { meter } = endpoint;
  return {
    ...endpoint,
    meter: {
      ...meter,
      async estimate(scalars, outputText, count, ...others) {
        if (!readLarge) {
          return await meter.estimate(wholeOf(scalars, body as Buffer), outputText, count, ...others);
        }
        const source = Buffer.isBuffer(body) ? inMemory(body) : body;
        return await readLarge(source.size, async () => {
          const read = await readJsonInPieces(source, ANY_NAME, true);
          const { elidedStrings } = read;
          const counting = elidedStrings?.counting(count) ?? count;
          const value = await inOwnTurn(() => read.parse());
          const whole = { ...scalars, value, elidedStrings };
          return await inOwnTurn(() => meter.estimate(whole, outputText, counting, ...others));
        });
      },
    },
  };
}

function wholeOf(scalars: MeteredBody, bytes: Buffer): MeteredBody {
  return { ...scalars, value: parseObject(bytes.toString()), elidedStrings: undefined };
}
