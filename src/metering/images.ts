import type { Terms } from '../domain/bill.ts';
import type { Model } from '../domain/catalog.ts';
import { isPricedByToken } from '../domain/price.ts';
import type { Usage } from '../domain/units.ts';
import { priceOfVariant } from '../domain/variants.ts';
import { isPart, saysFailed } from './answer.ts';
import { pictureBound } from './bounds.ts';
import type { Shape } from './json/sieve.ts';
import { isObject } from './json/value.ts';
import { EVERYWHERE, membersOf } from './members.ts';
import {
  countOf,
  EVENT_SHAPE,
  type EventAction,
  type Meter,
  type ParsedRequest,
  type RequestFacts,
  type StreamMeter,
  textTokens,
} from './meter.ts';
import { plainPlan } from './plain-plan.ts';
import { type RequestPlan, refuseModels } from './plan.ts';
import { eventData, eventName, namesError, saysDone, sifted } from './sse/event.ts';
import { variantCharges, variantIn, variantTerms } from './terms.ts';
import { addUsage } from './usage.ts';
import {
  type Reading,
  ReportedStream,
  type ReportedUsage,
  reportedUsage,
  wholeUsage,
  withOutputAs,
  withReported,
} from './usage-report.ts';

/** Image generations, edits and variations. */
export const IMAGES = membersOf({
  ...EVERYWHERE,
  read: 'model stream',
  files: 'image.* mask.* markup.*',
  priced: 'n size quality',
  held: 'prompt input_fidelity partial_images complexity frame_count',
  refused: 'output_format svg.*',
  free: 'background frame_duration_ms moderation output_compression response_format safety_identifier style user',
  texts: {
    'image mask markup': '`inputImage`, else `input`, if tokens are priced',
    'n size quality':
      '`n` times `image`, by size and quality if its price is, or `outputImage` for their tokens',
    prompt: 'a token for each byte, if tokens are priced',
    'input_fidelity partial_images complexity frame_count': 'as tokens of the pictures',
    'output_format svg': 'an SVG, which another model writes',
  },
});

/** Approximate tokens that a template adds to a prompt. */
const REQUEST_OVERHEAD = 64;
const COMPLETED = /^image_(generation|edit)\.completed$/;
const PICTURE = /image_(generation|edit)\.(completed|partial_image)/;
const PARTIAL = /^image_(generation|edit)\.partial_image$/;
/** Volcengine's, for each of several pictures. */
const SUCCEEDED = /^image_(generation|edit)\.partial_succeeded$/;
const FAILED_PICTURE = /^image_(generation|edit)\.partial_failed$/;

/** Number of images requested; defaults to 1, as at the providers. */
function imagesAsked(body: RequestFacts): number {
  return Math.max(1, countOf(body, 'n') ?? 1);
}

/**
 * `/v1/images/generations`, `/v1/images/edits`, `/v1/images/variations`: exactly n × the price per image. If tokens
 * have a price (specification section 5: "or tokens where priced so"), the bound is the prompt's bytes, `imageTokens`
 * for each uploaded picture or mask, and `pictureTokens` for each requested image.
 */
export const images: Meter = {
  plan(body: ParsedRequest): RequestPlan {
    const { value, model, textBytes, files } = body;
    const asked = imagesAsked(body);
    const most = pictureTokens(model, value);
    // Another model writes SVGs.
    refuseModels(value.output_format === 'svg' ? { svg: true } : value, ['svg']);
    return plainPlan(body, {
      usage: { images: asked, output: most * asked },
      input: (bounds) => {
        const media = files * pictureBound(model, bounds);
        return { tokens: textBytes + REQUEST_OVERHEAD + media, media };
      },
      reach: { input: ['inputImage', 'cachedInputImage'], output: ['outputImage'] },
      expected: { textBytes, maxTokens: most, answers: asked, besides: { images: asked } },
      charges: variantCharges(body, 'image'),
      price: priceOfVariant(model.price, variantIn(value)),
    });
  },
  usage(answer: unknown, body: RequestFacts): Usage | undefined {
    const made = picturesIn(answer);
    const tokens = wholeUsage(reportedUsage(answer, readingOf(body, made)));
    if (!isObject(answer) || (!tokens && isPricedByToken(body.model.price))) return undefined;
    return { images: made, ...tokens };
  },
  terms: (answer, body) => variantTerms(body, answer),
  /** Pictures are charged by those that came, never by those asked for. */
  mergeReported(estimate, answer, body) {
    const made = picturesIn(answer);
    const output = pictureTokens(body.model, body.scalars) * made;
    const counted = answer === undefined ? estimate : { ...estimate, images: made, output };
    return withReported(withOutputAs('outputImage', counted), reportedUsage(answer, readingOf(body, made)));
  },
  outputTokens: () => 0,
  stream: (_injectedUsage, body) =>
    new ImageStream(body, imagesAsked(body), pictureTokens(body.model, body.scalars)),
  inputTokens(body) {
    const { prompt } = body.value;
    const isCounted = typeof prompt === 'string' && isPricedByToken(body.model.price);
    return { text: isCounted ? textTokens(body, prompt) : 0, media: 0 };
  },
  /** Counts the tokens of the prompt, and the maximum for each image. */
  estimate({ input }, body) {
    const asked = imagesAsked(body);
    return { images: asked, input, output: pictureTokens(body.model, body.scalars) * asked };
  },
};

