import type { Dispatcher } from 'undici';
import type { Upload } from '../request/spool/spool.ts';

/** Receiver of the body of an upstream's answer: any number of calls of `data`, then one of `end` or `error`. */
export interface AnswerSink {
  /** Takes a part of the body. False asks for no more until the exchange's `resume()` is called. */
  data(chunk: Buffer): boolean;
  end(): void;
  error(error: Error): void;
}

/**
 * Bytes of an answer that wait for their turn before the upstream is paused: a piece that undici reads at once. For
 * each pause, it copies the rest of the piece, so that 60 streams at full speed that were paused for each part took 700
 * MB, mostly garbage.
 */
const LATE_MAX_BYTES = 16 * 1024;

/** Runs the work now or later, in the order of the calls. The work does not throw. */
type Pace = (work: () => void) => void;

const atOnce: Pace = (work) => work();

/** Called when the receiver of an answer pauses it, and when it resumes. */
interface FlowWatch {
  paused(): void;
  resumed(): void;
}

/** One call to an upstream, from before it is sent until its answer has ended. */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #pace: Pace;
  readonly #flow: FlowWatch | undefined;
  #isPaused = false;
  /** Parts of the answer that wait for their turn. */
  #parts: Buffer[] = [];
  #partBytes = 0;
  /** True if the upstream is to send no more until they have had it. */
  #isLate = false;
  /** Request headers, name and value in turn. */
  headers: string[] = [];
  /** Time at which the request began to go out, by `performance.now()`; undefined: nothing of it was sent. */
  sentAt: number | undefined;
  /** Longest wait for the head of the answer, 0 for no bound; undefined: as the connections have it. */
  headersTimeoutMs: number | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #sink: AnswerSink | undefined;
  #cancelled: Error | undefined;
  #answered: ((error: Error | null, answer?: UpstreamAnswer) => void) | undefined;
  /** Callback for when the connection is free for another call; called once. */
  over: () => void = () => {};
  /** A request body in a file. It goes by this way because reply-from accepts no body that is read piece by piece. */
  upload: Upload | undefined;

  /** `pace` is given the work that each part of an answer and its end make, of which a thousand may come together. */
  constructor(pace: Pace = atOnce, flow?: FlowWatch) {
    this.#pace = pace;
    this.#flow = flow;
  }

  /** Callback, called once with the head of the answer or the reason why there is none. Replaces the one before. */
  set answered(callback: (error: Error | null, answer?: UpstreamAnswer) => void) {
    this.#answered = callback;
  }

  /** Cancels the call at any stage; one that is not on the wire yet is never sent. */
  cancel(reason: Error): void {
    if (this.#cancelled) return;
    this.#cancelled = reason;
    this.#controller?.abort(reason);
  }

  /** Sends the body to `sink`. Must be called from within `answered`, or the first parts are lost. */
  pipe(sink: AnswerSink): void {
    this.#sink = sink;
  }

  resume(): void {
    if (this.#isPaused) {
      this.#isPaused = false;
      this.#flow?.resumed();
    }
    this.#controller?.resume();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#cancelled) controller.abort(this.#cancelled);
    else this.sentAt = performance.now();
  }

  onResponseStart(
    controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (statusCode < 200) return;
    // They would keep the piece that they came with as long as the exchange.
    controller.rawHeaders = null;
    this.#answer(null, { statusCode, headers, body: this });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (!this.#sink) return;
    this.#partBytes += chunk.length;
    if (this.#parts.push(chunk) === 1) this.#inTurn(() => this.#passOn(controller));
    else if (this.#partBytes > LATE_MAX_BYTES) {
      this.#isLate = true;
      controller.pause();
    }
  }

  /** Passes on the parts that wait for their turn. */
  #passOn(controller: Dispatcher.DispatchController): void {
    const parts = this.#parts;
    this.#parts = [];
    this.#partBytes = 0;
    const isLate = this.#isLate;
    this.#isLate = false;
    let isFlowing = true;
    for (const part of parts) isFlowing = this.#sink?.data(part) ?? true;
    if (!isFlowing) {
      controller.pause();
      this.#isPaused = true;
      this.#flow?.paused();
    } else if (isLate) controller.resume();
  }

  onResponseEnd(): void {
    this.over();
    this.#inTurn(() => this.#sink?.end());
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.over();
    this.#inTurn(() => {
      if (this.#answered) this.#answer(error);
      else this.#sink?.error(this.#cancelled ?? error);
    });
  }

  /** Cancels the call; reply-from calls this if the client left before the answer and nobody took the call over. */
  destroy(): void {
    this.cancel(new Error('the client left'));
  }

  #inTurn(work: () => void): void {
    this.#pace(() => {
      try {
        work();
      } catch (error) {
        this.cancel(error as Error);
      }
    });
  }

  #answer(error: Error | null, answer?: UpstreamAnswer): void {
    const answered = this.#answered;
    this.#answered = undefined;
    answered?.(error, answer);
  }
}

export interface UpstreamAnswer {
  readonly statusCode: number;
  readonly headers: Record<string, string | string[] | undefined>;
  /** The exchange itself, which reply-from hands on as the answer's `stream`. */
  readonly body: Exchange;
}
