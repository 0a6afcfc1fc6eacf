import { setImmediate } from 'node:timers/promises';
import { AUDIO_TOKENS_PER_SECOND } from '../../metering/audio/audio-length.ts';
import { measureAudio } from '../../metering/audio/measure-audio.ts';
import { type ByteSource, inMemory } from '../../metering/byte-source.ts';
import type { ElidedString } from '../../metering/json/elided-strings.ts';
import type { MeteredBody } from '../../metering/meter.ts';

/** Sounds that are measured before other calls come. */
const AT_ONCE = 8;

/**
 * Bound of the tokens of the inline sounds of a request, by their measured length; undefined where one of them has none.
 * `sounds`: base64, or placeholders of long strings; `source`: the body.
 */
export async function tokensOfSounds(
  sounds: readonly (string | undefined)[],
  { elidedStrings }: Pick<MeteredBody, 'elidedStrings'>,
  source: ByteSource,
): Promise<number | undefined> {
  let tokens = 0;
  for (const [index, sound] of sounds.entries()) {
    if (index % AT_ONCE === AT_ONCE - 1) await setImmediate();
    if (sound === undefined) return undefined;
    const long = elidedStrings?.get(sound);
    const bytes = long ? await base64Within(source, long) : inMemory(Buffer.from(sound, 'base64'));
    const { seconds } = bytes ? await measureAudio(bytes) : { seconds: undefined };
    if (seconds === undefined) return undefined;
    tokens += Math.ceil(seconds * AUDIO_TOKENS_PER_SECOND);
  }
  return tokens;
}

/** The bytes that a long string of base64 stands for; undefined where its characters are not in the body one by one. */
async function base64Within(source: ByteSource, long: ElidedString): Promise<ByteSource | undefined> {
  const { place, units, base64Length } = long;
  if (!place || base64Length !== units || place.end - place.start !== units) return undefined;
  const end = await source.read(place.end - 2, place.end);
  const characters = units - end.toString('latin1').replace(/[^=]/g, '').length;
  const size = Math.floor((characters * 3) / 4);
  return {
    size,
    async read(from, to) {
      const start = Math.floor(from / 3);
      const last = Math.ceil(Math.min(to, size) / 3);
      const text = await source.read(place.start + start * 4, Math.min(place.end, place.start + last * 4));
      const bytes = Buffer.from(text.toString('latin1'), 'base64');
      return bytes.subarray(from - start * 3, Math.min(to, size) - start * 3);
    },
  };
}
