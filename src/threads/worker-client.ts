import { parentPort, Worker } from 'node:worker_threads';

/** Rejection of a question to a thread that has ended; `cause` is the error that ended it, if one did. */
export class ThreadEnded extends Error {
  override readonly name = 'ThreadEnded';

  constructor(cause?: unknown) {
    super('The thread has ended.', { cause });
  }
}

type Numbered<Content> = readonly [id: number, content: Content];

interface PendingAnswer<Answer> {
  resolve(answer: Answer): void;
  reject(error: ThreadEnded): void;
}

/**
 * Client of a worker thread: each question gets one answer. Both are copied between threads, so they hold plain data
 * only. States: running → ended, by `close`, by an error in the worker, or from outside. The thread keeps the process
 * alive only while an answer is outstanding.
 */
export class WorkerClient<Question, Answer> {
  readonly #worker: Worker;
  readonly #pending = new Map<number, PendingAnswer<Answer>>();
  #lastId = 0;
  #ended: ThreadEnded | undefined;

  /**
   * Starts the worker `name`, a file beside the one whose `import.meta.url` is `from`: .ts in the sources, .js in the
   * build.
   */
  constructor(name: string, from: string) {
    const extension = from.endsWith('.ts') ? '.ts' : '.js';
    // No flags of this process: a thread can't start with some of them, such as `--input-type`.
    this.#worker = new Worker(new URL(`./${name}${extension}`, from), { execArgv: [] });
    this.#worker.on('message', (answer: Numbered<Answer>) => this.#settle(answer));
    let cause: unknown;
    this.#worker.on('error', (error) => {
      cause = error;
    });
    // 'exit' follows 'error'. It comes alone if something outside ended the thread.
    this.#worker.on('exit', () => {
      if (!this.#ended) this.#end(new ThreadEnded(cause));
    });
    this.#worker.unref();
  }

  /** Resolves with the worker's answer. Rejects with ThreadEnded if the thread ends first. */
  ask(question: Question): Promise<Answer> {
    if (this.#ended) return Promise.reject(this.#ended);
    const id = ++this.#lastId;
    return new Promise((resolve, reject) => {
      this.#worker.postMessage([id, question] satisfies Numbered<Question>);
      if (this.#pending.size === 0) this.#worker.ref();
      this.#pending.set(id, { resolve, reject });
    });
  }

  /** Ends the thread even if it is busy. Rejects outstanding questions at once. */
  async close(): Promise<void> {
    this.#end(new ThreadEnded());
    await this.#worker.terminate();
  }

  #settle([id, answer]: Numbered<Answer>): void {
    const pending = this.#pending.get(id);
    // The answer was under way when `close` rejected its question.
    if (!pending) return;
    this.#pending.delete(id);
    if (this.#pending.size === 0) this.#worker.unref();
    pending.resolve(answer);
  }

  #end(ended: ThreadEnded): void {
    this.#ended = ended;
    for (const { reject } of this.#pending.values()) reject(ended);
    this.#pending.clear();
  }
}

/**
 * Answers the questions of the WorkerClient, in order. Runs in the worker. If `answer` throws, the thread ends.
 */
export function answerQuestions<Question, Answer>(answer: (question: Question) => Answer): void {
  const port = parentPort;
  port?.on('message', ([id, question]: Numbered<Question>) => {
    port.postMessage([id, answer(question)] satisfies Numbered<Answer>);
  });
}
