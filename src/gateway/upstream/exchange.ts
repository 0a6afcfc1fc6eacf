import type { Dispatcher } from 'undici';

/** Receiver of the body of an upstream's answer: any number of calls of `data`, then one of `end` or `error`. */
export interface AnswerSink {
  /** Takes a part of the body. False asks for no more until the exchange's `resume()` is called. */
  data(chunk: Buffer): boolean;
  end(): void;
  error(error: Error): void;
}

/** Called when the receiver of an answer pauses it, and when it resumes. */
interface FlowWatch {
  paused(): void;
  resumed(): void;
}

/** One call to an upstream, from before it is sent until its answer has ended. */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #flow: FlowWatch | undefined;
  #isPaused = false;
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

  constructor(flow?: FlowWatch) {
    this.#flow = flow;
  }

  /** Callback, called once with the head of the answer or the reason why there is none. */
  set answered(callback: (error: Error | null, answer?: UpstreamAnswer) => void) {
    this.#answered = callback;
  }

  /**
   * Cancels the call at any stage. One that is not on the wire yet is never sent, and is answered at once: a credential
   * or a connection that it waits for may never come.
   */
  cancel(reason: Error): void {
    if (this.#cancelled) return;
    this.#cancelled = reason;
    if (this.#controller) this.#controller.abort(reason);
    else this.#answer(reason);
  }

  get isCancelled(): boolean {
    return this.#cancelled !== undefined;
  }

  /**
   * Sends the body, or the rest of it, to `sink`. Must be called from within `answered`, or the first parts are lost, and
   * can be called again from within the sink.
   */
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
    // rawHeaders pins the read buffer until the exchange ends.
    controller.rawHeaders = null;
    this.#answer(null, { statusCode, headers, body: this });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#orCancel(() => {
      if (this.#sink?.data(chunk) !== false) return;
      controller.pause();
      this.#isPaused = true;
      this.#flow?.paused();
    });
  }

  onResponseEnd(): void {
    this.over();
    this.#orCancel(() => this.#sink?.end());
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.over();
    this.#orCancel(() => {
      if (this.#answered) this.#answer(error);
      else this.#sink?.error(this.#cancelled ?? error);
    });
  }

  #orCancel(work: () => void): void {
    try {
      work();
    } catch (error) {
      this.cancel(error as Error);
    }
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
  readonly body: Exchange;
}
