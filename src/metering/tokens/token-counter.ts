import type { Log } from '../../log/log.ts';
import { type ThreadEnded, WorkerClient } from '../../threads/worker-client.ts';
import type { TokenAnswer, TokenQuestion } from './token-worker.ts';

/** Counts the tokens of a text; the first count may take 140 ms longer. */
export type CountTokens = (text: string) => Promise<number>;

/** UTF-16 units from which a text is sampled: about 250,000 tokens of English, and 0.2 s (at worst 3 s) of counting. */
const MAX_COUNTED_UNITS = 1 << 20;
/** UTF-16 units in the queue from which samples shrink, so that texts made to be slow cannot delay all settling. */
const MAX_WAITING_UNITS = 4 << 20;
/** The least that is sampled: 16 slices of 1,024 units. */
const MIN_SAMPLE_UNITS = 1 << 14;
/** Pause before a thread that ended is replaced, since what ended it may do so again. */
const RESTART_PAUSE_MS = 1_000;

/**
 * Tokens (o200k_base) of texts whose usage no upstream reported: specification section 5, "Missing". The ranks are
 * loaded in its own thread, only once a count is asked for: 140 ms and 80 MB that most gateways never pay.
 *
 * The thread: none → loading → answering → none again (ended; a later count starts another) or closed (final).
 * Questions sent while it loads wait in its mailbox. A count never fails, since a settle waits for it: without the
 * thread it is a quarter of the text's UTF-8 bytes.
 */
export class TokenCounter {
  readonly #log: Log;
  #waitingUnits = 0;
  #thread: WorkerClient<TokenQuestion, TokenAnswer> | undefined;
  #startNotBefore = 0;
  /** True after a failure was logged, until a count succeeds again. */
  #hasLoggedFailure = false;
  #closed = false;

  constructor({ log }: { log: Log }) {
    this.#log = log;
  }

  /**
   * Tokens of a text, ≥ 0; never rejects. Exact up to 1 MiB units, save for runs of over 256 letters, signs or spaces
   * (about one token too many in 256 units); extrapolated from a sample beyond, or sooner while much else is waiting.
   */
  async count(text: string): Promise<number> {
    if (text === '') return 0;
    const room = Math.max(MIN_SAMPLE_UNITS, MAX_WAITING_UNITS - this.#waitingUnits);
    const sample = sampleText(text, Math.min(MAX_COUNTED_UNITS, room));
    const byBytes = tokensByBytes(sample);
    const thread = this.#startedThread();
    if (!thread) return byBytes;
    const { slices, scale } = sample;
    const units = slices.reduce((sum, slice) => sum + slice.length, 0);
    this.#waitingUnits += units;
    const tokens = await thread.ask(slices).catch(() => undefined);
    this.#waitingUnits -= units;
    if (tokens === null) this.#logFailure({});
    if (typeof tokens !== 'number') return byBytes;
    this.#hasLoggedFailure = false;
    return Math.round(tokens * scale);
  }

  /** Ends the thread; counts under way and later ones are made from bytes. */
  async close(): Promise<void> {
    this.#closed = true;
    await this.#thread?.close();
  }

  #startedThread(): WorkerClient<TokenQuestion, TokenAnswer> | undefined {
    if (this.#closed) return undefined;
    if (!this.#thread && performance.now() >= this.#startNotBefore) {
      this.#thread = new WorkerClient('token-worker', import.meta.url, (ended) => this.#threadEnded(ended));
    }
    return this.#thread;
  }

  #threadEnded({ cause, code }: ThreadEnded): void {
    this.#logFailure({ err: cause, code });
    this.#startNotBefore = performance.now() + RESTART_PAUSE_MS;
    this.#thread = undefined;
  }

  #logFailure(details: object): void {
    if (this.#hasLoggedFailure) return;
    this.#hasLoggedFailure = true;
    this.#log.warn(
      details,
      'tokens cannot be counted; they are taken as a quarter of the bytes until they can',
    );
  }
}

/** The part of a text that is counted: all of it, or slices spread evenly over it. */
interface TokenSample {
  readonly slices: readonly string[];
  /** How many times the length of the slices the text is long; 1 if they are the whole text. */
  readonly scale: number;
}

const SLICES = 16;

/**
 * A sample of at most `maxUnits` UTF-16 units (≥ 16). Spread out and not the beginning, because the beginning of a
 * long text (instructions, a license, a list of imports) is seldom like the rest. The places are fixed by the
 * length, so that the same text gives the same sample.
 */
function sampleText(text: string, maxUnits: number): TokenSample {
  if (text.length <= maxUnits) return { slices: [text], scale: 1 };
  const sliceUnits = Math.floor(maxUnits / SLICES);
  const step = (text.length - sliceUnits) / (SLICES - 1);
  const slices = Array.from({ length: SLICES }, (_, index) => {
    const start = Math.floor(index * step);
    return text.slice(start, start + sliceUnits);
  });
  return { slices, scale: text.length / (SLICES * sliceUnits) };
}

/** Tokens of the sampled text if no tokenizer can be asked: a token is about four bytes of UTF-8. */
function tokensByBytes({ slices, scale }: TokenSample): number {
  const bytes = slices.reduce((sum, slice) => sum + Buffer.byteLength(slice), 0);
  return Math.ceil((bytes * scale) / 4);
}
