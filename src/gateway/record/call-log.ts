import type { LoggedCalls } from '../../config/config.ts';
import { FewLines } from '../../log/few-lines.ts';
import type { Log } from '../../log/log.ts';

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

interface Logged {
  readonly line: CallLine;
  readonly isWarning: boolean;
  readonly message: string;
}

/** The operator's log of calls (specification section 14): few lines a second for an account and code. */
export class CallLog {
  readonly #log: Log;
  readonly #logged: LoggedCalls;
  readonly #lines = new FewLines<Logged>(({ line, isWarning, message }, repeated) => {
    this.#log[isWarning ? 'warn' : 'info'](repeated === undefined ? line : { ...line, repeated }, message);
  });

  constructor(log: Log, logged: LoggedCalls) {
    this.#log = log;
    this.#logged = logged;
  }

  /** `line` is only called if it is written. */
  refused(accountId: number | null, code: string, line: () => CallLine): void {
    if (this.#logged === 'none') return;
    this.#lines.add(`${accountId} ${code}`, () => ({
      line: line(),
      isWarning: false,
      message: 'call refused',
    }));
  }

  /** `isProviders`: the provider failed, refused the gateway's credential, or did not answer. */
  failed(line: CallLine, isProviders: boolean): void {
    if (this.#logged === 'none') return;
    const { accountId, code } = line;
    this.#lines.add(`${accountId} ${code}`, () => ({ line, isWarning: isProviders, message: 'call failed' }));
  }

  /** Whether successful calls are logged. */
  get hasAll(): boolean {
    return this.#logged === 'all';
  }

  completed(line: CallLine): void {
    this.#log.info(line, 'call completed');
  }
}
