import { createHash } from 'node:crypto';
import { Cluster, type Command } from 'ioredis';
import type { RedisClock } from './clock.ts';
import { admitWithinMs, COMMAND_TIMEOUT_MS, type RedisClient } from './connect.ts';
import { KEYS_OF, scriptText } from './scripts.ts';
import type { TickWriter } from './tick-writer.ts';

/** Names of the scripts that every call runs. */
type HotScript = 'admit' | 'settle';

/** Redis keys (without the prefix) and arguments of a hot script; all but `record` is ASCII. */
export interface HotCommand {
  readonly bucket: number;
  readonly keys: readonly string[];
  readonly id: string;
  /** Several values with spaces between: see the script. */
  readonly numbers: string;
  readonly record: string;
}

/** Callback for a reply, called once. `reply`: an integer, or strings and lists of them as Buffers, which `String()` can read. */
type OnReply = (error: Error | null, reply: unknown) => void;

/** Pause between looks for overdue replies; a lost reply is noticed at most this much after its time is up. */
const LOOK_EVERY_MS = 100;
/** Most calls that one script serves: it keeps Redis from everything else for about half a millisecond. */
const BATCH = 32;

/**
 * Sends the two scripts of the request path: all admissions of a tick as one command, all its settles as another, each
 * call with its own reply. They go through ioredis' own connection and queue, as a stand-in for its command that
 * carries no more than these two scripts need (`Batch`).
 *
 * CPU of this process for each call's settle, in µs (medians of 7 runs of 30,000 on a private Redis; a whole call takes
 * some 170 and sends two such scripts):
 *
 * | calls in a batch | `Batch` | `client.evalsha` once a batch | a subclass of ioredis' Command |
 * |---|---|---|---|
 * | 1 | 32.2 | 39.7 | 35.2 |
 * | 8 | 7.3 | 10.0 | 9.7 |
 * | 32 | 4.2 | 5.2 | 5.1 |
 *
 * So the public way costs 3 to 9 % of a call's CPU; nor does it tell when the reply of a batch that was given up comes
 * at last (`late`). The price is that ioredis is pinned to the very version whose commands `Batch` stands in for, and
 * test/ledger/redis/script-sender.test.ts holds its members to what that version reads.
 *
 * Other situations go by the defined command, one call each: a cluster, where a command may touch one slot only and may
 * be redirected, and a Redis that forgot the script.
 *
 * A reply that does not come within `timeoutMs` counts as lost, and `onReply` gets an error: the caller must assume
 * nothing. An admission says when that is, so that it is refused if Redis executes it later (lua/admit.lua).
 */
export class ScriptSender {
  readonly #client: RedisClient;
  readonly #writer: TickWriter;
  readonly #clock: Pick<RedisClock, 'now'>;
  readonly #timeoutMs: number;
  readonly #admitWithinMs: number;
  readonly #scripts: Record<HotScript, Script>;
  readonly #open = new Set<Batch>();
  #late = 0;
  #watch: NodeJS.Timeout | undefined;

  constructor(
    client: RedisClient,
    writer: TickWriter,
    clock: Pick<RedisClock, 'now'>,
    timeoutMs = COMMAND_TIMEOUT_MS,
  ) {
    this.#client = client;
    this.#writer = writer;
    this.#clock = clock;
    this.#timeoutMs = timeoutMs;
    this.#admitWithinMs = Math.floor(admitWithinMs(timeoutMs));
    const prefix = client.options.keyPrefix ?? '';
    this.#scripts = { admit: new Script('admit', prefix), settle: new Script('settle', prefix) };
  }

  send(script: HotScript, command: HotCommand, onReply: OnReply): void {
    this.#writer.open();
    const call = { command, onReply };
    if (this.#client instanceof Cluster) {
      this.#sendDefined(script, call);
      return;
    }
    const { waiting } = this.#scripts[script];
    if (waiting.push(call) === 1) this.#writer.beforeWrite(() => this.#flush(script));
  }

  /**
   * Calls that were given up while their connection stands: Redis has yet to read them, or to answer. Calls that are sent now
   * come behind them.
   */
  get late(): number {
    return this.#late;
  }

  /** Called by a batch that was given up once its reply has come, or its connection is gone. */
  ended(batch: Batch): void {
    this.#late -= batch.calls.length;
  }