function picturesIn(answer: unknown): number {
  if (!isObject(answer)) return 0;
  // fal's and DashScope's relays have other names.
  const { data, images, output } = answer;
  const list = data ?? images ?? (isObject(output) ? output.results : undefined);
  return Array.isArray(list) ? list.filter(isPart).length : 0;
}

function readingOf({ model: { price } }: PaintedBody, made: number): Reading {
  return { price, unit: 'outputImage', wrote: () => made > 0 };
}

type PaintedBody = Pick<RequestFacts, 'model' | 'scalars'>;

/** Longest event that is read whole; of a longer one, which has a picture, the members in `kept`. */
const SMALL_CHARS = 16 * 1024;

/**
 * Measures an image stream: `image_generation.partial_image` and `image_generation.completed` (or `image_edit.…`), the
 * latter with `usage`. Volcengine sends `partial_succeeded` with each picture, and `completed` with the usage of all. An
 * event can be megabytes long; only the members in `kept` are read then.
 *
 * An image counts as soon as its first event starts to arrive, even a partial one: the provider bills it in full by
 * then.
 */
export class ImageStream extends ReportedStream implements StreamMeter {
  readonly #body: PaintedBody;
  readonly #asked: number;
  /** Most tokens of an image. */
  readonly #most: number;
  #completed = 0;
  /** An image has started to arrive and is not complete. */
  #isBegun = false;
  #hasEnd = false;
  /** Each picture has its own event before the last one. */
  #hasPieces = false;
  pieces = 0;
  readonly kept: Shape = {
    ...EVENT_SHAPE,
    message: 'all',
    size: 'all',
    quality: 'all',
    data: [{ error: 'all' }],
  };
  /** The last completed image, without its bytes. */
  #last: unknown;
  /** What was reported of each completed image; `counts` has what was reported of all together. */
  readonly #reports: ReportedUsage[] = [];
  readonly outputTokens = 0;

  constructor(body: PaintedBody, asked: number, most = body.model.maxOutputTokens) {
    super();
    this.#body = body;
    this.#asked = asked;
    this.#most = most;
  }

