import type { Terms } from '../domain/bill.ts';
import { isPricedByToken } from '../domain/price.ts';
import type { Usage } from '../domain/units.ts';
import { priceOfVariant } from '../domain/variants.ts';
import type { Shape } from './json-sieve.ts';
import { type Meter, type StreamMeter, saysError, type Verdict } from './meter.ts';
import { countOf, type MeteredBody } from './metered-body.ts';
import { responsesToUsage, withOutputAs } from './openai-usage.ts';
import { pictureTokens } from './picture-tokens.ts';
import type { Asked } from './request/asked.ts';
import { pictureBound } from './request/bounds.ts';
import { refuseModels } from './request/charges.ts';
import { plainAsk } from './request/plain-ask.ts';
import { eventData, eventName, saysDone } from './sse/event.ts';
import { sifted } from './sse/large-event.ts';
import { addUsage } from './usage.ts';
import { variantCharges, variantIn, variantTerms } from './variants.ts';

/** About the tokens that a template adds to a prompt. */
const REQUEST_OVERHEAD = 64;
const COMPLETED = /^image_(generation|edit)\.completed$/;
const PICTURE = /image_(generation|edit)\.(completed|partial_image)/;
const PARTIAL = /^image_(generation|edit)\.partial_image$/;

/** Images that a request asks for: one, as with the providers, where it does not say. */
function imagesAsked(body: MeteredBody): number {
  return Math.max(1, countOf(body, 'n') ?? 1);
}

/**
 * `/v1/images/generations`, `/v1/images/edits`, `/v1/images/variations`: n × the price per image, exactly. Where tokens
 * have a price (specification section 5: "or tokens where priced so"), their bound is the prompt's bytes, `imageTokens`
 * for each uploaded picture or mask, and `maxOutputTokens` for each picture asked for, its partial versions included.
 */
export const images: Meter = {
  ask(body: MeteredBody): Asked {
    const { value, model, textBytes, files } = body;
    const asked = imagesAsked(body);
    const most = pictureTokens(model, value);
    // An SVG is written by a model of its own.
    refuseModels(value.output_format === 'svg' ? { svg: true } : value, ['svg']);
    return plainAsk(body, {
      usage: { images: asked, output: most * asked },
      input: (bounds) => {
        const media = files * pictureBound(model, bounds);
        return { tokens: textBytes + REQUEST_OVERHEAD + media, media };
      },
      reach: { input: ['inputImage', 'cachedInputImage'], output: ['outputImage'] },
      likely: { textBytes, maxTokens: most, answers: asked, besides: { images: asked } },
      charges: variantCharges(body, 'image'),
      price: priceOfVariant(model.price, variantIn(value)),
    });
  },
  usage(answer: unknown, body: MeteredBody): Usage | undefined {
    const { data, usage } = (answer ?? {}) as { data?: unknown; usage?: unknown };
    const tokens = responsesToUsage(usage, body.model.price, 'outputImage');
    if (!Array.isArray(data) || (!tokens && isPricedByToken(body.model.price))) return undefined;
    return { images: data.length, ...tokens };
  },
  terms: (answer, body) => variantTerms(body, answer),
  mergeReported: (estimate) => withOutputAs('outputImage', estimate),
  outputText: () => '',
  failed: saysError,
  stream: (_injectedUsage, body) =>
    new ImageStream(body, imagesAsked(body), pictureTokens(body.model, body.value)),
  /** Tokens that nobody reported: the prompt's are counted, and each picture has the most that one can have. */
  async estimate(body, _outputText, count, _storedTokens, mediaTokens = 0) {
    const { prompt } = body.value;
    const asked = imagesAsked(body);
    const said = typeof prompt === 'string' && isPricedByToken(body.model.price) ? await count(prompt) : 0;
    return {
      images: asked,
      input: said + mediaTokens,
      output: pictureTokens(body.model, body.value) * asked,
    };
  },
};

/** The parts of a request that its pictures are charged by. */
type PaintedBody = Pick<MeteredBody, 'model' | 'value'>;

/**
 * Reads a stream of pictures: events `image_generation.partial_image` and `image_generation.completed`
 * (`image_edit.…`), the latter with `usage`. An event can be megabytes long; only its `type` and `usage` are looked at.
 *
 * A picture counts as soon as the first of its events begins to come, a partial picture included: by then the provider
 * has made it, or is making it, and bills it whole.
 */
export class ImageStream implements StreamMeter {
  readonly #body: PaintedBody;
  readonly #asked: number;
  /** The most tokens of a picture. */
  readonly #most: number;
  #completed = 0;
  /** A picture has begun to come and is not completed. */
  #isBegun = false;
  pieces = 0;
  readonly kept: Shape = { type: 'all', usage: 'all', error: 'all', size: 'all', quality: 'all' };
  /** The last picture that was completed, without its bytes. */
  #last: unknown;
  #tokens: Usage | undefined;
  /** Completed pictures whose tokens are in `#tokens`. */
  #reported = 0;
  #failed = false;

  constructor(body: PaintedBody, asked: number, most = body.model.maxOutputTokens) {
    this.#body = body;
    this.#asked = asked;
    this.#most = most;
  }

  get usage(): Usage | undefined {
    if (this.#failed && this.#images === 0) return undefined;
    if (this.#unreported > 0 && isPricedByToken(this.#body.model.price)) return undefined;
    return { images: this.#images, ...this.#tokens };
  }

  /**
   * Counts the pictures that came instead of those asked for; each without reported tokens has the most that one can
   * have.
   */
  mergeReported(estimate: Usage): Usage {
    const unreported = this.#most * this.#unreported;
    const guessed: Usage = { images: this.#images, input: estimate.input ?? 0, output: unreported };
    return addUsage(withOutputAs('outputImage', guessed), this.#tokens ?? {});
  }

  get terms(): Terms {
    return variantTerms(this.#body, this.#last);
  }

  get hasOutput(): boolean {
    return this.#images > 0;
  }

  get failed(): boolean {
    return this.#failed;
  }

  get isWhole(): boolean {
    return this.#completed > 0 && !this.#isBegun;
  }

  outputText(): string {
    return '';
  }

  unfinished(event: string, isLarge: boolean): void {
    const name = eventName(event) || (PICTURE.exec(event)?.[0] ?? '');
    // A large event of unknown name is a picture: nothing else is that large.
    if (!isLarge && !COMPLETED.test(name) && !PARTIAL.test(name)) return;
    this.#isBegun = true;
  }

  event(event: string): Verdict {
    if (saysDone(event)) return 'end';
    const small = sifted(event, this.kept);
    const data = eventData(small);
    const type = String(data?.type ?? eventName(small));
    if (type === 'error' || data?.error) {
      this.#failed = true;
      return 'end';
    }
    if (PARTIAL.test(type)) {
      this.#isBegun = true;
      this.pieces++;
    }
    if (!COMPLETED.test(type)) return 'pass';
    this.#completed++;
    this.#last = data;
    this.#isBegun = false;
    this.#add(responsesToUsage(data?.usage, this.#body.model.price, 'outputImage'));
    return this.#completed >= this.#asked ? 'end' : 'pass';
  }

  get #images(): number {
    return this.#completed + (this.#isBegun ? 1 : 0);
  }

  get #unreported(): number {
    return this.#images - this.#reported;
  }

  #add(tokens: Usage | undefined): void {
    if (!tokens) return;
    this.#reported++;
    this.#tokens = addUsage({ ...this.#tokens }, tokens);
  }
}
