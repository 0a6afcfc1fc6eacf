import type { Log } from '../../log/log.ts';
import { type ThreadEnded, WorkerClient } from '../../threads/worker-client.ts';
import type { TokenAnswer, TokenQuestion } from './token-worker.ts';

/** Counts the tokens of a text; the first count may take 140 ms longer. */
export type CountTokens = (text: string) => Promise<number>;

/**
 * UTF-16 units above which a text is sampled: about 250,000 tokens of English, and 0.2 s (at worst 3 s) of counting.
 */
const MAX_COUNTED_UNITS = 1 << 20;
/** Queued UTF-16 units above which samples shrink, so texts made to be slow can't delay all settling. */
const MAX_WAITING_UNITS = 4 << 20;
/** Smallest sample: 16 slices of 1,024 units. */
const MIN_SAMPLE_UNITS = 1 << 14;
/** Pause before replacing a thread that ended, since the cause may recur. */
const RESTART_PAUSE_MS = 1_000;

/**
 * Counts tokens (o200k_base) of texts without reported usage (specification section 5, "Missing"). A separate thread
 * loads the ranks on the first count: 140 ms and 80 MB that most gateways never pay.
 *
 * Thread states: none → loading → answering → none (ended; a later count starts another) or closed (final). Requests
 * sent during loading wait in its mailbox. A count never fails, since a settle waits for it: without the thread, it is
 * a quarter of the text's UTF-8 bytes.
 */
export class TokenCounter {
  readonly #log: Log;
  #waitingUnits = 0;
  #thread: WorkerClient<TokenQuestion, TokenAnswer> | undefined;
  #startNotBefore = 0;
  /** A failure was logged, and no count has succeeded since. */
  #hasLoggedFailure = false;
  #closed = false;

  constructor({ log }: { log: Log }) {
    this.#log = log;
  }

  /**
   * Tokens of a text, ≥ 0; never rejects. Exact up to 1 MiB units, except for runs of over 256 letters, signs or spaces
   * (about one extra token per 256 units). Extrapolated from a sample beyond that, or earlier if the queue is long.
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

  /** Ends the thread; pending and later counts use bytes. */
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
    this.#log.warn(details, 'failed to count tokens; estimating a quarter of the bytes until it works again');
  }
}

/** The counted part of a text: all of it, or slices spread evenly over it. */
interface TokenSample {
  readonly slices: readonly string[];
  /** Length of the text divided by that of the slices; 1 if they are the whole text. */
  readonly scale: number;
}

const SLICES = 16;

/**
 * Samples at most `maxUnits` UTF-16 units (≥ 16), spread out because the beginning of a long text (instructions, a
 * license, imports) is seldom typical. The length fixes the positions, so the same text gives the same sample.
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

/** Tokens of a sampled text without a tokenizer: one per four bytes of UTF-8. */
function tokensByBytes({ slices, scale }: TokenSample): number {
  const bytes = slices.reduce((sum, slice) => sum + Buffer.byteLength(slice), 0);
  return Math.ceil((bytes * scale) / 4);
}
