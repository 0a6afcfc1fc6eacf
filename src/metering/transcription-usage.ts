import type { Usage } from '../domain/ledger-entry.ts';
import type { MeteredBody } from './metered-body.ts';
import { isPricedByToken } from './priced-by-token.ts';
import { reportedTokens } from './reported-tokens.ts';

/** 115 days; a report beyond it is no report. */
const ABSURD_SECONDS = 10_000_000;

/**
 * Usage of an answer or a last event. Seconds: `usage` of type `duration`, the `duration` of a verbose answer, else as
 * measured from the audio, which is no estimate; a bound of its length is one. Tokens: `usage` of type `tokens`. Undefined where the model has a price
 * for something of which nothing is known.
 */
export function transcriptionUsage(answer: unknown, body: MeteredBody): Usage | undefined {
  const { usage, duration } = (answer ?? {}) as { usage?: { seconds?: unknown } | null; duration?: unknown };
  const measured = body.audio?.how === 'measured' ? body.audio.seconds : undefined;
  const audioSeconds = seconds(usage?.seconds) ?? seconds(duration) ?? measured;
  const tokens = reportedTokens(usage);
  const { model } = body;
  if (audioSeconds === undefined && (model.price.audioSecond > 0n || !tokens)) return undefined;
  if (!tokens && isPricedByToken(model)) return undefined;
  return { ...(audioSeconds === undefined ? {} : { audioSeconds }), ...tokens };
}

/** A number of seconds, which some providers write as text. */
function seconds(value: unknown): number | undefined {
  const number = typeof value === 'string' && value !== '' ? Number(value) : value;
  return typeof number === 'number' && number >= 0 && number <= ABSURD_SECONDS ? number : undefined;
}
