import { createHash } from 'node:crypto';
import { Cluster, type Command } from 'ioredis';
import { COMMAND_TIMEOUT_MS, type RedisClient } from './connect-redis.ts';
import { scriptText } from './scripts.ts';
import type { TickWriter } from './tick-writer.ts';

/** The scripts that every call runs. */
export type HotScript = 'admit' | 'settle';
export type ScriptArg = string | number;
export type Answered = (error: Error | null, reply: unknown) => void;

/** How often calls that wait for a reply are looked at; a lost one is noticed so much later than its time is up. */
const LOOK_EVERY_MS = 100;

/**
 * Sends the two scripts of the request path through ioredis' own connection and queue, as commands that carry no more
 * than these need: a command of its `defineCommand` makes three promises, a timer and copies of its arguments. An
 * admission took 8.1 µs of CPU that way, its reply included, and 6.9 so (the last of 200,000 each, eight at a time).
 * Whatever is not the plain way goes by way of the defined command: a cluster, which may redirect, and a Redis that
 * forgot the script.
 *
 * A reply that does not come within COMMAND_TIMEOUT_MS is a lost one, and `answered` gets an error: the caller must
 * assume nothing.
 */
export class ScriptSender {
  readonly #client: RedisClient;
  readonly #writer: TickWriter;
  readonly #prefix: string;
  readonly #scripts: Record<HotScript, Script>;
  /** Scripts that the server behind a connection has been sent whole. */
  readonly #known = new WeakMap<object, Set<HotScript>>();
  readonly #open = new Set<ScriptCall>();
  #watch: NodeJS.Timeout | undefined;

  constructor(client: RedisClient, writer: TickWriter) {
    this.#client = client;
    this.#writer = writer;
    this.#prefix = client.options.keyPrefix ?? '';
    this.#scripts = { admit: scriptOf('admit'), settle: scriptOf('settle') };
  }

  /** `keys` without the prefix. Calls back once, with the reply as `reply.toString()` and its likes can read it. */
  send(script: HotScript, keys: readonly string[], args: readonly ScriptArg[], answered: Answered): void {
    this.#writer.open();
    if (this.#client instanceof Cluster) {
      this.#sendDefined(script, keys, args, answered);
      return;
    }
    const textFor = (socket: object) => this.#textFor(socket, script, keys, args);
    const call = new ScriptCall(textFor, (error, reply) => {
      this.#open.delete(call);
      if (error?.message.startsWith('NOSCRIPT')) this.#sendDefined(script, keys, args, answered);
      else answered(error, reply);
    });
    this.#open.add(call);
    this.#watch ??= setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
    this.#client.sendCommand(call as unknown as Command);
  }

  #sendDefined(
    script: HotScript,
    keys: readonly string[],
    args: readonly ScriptArg[],
    answered: Answered,
  ): void {
    this.#client[script](...keys, ...args).then(
      (reply) => answered(null, reply),
      (error: Error) => answered(error, undefined),
    );
  }

  #look(): void {
    const overdue = performance.now() - COMMAND_TIMEOUT_MS;
    // In the order in which they were sent.
    for (const call of this.#open) {
      if (call.sentAt > overdue) return;
      call.reject(new Error('no reply in time'));
    }
    clearInterval(this.#watch);
    this.#watch = undefined;
  }

  /**
   * By its SHA, but whole the first time on a connection: what a killed gateway had sent must be done, and not be
   * answered that the script is not known.
   */
  #textFor(socket: object, script: HotScript, keys: readonly string[], args: readonly ScriptArg[]): string {
    let known = this.#known.get(socket);
    if (!known) {
      known = new Set();
      this.#known.set(socket, known);
    }
    const head = known.has(script) ? this.#scripts[script].bySha : this.#scripts[script].whole;
    known.add(script);
    // The command, the script and the number of keys stand before them.
    let text = `*${keys.length + args.length + 3}${head}${bulk(String(keys.length))}`;
    for (const key of keys) text += bulk(this.#prefix + key);
    for (const arg of args) text += bulk(String(arg));
    return text;
  }
}

/** What ioredis asks of a command that it sends: see its `Command`. */
class ScriptCall {
  readonly name = 'evalsha';
  readonly args: readonly string[] = [];
  readonly isTraced = true;
  readonly inTransaction = false;
  readonly promise = undefined;
  readonly sentAt = performance.now();
  isResolved = false;
  readonly #textFor: (socket: object) => string;
  readonly #answered: Answered;

  constructor(textFor: (socket: object) => string, answered: Answered) {
    this.#textFor = textFor;
    this.#answered = answered;
  }

  setReplyContext(): void {}

  /** One timer for all calls watches them: see `#look`. */
  setTimeout(): void {}

  toWritable(socket: object): string {
    return this.#textFor(socket);
  }

  resolve(reply: unknown): void {
    if (this.isResolved) return;
    this.isResolved = true;
    this.#answered(null, reply);
  }

  reject(error: Error): void {
    if (this.isResolved) return;
    this.isResolved = true;
    this.#answered(error, undefined);
  }
}

/** The beginning of a command that runs the script. */
interface Script {
  readonly bySha: string;
  readonly whole: string;
}

function scriptOf(name: HotScript): Script {
  const text = scriptText(name);
  const sha = createHash('sha1').update(text).digest('hex');
  return { bySha: `\r\n${bulk('evalsha')}${bulk(sha)}`, whole: `\r\n${bulk('eval')}${bulk(text)}` };
}

/** RESP bulk string. */
function bulk(text: string): string {
  return `$${Buffer.byteLength(text)}\r\n${text}\r\n`;
}
