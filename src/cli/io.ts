import { AsyncLocalStorage } from 'node:async_hooks';
import { readFileSync } from 'node:fs';

interface Output {
  readonly isTTY?: boolean | undefined;
  write(text: string): unknown;
}

/** What a command reads and writes besides its arguments: in the program, those of the process. */
export interface Io {
  readonly env: NodeJS.ProcessEnv;
  readonly stdout: Output;
  readonly stderr: Output;
  /** Reads stdin to its end. */
  readInput(): string;
}

const STDIN = 0;

export const PROCESS_IO: Io = {
  env: process.env,
  stdout: process.stdout,
  stderr: process.stderr,
  readInput: () => readFileSync(STDIN, 'utf8'),
};

const current = new AsyncLocalStorage<Io>();

/** Runs a command with its own input and output. Several can run in one process, as in tests. */
export function withIo<Result>(io: Io, command: () => Result): Result {
  return current.run(io, command);
}

/** Input and output of the running command. */
export function io(): Io {
  return current.getStore() ?? PROCESS_IO;
}
