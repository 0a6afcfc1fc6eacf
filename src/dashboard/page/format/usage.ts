import type { UsageView } from '../../../api/views/entry-view.ts';
import { UNITS, type Unit } from '../../../domain/price-units.ts';
import { count, credits } from './credits.ts';

/** What was used: `8 input tokens, 1 request`. */
export function usageWords(usage: UsageView): string {
  return Object.entries(usage)
    .filter(([, amount]) => amount > 0)
    .map(([unit, amount]) => `${count(amount)} ${unitWords(unit, amount)}`)
    .join(', ');
}

/** An amount with its unit: `input_tokens` → `17 input tokens`, `1 input token`, `1 web search`. */
function unitWords(unit: string, amount: number): string {
  const words = unit.replaceAll('_', ' ');
  return amount === 1 ? words.replace(/(?<=ch)es$|s$/, '') : words;
}

/** What a price of each unit is for. */
const PRICED: Readonly<Record<Unit, string>> = {
  input: 'input tokens',
  output: 'output tokens',
  cachedInput: 'cached input tokens',
  cacheWrite: 'cache write tokens',
  cacheWrite1h: 'cache write tokens kept for an hour',
  inputAudio: 'input audio tokens',
  cachedInputAudio: 'cached input audio tokens',
  outputAudio: 'output audio tokens',
  inputImage: 'input image tokens',
  cachedInputImage: 'cached input image tokens',
  outputImage: 'output image tokens',
  webSearch: 'web searches',
  character: 'characters',
  image: 'image',
  audioSecond: 'second of audio',
  videoSecond: 'second of video',
  request: 'request',
};

/** A unit price: `1.50 per 1,000,000 input tokens`. */
export function priceWords(unit: string, amount: number): string {
  const { per } = UNITS[unit as Unit] ?? { per: 1 };
  return `${credits(amount)} per ${per === 1 ? '' : `${count(per)} `}${PRICED[unit as Unit] ?? unit}`;
}