  get usage(): Usage | undefined {
    const whole = wholeUsage(this.#reported);
    if (whole) return { images: this.#images, ...whole };
    if (this.#images === 0) return undefined;
    const tokens = this.#reports.flatMap((report) => wholeUsage(report) ?? []);
    if (tokens.length < this.#images && isPricedByToken(this.#body.model.price)) return undefined;
    return tokens.reduce<Usage>(addUsage, { images: this.#images });
  }

  get #reported(): ReportedUsage {
    return this.usageBy(readingOf(this.#body, this.#images));
  }

  /** Counts the images received instead of those requested, each at the maximum if its tokens were not reported. */
  mergeReported(estimate: Usage): Usage {
    const inputs = this.#reports.flatMap(({ input }) => input ?? []);
    const outputs = this.#reports.flatMap(({ output }) => output ?? []);
    const output = this.#most * (this.#images - outputs.length);
    const counted = withOutputAs('outputImage', { images: this.#images, input: estimate.input ?? 0, output });
    const isReported = inputs.length > 0;
    const usage = withReported(counted, isReported ? { input: inputs.reduce<Usage>(addUsage, {}) } : {});
    return withReported(outputs.reduce(addUsage, usage), this.#reported);
  }

  get terms(): Terms {
    return variantTerms(this.#body, this.#last);
  }

  get hasAnswer(): boolean {
    return this.#images > 0;
  }

  get isWhole(): boolean {
    return this.#hasEnd || (this.#completed > 0 && !this.#isBegun);
  }

  unfinished(event: string, isLarge: boolean): void {
    const name = eventName(event) || (PICTURE.exec(event)?.[0] ?? '');
    // A large event without a known name is an image: nothing else is that large.
    if (!isLarge && !COMPLETED.test(name) && !PARTIAL.test(name)) return;
    this.#isBegun = true;
  }

  event(event: string): EventAction {
    if (saysDone(event)) return 'end';
    const small = event.length > SMALL_CHARS ? sifted(event, this.kept) : event;
    const data = eventData(small);
    const type = String(data?.type ?? eventName(small));
    if (!FAILED_PICTURE.test(type) && (namesError(small) || saysFailed(data))) this.failed = true;
    const made = this.#picturesOf(type, data);
    if (made > 0) {
      this.#completed += made;
      this.pieces += made;
      this.#last = data;
      this.#isBegun = false;
    }
    if (made === 1 && COMPLETED.test(type)) this.#reports.push(reportedUsage(data, readingOf(this.#body, 1)));
    else this.take(data);
    if (COMPLETED.test(type)) this.#hasEnd = made === 0 || this.#completed >= this.#asked;
    return this.failed || this.#hasEnd ? 'end' : 'pass';
  }

  /** Whole pictures in an event. */
  #picturesOf(type: string, data: Record<string, unknown> | undefined): number {
    if (PARTIAL.test(type)) {
      this.#isBegun = true;
      this.pieces++;
    }
    if (SUCCEEDED.test(type)) {
      this.#hasPieces = true;
      return 1;
    }
    if (COMPLETED.test(type)) return this.#hasPieces ? 0 : 1;
    return picturesIn(data);
  }

  get #images(): number {
    return this.#completed + (this.#isBegun ? 1 : 0);
  }
}

/** Models whose output tokens OpenAI documents, with or without a snapshot date. */
const BY_TABLE = /^gpt-image-1(?:-mini|\.5)?(?:-\d{4}-\d{2}-\d{2})?$/;
const BY_AREA = /^gpt-image-2(?:-\d{4}-\d{2}-\d{2})?$/;

type Quality = 'low' | 'medium' | 'high';

/** Output tokens of an image by quality and size (OpenAI, image generation, "Cost and latency"). */
const TABLE: Readonly<Record<Quality, Readonly<Record<string, number>>>> = {
  low: { '1024x1024': 272, '1024x1536': 408, '1536x1024': 400 },
  medium: { '1024x1024': 1_056, '1024x1536': 1_584, '1536x1024': 1_568 },
  high: { '1024x1024': 4_160, '1024x1536': 6_240, '1536x1024': 6_208 },
};
/**
 * Patches along the longer side of a gpt-image-2 image, which can have any size. OpenAI's calculator scales the shorter
 * side in proportion and returns long × short × (2,000,000 + pixels) / 4,000,000 tokens.
 */
const SIDE: Readonly<Record<Quality, number>> = { low: 16, medium: 48, high: 96 };
/** gpt-image-2: 3,840 by 2,160. */
const MAX_PIXELS = 8_294_400;
/** Output tokens of a partial image in a stream. */
const SKETCH_TOKENS = 100;
const MAX_SKETCHES = 3;
/** Frames of a GIF (`frame_count`). */
const DEFAULT_FRAMES = 9;
const MAX_FRAMES = 16;

/**
 * Most output tokens of one requested image: by quality and size if OpenAI documents them, otherwise the model's
 * `maxOutputTokens`. Settings left to the vendor count as the most expensive ones.
 */
export function pictureTokens(
  { upstreamModel, maxOutputTokens }: Pick<Model, 'upstreamModel' | 'maxOutputTokens'>,
  value: Readonly<Record<string, unknown>>,
): number {
  const { quality, size, partial_images: sketches, complexity } = value;
  // The tables cover neither frames nor planning. Each frame may count as a separate image.
  if (value.output_format === 'gif') return framesOf(value.frame_count) * maxOutputTokens;
  if ((complexity ?? null) !== null) return maxOutputTokens;
  const documented = documentedTokens(upstreamModel, qualityOf(quality), size ?? 'auto');
  if (documented === undefined) return maxOutputTokens;
  const partial = Number(sketches ?? 0);
  const many = partial >= 0 && partial <= MAX_SKETCHES ? Math.ceil(partial) : MAX_SKETCHES;
  return documented + many * SKETCH_TOKENS;
}

function framesOf(count: unknown): number {
  if (count === undefined || count === null) return DEFAULT_FRAMES;
  const frames = Number(count);
  return frames >= 1 && frames <= MAX_FRAMES ? Math.ceil(frames) : MAX_FRAMES;
}

/** The requested quality; the highest if the vendor chooses. */
function qualityOf(quality: unknown): Quality | undefined {
  if (quality === undefined || quality === null || quality === 'auto') return 'high';
  return quality === 'low' || quality === 'medium' || quality === 'high' ? quality : undefined;
}

function documentedTokens(name: string, quality: Quality | undefined, size: unknown): number | undefined {
  if (quality === undefined) return undefined;
  const sizes = TABLE[quality];
  if (BY_TABLE.test(name)) {
    if (size === 'auto') return Math.max(...Object.values(sizes));
    return Object.hasOwn(sizes, String(size)) ? sizes[String(size)] : undefined;
  }
  if (!BY_AREA.test(name)) return undefined;
  const [, width, height] = /^([1-9]\d{1,3})x([1-9]\d{1,3})$/.exec(String(size)) ?? [];
  const pixels = width && height ? Number(width) * Number(height) : MAX_PIXELS;
  if (pixels > MAX_PIXELS || (width === undefined && size !== 'auto')) return undefined;
  const share = width && height ? sideShare(Number(width), Number(height)) : 1;
  const [long, short] = [SIDE[quality], Math.round(SIDE[quality] * share)];
  const byArea = Math.ceil((long * short * (2_000_000 + pixels)) / 4_000_000);
  return Math.max(byArea, sizes[String(size)] ?? 0);
}

function sideShare(width: number, height: number): number {
  return Math.min(width, height) / Math.max(width, height);
}
