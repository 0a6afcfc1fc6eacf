import { createHash } from 'node:crypto';
import { Cluster, type Command } from 'ioredis';
import { COMMAND_TIMEOUT_MS, type RedisClient } from './connect-redis.ts';
import { KEYS_OF, scriptText } from './scripts.ts';
import type { TickWriter } from './tick-writer.ts';

/** The scripts that every call runs. */
export type HotScript = 'admit' | 'settle';

/** Names (without the prefix) and arguments of one of them; all but `record` is ASCII. */
export interface HotCommand {
  readonly keys: readonly string[];
  readonly id: string;
  /** Several values with spaces between: see the script. */
  readonly numbers: string;
  readonly record: string;
}

/** Called once. The reply: an integer, or strings and lists of them as Buffers, which `String()` can read. */
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

  send(script: HotScript, command: HotCommand, answered: Answered): void {
    this.#writer.open();
    if (this.#client instanceof Cluster) {
      this.#sendDefined(script, command, answered);
      return;
    }
    const call = new ScriptCall(this, script, command, answered);
    this.#open.add(call);
    this.#watch ??= setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
    this.#client.sendCommand(call as unknown as Command);
  }

  /** A call of `send` has its answer. */
  answer(call: ScriptCall, error: Error | null, reply: unknown): void {
    this.#open.delete(call);
    if (error?.message.startsWith('NOSCRIPT')) this.#sendDefined(call.script, call.command, call.answered);
    else call.answered(error, reply);
  }

  #sendDefined(script: HotScript, { keys, id, numbers, record }: HotCommand, answered: Answered): void {
    this.#client[script](...keys, id, numbers, record).then(
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
   * The command on the wire. The script goes by its SHA, but whole the first time on a connection: what a killed gateway
   * had sent must be done, and not be answered that the script is not known.
   */
  textFor(socket: object, script: HotScript, { keys, id, numbers, record }: HotCommand): string {
    const prefix = this.#prefix;
    let text = this.#isKnown(socket, script) ? this.#scripts[script].bySha : this.#scripts[script].whole;
    for (const key of keys) text += `$${prefix.length + key.length}\r\n${prefix}${key}\r\n`;
    return `${text}$${id.length}\r\n${id}\r\n$${numbers.length}\r\n${numbers}\r\n${bulk(record)}`;
  }

  #isKnown(socket: object, script: HotScript): boolean {
    const known = this.#known.get(socket);
    if (known?.has(script)) return true;
    if (known) known.add(script);
    else this.#known.set(socket, new Set([script]));
    return false;
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
  readonly script: HotScript;
  readonly command: HotCommand;
  readonly answered: Answered;
  readonly #sender: ScriptSender;

  constructor(sender: ScriptSender, script: HotScript, command: HotCommand, answered: Answered) {
    this.#sender = sender;
    this.script = script;
    this.command = command;
    this.answered = answered;
  }

  setReplyContext(): void {}

  /** One timer for all calls watches them: see `#look`. */
  setTimeout(): void {}

  toWritable(socket: object): string {
    return this.#sender.textFor(socket, this.script, this.command);
  }

  resolve(reply: unknown): void {
    if (this.isResolved) return;
    this.isResolved = true;
    this.#sender.answer(this, null, reply);
  }

  reject(error: Error): void {
    if (this.isResolved) return;
    this.isResolved = true;
    this.#sender.answer(this, error, undefined);
  }
}

/** The beginning of a command that runs the script, up to its first name. */
interface Script {
  readonly bySha: string;
  readonly whole: string;
}

/** Arguments of a hot script: see HotCommand. */
const ARGUMENTS = 3;

function scriptOf(name: HotScript): Script {
  const text = scriptText(name);
  const sha = createHash('sha1').update(text).digest('hex');
  const keys = KEYS_OF[name];
  // The command, the script and the number of keys stand before them.
  const head = (command: string, script: string) =>
    `*${3 + keys + ARGUMENTS}\r\n${bulk(command)}${bulk(script)}${bulk(String(keys))}`;
  return { bySha: head('evalsha', sha), whole: head('eval', text) };
}

/** RESP bulk string. */
function bulk(text: string): string {
  return `$${Buffer.byteLength(text)}\r\n${text}\r\n`;
}
