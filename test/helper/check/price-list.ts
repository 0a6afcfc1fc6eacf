import type { UsageView } from '../../../src/api/ledger/entry-view.ts';
import type { Unit } from '../../../src/domain/units.ts';

/** Prices of the config file in credits, as text, so that none becomes a floating-point number. */
export type PriceList = Readonly<Partial<Record<PriceUnit, string>>>;
export type PriceUnit = Exclude<Unit, 'videoSecond'>;

/** For each unit of usage: the name of its price, and the number of units that the price is for. */
const UNITS: Readonly<Record<keyof UsageView, readonly [PriceUnit | 'videoSecond', bigint]>> = {
  input_tokens: ['input', 1_000_000n],
  output_tokens: ['output', 1_000_000n],
  cached_input_tokens: ['cachedInput', 1_000_000n],
  cache_write_tokens: ['cacheWrite', 1_000_000n],
  characters: ['character', 1_000_000n],
  images: ['image', 1n],
  audio_seconds: ['audioSecond', 1n],
  video_seconds: ['videoSecond', 1n],
  requests: ['request', 1n],
  cache_write_1h_tokens: ['cacheWrite1h', 1_000_000n],
  input_audio_tokens: ['inputAudio', 1_000_000n],
  cached_input_audio_tokens: ['cachedInputAudio', 1_000_000n],
  output_audio_tokens: ['outputAudio', 1_000_000n],
  input_image_tokens: ['inputImage', 1_000_000n],
  cached_input_image_tokens: ['cachedInputImage', 1_000_000n],
  output_image_tokens: ['outputImage', 1_000_000n],
  web_searches: ['webSearch', 1_000n],
  web_search_previews: ['webSearchPreview', 1_000n],
};

/** `text × 10^12` as an integer, for a decimal of at most twelve places. */
function scaled(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.');
  return BigInt(whole + fraction.padEnd(12, '0'));
}

/**
 * Returns the charge in credits, with six decimals and rounded up once, as an owner computes it from a ledger row and
 * the price list. `multiplier` is that of the service tier. Written from specification section 5 alone, not from the
 * code that charges.
 */
export function recomputed(usage: UsageView, prices: PriceList, multiplier = 1): string {
  const one = 10n ** 12n;
  let sum = 0n;
  for (const [unit, amount] of Object.entries(usage)) {
    const [price, per] = UNITS[unit as keyof UsageView];
    const each = price === 'videoSecond' ? undefined : prices[price];
    // Scaled by 10^24 in all: 10^12 for the amount, 10^12 for the price.
    sum += (scaled(String(amount)) * scaled(each ?? '0')) / per;
  }
  const all = one * one * one;
  const micro = (sum * scaled(String(multiplier)) * 1_000_000n + all - 1n) / all;
  return `-${micro / 1_000_000n}.${String(micro % 1_000_000n).padStart(6, '0')}`;
}