  /** Arguments that follow those of the calls: see the scripts. */
  trailing(script: HotScript, bucket: number): readonly string[] {
    return script === 'admit' ? [String(this.#clock.now(bucket) + this.#admitWithinMs)] : [];
  }

  /** Called by a batch once it has a reply, or an error. */
  answer(batch: Batch, error: Error | null, reply: unknown): void {
    const { script, calls } = batch;
    this.#open.delete(batch);
    if (error?.message.startsWith('NOSCRIPT')) {
      for (const call of calls) this.#sendDefined(script.name, call);
      return;
    }
    for (const [index, { onReply }] of calls.entries()) {
      if (error) onReply(error, undefined);
      else tell(onReply, (reply as unknown[])[index]);
    }
  }

  #flush(name: HotScript): void {
    const script = this.#scripts[name];
    const { waiting } = script;
    script.waiting = [];
    this.#watch ??= setInterval(() => this.#look(), LOOK_EVERY_MS).unref();
    for (let start = 0; start < waiting.length; start += BATCH) {
      const calls = waiting.length <= BATCH ? waiting : waiting.slice(start, start + BATCH);
      const batch = new Batch(this, script, calls);
      this.#open.add(batch);
      this.#client.sendCommand(batch as unknown as Command);
    }
  }

  #sendDefined(script: HotScript, { command, onReply }: Call): void {
    const { keys, id, numbers, record, bucket } = command;
    this.#client[script](...keys, id, numbers, record, ...this.trailing(script, bucket)).then(
      ([reply]) => tell(onReply, reply),
      (error: Error) => onReply(error, undefined),
    );
  }

  /**
   * A process that had no processor for a while comes here before it reads its waiting replies: so it reads first.
   */
  #look(): void {
    setImmediate(() => this.#giveUpOverdue());
  }

  #giveUpOverdue(): void {
    const overdue = performance.now() - this.#timeoutMs;
    // The set is in the order in which batches were sent.
    for (const batch of this.#open) {
      if (batch.sentAt > overdue) return;
      this.#late += batch.calls.length;
      batch.giveUp();
    }
    clearInterval(this.#watch);
    this.#watch = undefined;
  }
}

/** Hands a call its own part of a script's reply. */
function tell(onReply: OnReply, reply: unknown): void {
  if (Array.isArray(reply) && String(reply[0]) === 'ERROR') onReply(new Error(String(reply[1])), undefined);
  else onReply(null, reply);
}

interface Call {
  readonly command: HotCommand;
  readonly onReply: OnReply;
}

/** A stand-in for ioredis' `Command`, with the members that ioredis 6.0.0 reads of a command that it sends. */
class Batch {
  readonly name = 'evalsha';
  readonly args: readonly string[] = [];
  readonly isTraced = true;
  readonly inTransaction = false;
  readonly pipelineIndex = undefined;
  readonly promise = undefined;
  readonly sentAt = performance.now();
  isResolved = false;
  readonly script: Script;
  readonly calls: readonly Call[];
  readonly #sender: ScriptSender;

  constructor(sender: ScriptSender, script: Script, calls: readonly Call[]) {
    this.#sender = sender;
    this.script = script;
    this.calls = calls;
  }

  setReplyContext(): void {}

  /** Does nothing: one timer watches all batches (`#look`). */
  setTimeout(): void {}

  toWritable(socket: object): string {
    const { script, calls } = this;
    return script.textFor(
      socket,
      calls,
      this.#sender.trailing(script.name, (calls[0] as Call).command.bucket),
    );
  }

  resolve(reply: unknown): void {
    this.#end(null, reply);
  }

  reject(error: Error): void {
    this.#end(error, undefined);
  }

  giveUp(): void {
    this.isResolved = true;
    this.#sender.answer(this, new Error('no reply in time'), undefined);
  }

  #end(error: Error | null, reply: unknown): void {
    if (this.isResolved) {
      this.#sender.ended(this);
      return;
    }
    this.isResolved = true;
    this.#sender.answer(this, error, reply);
  }
}

/** Arguments that a call gives a hot script: see HotCommand. */
const ARGUMENTS = 3;

/** A hot script as bytes of the Redis protocol (RESP). */
class Script {
  readonly name: HotScript;
  /** Calls of this tick. */
  waiting: Call[] = [];
  readonly #prefix: string;
  readonly #prefixBytes: number;
  readonly #bySha: string;
  readonly #whole: string;
  /** Connections on which the whole script has been sent. */
  readonly #known = new WeakSet<object>();

  constructor(name: HotScript, prefix: string) {
    this.name = name;
    this.#prefix = prefix;
    // In bytes: an operator may give the book any id, when restoring a backup.
    this.#prefixBytes = Buffer.byteLength(prefix);
    const text = scriptText(name);
    this.#bySha = bulk('evalsha') + bulk(createHash('sha1').update(text).digest('hex'));
    this.#whole = bulk('eval') + bulk(text);
  }

  /**
   * The command for these calls. The script goes by its SHA, but whole the first time on a connection: commands that a
   * gateway sent before it was killed must be executed, and not refused because the script is not known.
   */
  textFor(socket: object, calls: readonly Call[], trailing: readonly string[]): string {
    const isKnown = this.#known.has(socket);
    if (!isKnown) this.#known.add(socket);
    const keyCount = KEYS_OF[this.name] * calls.length;
    // The command, the script and the number of keys come first.
    const count = 3 + keyCount + ARGUMENTS * calls.length + trailing.length;
    let text = `*${count}\r\n${isKnown ? this.#bySha : this.#whole}${bulk(String(keyCount))}`;
    for (const { command } of calls) {
      for (const key of command.keys)
        text += `$${this.#prefixBytes + key.length}\r\n${this.#prefix}${key}\r\n`;
    }
    for (const { command } of calls) {
      const { id, numbers, record } = command;
      text += `$${id.length}\r\n${id}\r\n$${numbers.length}\r\n${numbers}\r\n${bulk(record)}`;
    }
    for (const value of trailing) text += bulk(value);
    return text;
  }
}

/** A bulk string of the Redis protocol. */
function bulk(text: string): string {
  return `$${Buffer.byteLength(text)}\r\n${text}\r\n`;
}
