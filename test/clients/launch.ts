import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, readFileSync } from 'node:fs';
import { endWithProcess } from '../helper/start/end-with-process.ts';
import type { Command } from './clients.ts';

/** A running client. */
export interface Run {
  /** Everything that it has written. */
  output(): string;
  /** When the words first appeared in its output, in milliseconds of `performance.now`. Undefined: never. */
  shownAtMs(words: RegExp | string): number | undefined;
  /** Sends the signal to it and to its children. */
  kill(signal: NodeJS.Signals): void;
  /** Its exit code; null if a signal ended it. */
  readonly ended: Promise<number | null>;
}

/** Only letters and digits, because a client may break words into lines, quote them or color them. */
export function lettersOf(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the codes of terminals begin with one
  return text.replace(/\x1b\[[0-9;?]*[a-zA-Z]/g, '').replace(/\\u[0-9a-f]{4}|[^a-zA-Z0-9]/g, '');
}

/** Starts a client without a terminal, with only the environment variables that programs need. */
export function launch({ argv: [program, ...args], env }: Command, home: string): Run {
  const { PATH, LANG = 'C.UTF-8', TMPDIR } = process.env;
  const child = spawn(program, args, {
    cwd: home,
    // Its own process group, so that its children end with it.
    detached: true,
    env: { PATH, LANG, ...(TMPDIR && { TMPDIR }), HOME: home, NO_COLOR: '1', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  endWithProcess(child);
  const written: { readonly text: string; readonly atMs: number }[] = [];
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
      written.push({ text: output, atMs: performance.now() });
    });
  }
  const ended = once(child, 'close').then(([code]) => code as number | null);
  return {
    output: () => output,
    shownAtMs(words) {
      const shows = (text: string) =>
        typeof words === 'string' ? lettersOf(text).includes(lettersOf(words)) : words.test(text);
      return shows(output) ? written.find(({ text }) => shows(text))?.atMs : undefined;
    },
    kill(signal) {
      try {
        process.kill(-(child.pid as number), signal);
      } catch {
        // It has ended.
      }
    },
    ended,
  };
}

/**
 * Stops processes that clients with this home left running, such as the server that Cline's runs share. Linux only,
 * because it needs the environment of other processes.
 */
export function endLeftovers(home: string): void {
  for (const file of globSync('/proc/[0-9]*/environ')) {
    try {
      if (!readFileSync(file, 'utf8').split('\0').includes(`HOME=${home}`)) continue;
      process.kill(Number(file.split('/')[2]), 'SIGKILL');
    } catch {
      // It has ended, or belongs to somebody else.
    }
  }
}
