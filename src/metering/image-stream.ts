import type { Model } from '../domain/catalog.ts';
import type { Usage } from '../domain/ledger-entry.ts';
import type { Shape } from './json-sieve.ts';
import { sifted } from './large-event.ts';
import type { StreamMeter, Verdict } from './meter.ts';
import { isPricedByToken } from './priced-by-token.ts';
import { reportedTokens } from './reported-tokens.ts';
import { eventData, eventName, saysDone } from './sse-event.ts';

const COMPLETED = /^image_(generation|edit)\.completed$/;
const PICTURE = /image_(generation|edit)\.(completed|partial_image)/;
const PARTIAL = /^image_(generation|edit)\.partial_image$/;

/**
 * Reads a stream of pictures: events `image_generation.partial_image` and `image_generation.completed` (`image_edit.…`), the
 * latter with `usage`. An event can be megabytes long; only its `type` and `usage` are looked at.
 *
 * A picture counts from when the first of its events has begun to come, sketch or not: by then the provider has made it,
 * or is making it, and bills it whole.
 */
export class ImageStream implements StreamMeter {
  readonly #model: Model;
  readonly #asked: number;
  #completed = 0;
  /** A picture was begun that is not completed. */
  #isBegun = false;
  #isClosing = false;
  pieces = 0;
  readonly kept: Shape = { type: 'all', usage: 'all', error: 'all' };
  #tokens: Usage | undefined;
  /** Completed pictures whose tokens are in `#tokens`. */
  #reported = 0;
  #failed = false;

  constructor(model: Model, asked: number) {
    this.#model = model;
    this.#asked = asked;
  }

  get usage(): Usage | undefined {
    if (this.#failed && this.#images === 0) return undefined;
    if (this.#unreported > 0 && isPricedByToken(this.#model)) return undefined;
    return { images: this.#images, ...this.#tokens };
  }

  /** Only the pictures that came, of all that were asked for; those of which no tokens were reported for the most they can have. */
  corrected(estimate: Usage): Usage {
    const output = (this.#tokens?.output ?? 0) + this.#model.maxOutputTokens * this.#unreported;
    const input = (estimate.input ?? 0) + (this.#tokens?.input ?? 0);
    return { ...estimate, ...this.#tokens, images: this.#images, input, output };
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

  written(): string {
    return '';
  }

  /** The picture itself is coming, and its usage with it. */
  get isClosing(): boolean {
    return this.#isClosing;
  }

  unfinished(event: string, isLarge: boolean): void {
    const name = eventName(event) || (PICTURE.exec(event)?.[0] ?? '');
    // Nothing else is that large.
    if (!isLarge && !COMPLETED.test(name) && !PARTIAL.test(name)) return;
    this.#isBegun = true;
    this.#isClosing = !PARTIAL.test(name);
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
    this.#isBegun = false;
    this.#isClosing = false;
    this.#add(reportedTokens(data?.usage));
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
    const before = this.#tokens ?? {};
    this.#tokens = {
      input: (before.input ?? 0) + (tokens.input ?? 0),
      cachedInput: (before.cachedInput ?? 0) + (tokens.cachedInput ?? 0),
      output: (before.output ?? 0) + (tokens.output ?? 0),
    };
  }
}
