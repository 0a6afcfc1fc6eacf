import { closeSync, openSync } from 'node:fs';

/**
 * The two meanings of SIGHUP: a supervisor asks for the configuration to be read again, or the terminal that the
 * gateway was started from is gone. In the second case `/dev/tty` cannot be opened any more.
 */
export class HangupSignal {
  /** Resolves when the terminal is gone that the process was started from; never if there was none. */
  readonly terminalGone: Promise<void>;
  /** Called at each SIGHUP that asks for the configuration to be read again. */
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
