import { type ChildProcessByStdio, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { endLeftovers } from '../../../src/redis-server/leftover.ts';
import { socketPathFor } from '../../../src/redis-server/socket.ts';
import { untilServed } from '../check/until.ts';
import { endWithProcess } from './end-with-process.ts';
import { log } from './ledger.ts';
import type { Scope } from './scope.ts';

/** The build, as users run it; `npm test` makes it. */
const DIST = fileURLToPath(new URL('../../../dist', import.meta.url));

export const ADMIN_TOKEN = 'operator-token-for-the-tests';

export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly output: string;
  readonly errors: string;
}

/** A gateway in its own process. */
export interface GatewayProcess {
  readonly url: string;
  readonly pid: number;
  /** Everything that it has logged until now. */
  output(): string;
  ended: Promise<Ended>;
  /** Sends SIGTERM; resolves when the process is gone. */
  stop(): Promise<Ended>;
  /** Sends SIGKILL; resolves when the process is gone. */
  kill(): Promise<Ended>;
  api(
    method: string,
    path: string,
    token: string,
    body?: unknown,
    headers?: Record<string, string>,
  ): Promise<Response>;
  /** Sends `POST /v1/chat/completions` with the model `flat` (1 credit a request), unless the body names another. */
  chat(key: string, body?: Record<string, unknown>): Promise<Response>;
  /** `chat`, repeated while it gets 503. For tests that aren't about a late Redis. */
  served(key: string, body?: Record<string, unknown>): Promise<Response>;
}

/** A data folder and an environment for gateways. Removed after the test, together with leftover servers. */
export interface Place {
  readonly dataDir: string;
  readonly env: NodeJS.ProcessEnv;
}

/**
 * Makes a data folder and a config file with the models `flat` (1 credit a request) and `tokens` (1 credit per 1,000
 * input and 2 per 1,000 output tokens) at the upstream. `more` is the text of further sections of the config file.
 */
export function makePlace(t: Scope, upstreamUrl: string, env: NodeJS.ProcessEnv = {}, more = ''): Place {
  const folder = mkdtempSync(join(tmpdir(), 'tollgate-process-'));
  const dataDir = join(folder, 'data');
  const config = join(folder, 'gateway.yaml');
  const model = 'upstream: test, category: text, maxOutputTokens: 1000';
  writeFileSync(
    config,
    `alerts: { allowPrivateNetworks: true }
upstreams: { test: { url: "${upstreamUrl}", apiKey: secret, format: openai } }
models:
  flat: { ${model}, price: { request: 1 } }
  tokens: { ${model}, price: { input: 1000, output: 2000 } }
${more}`,
  );
  t.teardown(async () => {
    if (existsSync(join(dataDir, 'redis'))) await endLeftovers(socketPathFor(join(dataDir, 'redis')), log);
    rmSync(folder, { recursive: true, force: true });
  });
  return { dataDir, env: { TOLLGATE_CONFIG: config, TOLLGATE_DATA: dataDir, ...env } };
}

/** Runs a program of src to its end. Of this process' environment, it gets only PATH and Node's compile cache. */
export async function run(
  program: string,
  env: NodeJS.ProcessEnv,
  args: readonly string[] = [],
  input = '',
): Promise<Ended> {
  const child = launch(program, env, args);
  child.stdin.end(input);
  return await endOf(child).ended;
}

/** Starts a gateway and waits until it listens. Rejects with its output if it ends instead. */
export async function startGatewayProcess(t: Scope, place: Place): Promise<GatewayProcess> {
  const child = launch('main.js', place.env);
  const { ended, output } = endOf(child);
  t.teardown(async () => {
    child.kill('SIGKILL');
    await ended;
  });
  const url = await Promise.race([
    listening(child, output),
    ended.then(({ code, errors }) => {
      throw new Error(`the gateway ended with ${code}: ${errors}`);
    }),
  ]);
  const signal = (name: NodeJS.Signals) => {
    child.kill(name);
    return ended;
  };
  return {
    url,
    pid: child.pid as number,
    output,
    ended,
    stop: () => signal('SIGTERM'),
    kill: () => signal('SIGKILL'),
    ...actionsOn(url),
  };
}

type Child = ChildProcessByStdio<Writable, Readable, Readable>;

/**
 * To idle in less memory, a gateway keeps the young generation small while it starts (main.ts), then collects all
 * garbage (gateway-process.ts). A larger young generation and a single thread for garbage collection save a tenth of
 * the processor time of a start; no collection at the end, which `--expose-gc` prevents, saves an eighth. Set
 * `NODE_OPTIONS`, even to "", to start a gateway as deployed, for tests that measure its memory.
 */
const QUICK_START = ['--single-threaded-gc', '--min-semi-space-size=16', '--expose-gc'];

function launch(program: string, env: NodeJS.ProcessEnv, args: readonly string[] = []): Child {
  const { PATH, NODE_COMPILE_CACHE } = process.env;
  const defaults = { PATH, NODE_COMPILE_CACHE, PORT: '0', ADMIN_TOKEN };
  const options = env.NODE_OPTIONS === undefined ? QUICK_START : [];
  const child = spawn(process.execPath, [...options, join(DIST, program), ...args], {
    env: { ...defaults, ...env },
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  endWithProcess(child);
  return child;
}

function endOf(child: Child): { ended: Promise<Ended>; output: () => string } {
  let output = '';
  let errors = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    errors += text;
  });
  const ended = once(child, 'close').then(([code, signal]) => ({ code, signal, output, errors }));
  return { ended, output: () => output };
}

function listening(child: Child, output: () => string): Promise<string> {
  return new Promise((resolve) => {
    const look = () => {
      const url = /^\{"msg":"listening","url":"([^"]+)"\}$/m.exec(output())?.[1];
      if (!url) return;
      child.stdout.off('data', look);
      resolve(url);
    };
    child.stdout.on('data', look);
  });
}

/** Requests to a gateway at an address. */
export function actionsOn(url: string): Pick<GatewayProcess, 'api' | 'chat' | 'served'> {
  const api: GatewayProcess['api'] = (method, path, token, body, headers = {}) =>
    fetch(`${url}${path}`, {
      method,
      headers: {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
  const chat: GatewayProcess['chat'] = (key, body = {}) =>
    api('POST', '/v1/chat/completions', key, {
      model: 'flat',
      messages: [{ role: 'user', content: 'Hello' }],
      ...body,
    });
  return { api, chat, served: (key, body) => untilServed('a call', () => chat(key, body)) };
}
