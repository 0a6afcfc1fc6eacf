import type { Dispatcher } from 'undici';
import type { Upload } from '../request/spool/upload.ts';

/** Receiver of an upstream's answer. Called in order: any number of `data`, then one `end` or `error`. */
export interface AnswerSink {
  /** False: no more until `resume()`. */
  data(chunk: Buffer): boolean;
  end(): void;
  error(error: Error): void;
}

/** One call to an upstream, from before it is sent until its answer has ended. */
export class Exchange implements Dispatcher.DispatchHandler {
  /** Request headers: name, value, name, value … */
  headers: string[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #sink: AnswerSink | undefined;
  #cancelled: Error | undefined;
  #answered: ((error: Error | null, answer?: UpstreamAnswer) => void) | undefined;
  /** Called once, when the connection is free for another call. */
  over: () => void = () => {};
  /** A body that is kept in a file; reply-from takes none that is read piece by piece. */
  upload: Upload | undefined;

  /** Set by the transport: called once, with the head of the answer or the reason why there is none. */
  set answered(callback: (error: Error | null, answer?: UpstreamAnswer) => void) {
    this.#answered = callback;
  }

  /** Cancels the call at any stage; one that is not on the wire yet is never sent. */
  cancel(reason: Error): void {
    if (this.#cancelled) return;
    this.#cancelled = reason;
    this.#controller?.abort(reason);
  }

  /** Must be called from within `answered`, or parts are lost. */
  pipe(sink: AnswerSink): void {
    this.#sink = sink;
  }

  resume(): void {
    this.#controller?.resume();
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    this.#controller = controller;
    if (this.#cancelled) controller.abort(this.#cancelled);
  }

  onResponseStart(
    _controller: Dispatcher.DispatchController,
    statusCode: number,
    headers: Record<string, string | string[] | undefined>,
  ): void {
    if (statusCode < 200) return;
    this.#answer(null, { statusCode, headers, body: this });
  }

  onResponseData(controller: Dispatcher.DispatchController, chunk: Buffer): void {
    if (this.#sink && !this.#sink.data(chunk)) controller.pause();
  }

  onResponseEnd(): void {
    this.over();
    this.#sink?.end();
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.over();
    if (this.#answered) this.#answer(error);
    else this.#sink?.error(this.#cancelled ?? error);
  }

  /** reply-from calls this when the client left before the answer. */
  destroy(): void {
    this.cancel(new Error('the client left'));
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
  /** Passed on by reply-from as `stream`. */
  readonly body: Exchange;
}
