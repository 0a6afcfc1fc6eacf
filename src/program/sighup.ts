import { closeSync, openSync } from 'node:fs';

/**
 * SIGHUP has two meanings: a supervisor asks for the configuration to be read again, or the terminal that the gateway was
 * started from is gone. The second is told by the terminal itself, which can then not be opened any more.
 */
export class HangupSignal {
  /** Resolves when the terminal that there was is gone. */
  readonly terminalGone: Promise<void>;
  /** Called at each SIGHUP of the first kind. */
  onReload: () => void = () => {};

  constructor() {
    const hadTerminal = hasTerminal();
    const gone = Promise.withResolvers<void>();
    this.terminalGone = gone.promise;
    process.on('SIGHUP', () => (hadTerminal && !hasTerminal() ? gone.resolve() : this.onReload()));
  }
}

function hasTerminal(): boolean {
  try {
    closeSync(openSync('/dev/tty', 'r'));
    return true;
  } catch {
    return false;
  }
}
