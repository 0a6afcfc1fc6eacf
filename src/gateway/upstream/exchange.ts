import type { Dispatcher } from 'undici';
import type { Upload } from '../request/spool/upload.ts';

/** Receiver of the body of an upstream's answer: any number of calls of `data`, then one of `end` or `error`. */
export interface AnswerSink {
  /** Takes a part of the body. False asks for no more until the exchange's `resume()` is called. */
  data(chunk: Buffer): boolean;
  end(): void;
  error(error: Error): void;
}

/** One call to an upstream, from before it is sent until its answer has ended. */
export class Exchange implements Dispatcher.DispatchHandler {
  /** Request headers, name and value in turn. */
  headers: string[] = [];
  #controller: Dispatcher.DispatchController | undefined;
  #sink: AnswerSink | undefined;
  #cancelled: Error | undefined;
  #answered: ((error: Error | null, answer?: UpstreamAnswer) => void) | undefined;
  /** Callback for when the connection is free for another call; called once. */
  over: () => void = () => {};
  /** A request body in a file. It goes by this way because reply-from accepts no body that is read piece by piece. */
  upload: Upload | undefined;

  /** Callback of the transport, called once with the head of the answer or the reason why there is none. */
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

  /** Cancels the call; reply-from calls this when the client leaves before the answer. */
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
  /** The exchange itself, which reply-from hands on as the answer's `stream`. */
  readonly body: Exchange;
}
