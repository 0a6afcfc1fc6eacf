import { type ChildProcess, spawn } from 'node:child_process';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Cleanup } from './cleanup.ts';

const READY_WITHIN_MS = 30_000;
const STOPPED_WITHIN_MS = 60_000;
/** Size of the kept output of a program, shown if it fails. */
const KEPT_OUTPUT = 8_192;

const running = new Set<ChildProcess>();
let isInterrupted = false;

/** Ends every program. Waits for one then fail, and its starter cleans up. */
export function interruptPrograms(): void {
  isInterrupted = true;
  // SIGTERM, because a gateway stops its Redis only in a clean stop.
  for (const child of running) child.kill('SIGTERM');
}

process.on('exit', interruptPrograms);

export interface Program {
  readonly pid: number;
  /** Sends SIGTERM. Rejects if the program then fails or doesn't end. Safe to call twice. */
  stop(): Promise<void>;
}

export interface Server extends Program {
  /** `http://host:port`. */
  readonly url: string;
}

/** Starts a Node program of ours that prints a line with its `"url"` when it listens. `cleanup` stops it. */
export async function startServer(
  cleanup: Cleanup,
  name: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<Server> {
  const { child, output, program } = launch(cleanup, name, process.execPath, args, env);
  const url = await ready(name, child, output, () => /"url":"([^"]+)"/.exec(output())?.[1]);
  return { ...program, url };
}

/** Starts a program that listens on the loopback port. Resolves when it accepts connections. `cleanup` stops it. */
export async function startListener(
  cleanup: Cleanup,
  command: string,
  args: readonly string[],
  port: number,
): Promise<Program> {
  const { child, output, program } = launch(cleanup, command, command, args, {});
  await ready(command, child, output, () => accepts(port));
  return program;
}

function launch(
  cleanup: Cleanup,
  name: string,
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
): { child: ChildProcess; output: () => string; program: Program } {
  const { PATH, NODE_OPTIONS } = process.env;
  const child = spawn(command, args, {
    env: { PATH, ...(NODE_OPTIONS ? { NODE_OPTIONS } : {}), ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => {
      output = (output + text).slice(-KEPT_OUTPUT);
    });
  }
  running.add(child);
  const gone = new Promise<string | undefined>((resolve) => {
    child.on('error', (error) => resolve(error.message));
    child.on('close', (code, signal) => resolve(code === 0 ? undefined : `ended with ${code ?? signal}`));
  });
  let stopping = false;
  const stop = async () => {
    stopping = true;
    child.kill('SIGTERM');
    const impatient = setTimeout(() => child.kill('SIGKILL'), STOPPED_WITHIN_MS);
    const failure = await gone;
    clearTimeout(impatient);
    if (failure && failure !== 'ended with SIGTERM') throw new Error(`${name} ${failure}:\n${output}`);
  };
  cleanup.add(stop);
  void gone.then((failure) => {
    running.delete(child);
    if (!stopping && !isInterrupted)
      process.stderr.write(`bench: ${name} ended on its own: ${failure ?? ''}\n${output}\n`);
  });
  return { child, output: () => output, program: { pid: child.pid ?? 0, stop } };
}

async function ready<T>(
  name: string,
  child: ChildProcess,
  output: () => string,
  ask: () => T | undefined | Promise<T | undefined>,
): Promise<T> {
  const deadline = Date.now() + READY_WITHIN_MS;
  for (;;) {
    const answer = await ask();
    if (answer !== undefined) return answer;
    const isGone = child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
    if (isGone || Date.now() > deadline) throw new Error(`${name} did not start:\n${output()}`);
    await sleep(20);
  }
}

function accepts(port: number): Promise<true | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1');
    socket.on('connect', () => resolve(true));
    socket.on('error', () => resolve(undefined));
    socket.on('connect', () => socket.destroy());
  });
}
