import { GatewayError, invalidField } from '../domain/errors.ts';
import { holdFor } from '../domain/price.ts';
import type { Usage } from '../domain/units.ts';
import { priceOfVariant } from '../domain/variants.ts';
import { isObject } from './json/value.ts';
import { EVERYWHERE, membersOf } from './members.ts';
import {
  isResourceId,
  type Meter,
  NO_TOKENS,
  type ParsedRequest,
  type RequestFacts,
  type StreamMeter,
} from './meter.ts';
import { fixedCost } from './plan.ts';
import { variantCharges, variantIn, variantTerms } from './terms.ts';

export const VIDEOS = membersOf({
  ...EVERYWHERE,
  read: 'model',
  files: 'input_reference.*',
  priced: 'seconds size quality',
  free: 'prompt',
  texts: {
    'seconds size quality':
      '`videoSecond` for each of `seconds` (default 4, at most 3,600), by size and quality if its price is',
    input_reference: 'in the seconds; a file or a URL, not an id',
  },
});

/** Default length of a video in seconds (OpenAI API reference, "Create video"). */
const DEFAULT_SECONDS = 4;
/** An hour: longer than any model's video, and small enough for every price. */
const MAX_SECONDS = 3_600;
/** An image sent by URL; any other text could be the id of a provider file. */
const PICTURE = /^(?:https?:|data:)/i;

/** Parses seconds from a number or text; undefined if invalid or out of range. */
function secondsIn(value: unknown): number | undefined {
  const isText = typeof value === 'string' && /^\d{1,4}(\.\d{1,6})?$/.test(value);
  const seconds = isText ? Number(value) : value;
  return typeof seconds === 'number' && seconds > 0 && seconds <= MAX_SECONDS ? seconds : undefined;
}

/** Whole seconds requested; undefined if absent. Throws 400 `invalid_field`. */
function secondsAsked({ scalars }: RequestFacts): number | undefined {
  const { seconds } = scalars;
  if (seconds === undefined || seconds === null) return undefined;
  const asked = secondsIn(seconds);
  if (asked === undefined || !Number.isInteger(asked))
    throw invalidField(
      'seconds',
      `seconds must be a whole number from 1 to ${MAX_SECONDS}, as "${DEFAULT_SECONDS}".`,
    );
  return asked;
}

/** Whether the provider accepted the job: the answer has an id. */
function isAccepted(answer: unknown): answer is { id: string; seconds?: unknown; status?: unknown } {
  return isObject(answer) && typeof answer.id === 'string' && answer.id !== '';
}

/** Meter for a stream, whose events don't describe the job: forwards all events and charges the requested seconds. */
function passes(body: RequestFacts): StreamMeter {
  const asked = secondsAsked(body);
  const usage = asked ? { videoSeconds: asked } : undefined;
  const terms = variantTerms(body, undefined);
  return { event: () => 'pass', kept: {}, pieces: 0, hasAnswer: true, usage, terms, outputTokens: 0 };
}

/**
 * `POST /v1/videos`: exactly the price per second × the seconds; seconds in the answer override the request. A rejected
 * job, or one that has already failed, costs nothing; one that fails later is refunded (gateway/routes.ts).
 */
export const videos: Meter = {
  plan(body) {
    checkPicture(body);
    const price = priceOfVariant(body.model.price, variantIn(body.value));
    const hold = holdFor(price, { videoSeconds: secondsAsked(body) ?? DEFAULT_SECONDS });
    return fixedCost(hold, variantCharges(body, 'videoSecond'));
  },
  usage(answer, body): Usage | undefined {
    if (!isAccepted(answer) || answer.status === 'failed') return undefined;
    const seconds = secondsIn(answer.seconds) ?? secondsAsked(body);
    return seconds === undefined ? undefined : { videoSeconds: seconds };
  },
  terms: (answer, body) => variantTerms(body, answer),
  outputTokens: () => 0,
  hasAnswer: isAccepted,
  failed: (answer) => isAccepted(answer) && answer.status === 'failed',
  resourceIds: (answer) => (isAccepted(answer) && isResourceId(answer.id) ? [answer.id] : []),
  stream: (_injectedUsage, body) => passes(body),
  inputTokens: () => NO_TOKENS,
  estimate: (_tokens, body) => ({ videoSeconds: secondsAsked(body) ?? DEFAULT_SECONDS }),
};

/** Refuses a provider file as the first image, since no account here owns one. */
function checkPicture({ value: { input_reference: picture } }: ParsedRequest): void {
  if (typeof picture !== 'string' || PICTURE.test(picture)) return;
  throw new GatewayError(
    'object_not_found',
    'input_reference must not name a file stored at the provider. Send the image itself.',
    'input_reference',
  );
}
