import type { LoggedCalls } from '../../config/config.ts';
import type { Log } from '../../log/log.ts';

/** Lines per key and code in a second; one more line counts the rest. */
const LINES_PER_SECOND = 5;
const SECOND_MS = 1_000;

export interface CallLine {
  readonly reqId: string;
  /** Null if the value is no key. */
  readonly accountId: number | null;
  readonly keyId: number | null;
  readonly model: string | null;
  readonly endpoint: string;
  readonly status: number;
  /** Null for a successful call. */
  readonly code: string | null;
  readonly upstream: string | null;
  readonly upstreamStatus: number | null;
  readonly ms: number;
}

interface Count {
  lines: number;
  /** The first call without a line, and the number of such calls. */
  next: { line: CallLine; isWarning: boolean; message: string } | undefined;
  repeated: number;
}

/** The operator's log of calls (specification section 14). */
export class CallLog {
  readonly #log: Log;
  readonly #logged: LoggedCalls;
  #counts = new Map<string, Count>();
  #timer: NodeJS.Timeout | undefined;

  constructor(log: Log, logged: LoggedCalls) {
    this.#log = log;
    this.#logged = logged;
  }

  /** `line` is only called if it is written: in a flood, most calls are only counted. */
  refused(keyId: number | null, code: string, line: () => CallLine): void {
    if (this.#logged !== 'none') this.#write(`${keyId} ${code}`, line, false, 'call refused');
  }

  /** `isProviders`: the provider failed, refused the gateway's credential, or did not answer. */
  failed(line: CallLine, isProviders: boolean): void {
    const name = `${line.keyId} ${line.code}`;
    if (this.#logged !== 'none') this.#write(name, () => line, isProviders, 'call failed');
  }

  /** Whether successful calls are logged. */
  get hasAll(): boolean {
    return this.#logged === 'all';
  }

  completed(line: CallLine): void {
    this.#log.info(line, 'call completed');
  }

  #write(name: string, line: () => CallLine, isWarning: boolean, message: string): void {
    let count = this.#counts.get(name);
    if (!count) {
      count = { lines: 0, next: undefined, repeated: 0 };
      this.#counts.set(name, count);
    }
    // A second begins with its first line.
    this.#timer ??= setTimeout(() => this.#secondEnded(), SECOND_MS).unref();
    if (count.lines < LINES_PER_SECOND) {
      count.lines++;
      this.#line(line(), isWarning, message);
      return;
    }
    count.next ??= { line: line(), isWarning, message };
    count.repeated++;
  }

  #secondEnded(): void {
    const counts = this.#counts;
    this.#counts = new Map();
    this.#timer = undefined;
    for (const { next, repeated } of counts.values()) {
      if (next) this.#line({ ...next.line, repeated }, next.isWarning, next.message);
    }
  }

  #line(line: CallLine & { readonly repeated?: number }, isWarning: boolean, message: string): void {
    if (isWarning) this.#log.warn(line, message);
    else this.#log.info(line, message);
  }
}
