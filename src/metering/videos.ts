import { GatewayError, invalidField } from '../domain/errors.ts';
import type { Usage } from '../domain/ledger-entry.ts';
import { holdFor } from '../domain/price.ts';
import type { Meter, StreamMeter } from './meter.ts';
import type { MeteredBody } from './metered-body.ts';
import { isObjectId } from './object-id.ts';
import { isObject } from './parts.ts';

/** What OpenAI makes where the request does not say (API reference, "Create video"). */
const DEFAULT_SECONDS = 4;
/** An hour: more than any model makes, and little enough for every price. */
const MAX_SECONDS = 3_600;
/** A picture as text; other text could be the name of a file. */
const PICTURE = /^(?:https?:|data:)/i;

/** Seconds in text or as a number; undefined where it is neither, or absurd. */
function secondsIn(value: unknown): number | undefined {
  const isText = typeof value === 'string' && /^\d{1,4}(\.\d{1,6})?$/.test(value);
  const seconds = isText ? Number(value) : value;
  return typeof seconds === 'number' && seconds > 0 && seconds <= MAX_SECONDS ? seconds : undefined;
}

/** Undefined: the request does not say. Throws 400 `invalid_field`. */
function secondsAsked({ value }: MeteredBody): number | undefined {
  const { seconds } = value;
  if (seconds === undefined || seconds === null) return undefined;
  const asked = secondsIn(seconds);
  if (asked === undefined || !Number.isInteger(asked))
    throw invalidField(
      'seconds',
      `seconds must be a whole number from 1 to ${MAX_SECONDS}, as "${DEFAULT_SECONDS}".`,
    );
  return asked;
}

/** An id in the answer: the job is accepted. */
function isAccepted(answer: unknown): answer is { id: string; seconds?: unknown; status?: unknown } {
  return isObject(answer) && typeof answer.id === 'string' && answer.id !== '';
}

/** No event of it says what the job is: it passes, and what was asked for is charged. */
function passes(body: MeteredBody): StreamMeter {
  const asked = secondsAsked(body);
  const usage = asked ? { videoSeconds: asked } : undefined;
  return { event: () => 'pass', kept: {}, pieces: 0, isClosing: false, usage, written: () => '' };
}

/**
 * `POST /v1/videos`: the price per second × the seconds asked for, exactly; the seconds that the answer names win. A job
 * that is not accepted, or has failed already, costs nothing; one that fails later is refunded (job-routes.ts).
 */
export const videos: Meter = {
  hold: (body) => holdFor(body.model.price, { videoSeconds: secondsAsked(body) ?? DEFAULT_SECONDS }),
  usage(answer, body): Usage | undefined {
    if (!isAccepted(answer) || answer.status === 'failed') return undefined;
    const seconds = secondsIn(answer.seconds) ?? secondsAsked(body);
    return seconds === undefined ? undefined : { videoSeconds: seconds };
  },
  written: () => '',
  failed: (answer) => !isAccepted(answer) || answer.status === 'failed',
  resourceIds: (answer) => (isAccepted(answer) && isObjectId(answer.id) ? [answer.id] : []),
  stream: (_injectedUsage, body) => passes(body),
  estimate: async (body) => ({ videoSeconds: secondsAsked(body) ?? DEFAULT_SECONDS }),
  /** No file of a provider belongs to an account here, by whatever name. */
  check({ value: { input_reference: picture } }) {
    if (typeof picture !== 'string' || PICTURE.test(picture)) return;
    throw new GatewayError(
      'object_not_found',
      'The request names a file of the provider in input_reference. No account here has such files: send the picture itself.',
      'input_reference',
    );
  },
};
