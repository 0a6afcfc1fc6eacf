import type { Model } from '../../domain/catalog.ts';
import type { Usage } from '../../domain/ledger-entry.ts';
import { MemberScanner } from './member-scanner.ts';
import type { StreamMeter, Verdict } from './meter.ts';
import { isPricedByToken } from './priced-by-token.ts';
import { reportedTokens } from './reported-tokens.ts';
import { saysDone } from './sse-event.ts';

const COMPLETED = /^image_(generation|edit)\.completed$/;
const PARTIAL = /^image_(generation|edit)\.partial_image$/;

/**
 * Reads a stream of pictures: events `image_generation.partial_image` and `image_generation.completed` (`image_edit.…`), the
 * latter with `usage`. An event can be megabytes long and then comes in pieces; only its `type` and `usage` are kept.
 */
export class ImageStream implements StreamMeter {
  readonly #model: Model;
  readonly #asked: number;
  #completed = 0;
  /** A picture was begun that is not completed. */
  #isBegun = false;
  #tokens: Usage | undefined;
  #failed = false;
  #scanner: MemberScanner | undefined;

  constructor(model: Model, asked: number) {
    this.#model = model;
    this.#asked = asked;
  }

  /** Pictures that came, and the one whose first sketches came: the provider makes and bills it all the same. */
  get usage(): Usage | undefined {
    if (this.#failed && this.#images === 0) return undefined;
    if (!this.#tokens && isPricedByToken(this.#model)) return undefined;
    return { images: this.#images, ...this.#tokens };
  }

  /** Only the pictures that came, of all that were asked for. */
  corrected(estimate: Usage): Usage {
    const images = this.#images;
    return { ...estimate, images, output: this.#model.maxOutputTokens * images };
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

  event(event: string): Verdict {
    if (this.#scanner) this.#scanner.push(Buffer.from(event, 'latin1'));
    else {
      if (saysDone(event)) return 'end';
      const data = /(?:^|[\r\n])data:/.exec(event);
      if (!data) return 'pass';
      this.#scanner = new MemberScanner(['type', 'usage', 'error']);
      this.#scanner.push(Buffer.from(event.slice(data.index + data[0].length), 'latin1'));
    }
    // JSON holds no bare line break, so this is the end of the event and not of a piece of it.
    return /[\r\n]$/.test(event) ? this.#eventEnded(this.#scanner) : 'pass';
  }

  #eventEnded(scanner: MemberScanner): Verdict {
    this.#scanner = undefined;
    const type = String(scanner.value('type'));
    if (type === 'error' || scanner.value('error')) {
      this.#failed = true;
      return 'end';
    }
    if (PARTIAL.test(type)) this.#isBegun = true;
    if (!COMPLETED.test(type)) return 'pass';
    this.#completed++;
    this.#isBegun = false;
    this.#add(reportedTokens(scanner.value('usage')));
    return this.#completed >= this.#asked ? 'end' : 'pass';
  }

  get #images(): number {
    return this.#completed + (this.#isBegun ? 1 : 0);
  }

  #add(tokens: Usage | undefined): void {
    if (!tokens) return;
    const before = this.#tokens ?? {};
    this.#tokens = {
      input: (before.input ?? 0) + (tokens.input ?? 0),
      cachedInput: (before.cachedInput ?? 0) + (tokens.cachedInput ?? 0),
      output: (before.output ?? 0) + (tokens.output ?? 0),
    };
  }
}
