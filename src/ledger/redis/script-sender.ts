import { createHash } from 'node:crypto';
import { Cluster, type Command } from 'ioredis';
import type { RedisClock } from './clock.ts';
import { admitWithinMs, COMMAND_TIMEOUT_MS, type RedisClient } from './connect.ts';
import { scriptText } from './scripts.ts';
import type { TickWriter } from './tick-writer.ts';

/** Scripts that every call runs. */
type HotScript = 'admit' | 'settle';

/** Redis keys (unprefixed) and arguments of a hot script; all but `record` is ASCII. */
export interface HotCommand {
  readonly bucket: number;
  readonly keys: readonly string[];
  readonly id: string;
  /** Space-separated values; see the script. An m before them: `keys` ends with a member hash (lua/each.inc.lua). */
  readonly numbers: string;
  readonly record: string;
}

/** Called once with the reply: an integer, or strings and lists of them as Buffers, which `String()` can read. */
type OnReply = (error: Error | null, reply: unknown) => void;

/** Interval of the check for overdue replies. */
const CHECK_EVERY_MS = 100;
/** Maximum calls per script, which blocks Redis for about half a millisecond. */
const BATCH = 32;

/**
 * Sends the two scripts of the request path: all admissions of a tick as one command, all its settles as another, each
 * call with its own reply. They use ioredis' connection and queue, through a stand-in for its command with no more than
 * these scripts need (`Batch`).
 *
 * CPU of this process per call and settle, in µs (medians of 7 runs of 30,000 on a private Redis; a whole call takes
 * some 170 and sends two such scripts):
 *
 * | calls in a batch | `Batch` | `client.evalsha` once a batch | a subclass of ioredis' Command |
 * |---|---|---|---|
 * | 1 | 32.2 | 39.7 | 35.2 |
 * | 8 | 7.3 | 10.0 | 9.7 |
 * | 32 | 4.2 | 5.2 | 5.1 |
 *
 * The public API would cost 3 to 9 % of a call's CPU, and does not report the late reply of a batch that timed out
 * (`late`). The price: `Batch` replaces commands of one exact version of ioredis, which is pinned, and
 * test/ledger/redis/script-sender.test.ts checks its members against the ones that this version reads.
 *
 * Two cases use the defined command, one call each: a cluster, where a command may touch one slot only and may be
 * redirected, and a Redis that forgot the script.
 *
 * A reply that misses `timeoutMs` counts as lost, and `onReply` gets an error: the script may have run. An admission
 * includes its deadline, so that Redis refuses it later (lua/admit.lua).
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
   * Calls that timed out while their connection lives: Redis has yet to read or answer them. New calls queue behind
   * them.
   */
  get late(): number {
    return this.#late;
  }

  /** Called by a timed-out batch once its reply arrives or its connection is gone. */
  ended(batch: Batch): void {
    this.#late -= batch.calls.length;
  }

  /** Arguments after those of the calls; see the scripts. */
  trailing(script: HotScript, bucket: number): readonly string[] {
    return script === 'admit' ? [String(this.#clock.now(bucket) + this.#admitWithinMs)] : [];
  }

  /** Called by a batch with its reply or error. */
  answer(batch: Batch, error: Error | null, reply: unknown): void {
    const { script, calls } = batch;
    this.#open.delete(batch);
    if (error?.message.startsWith('NOSCRIPT')) {
      for (const call of calls) this.#sendDefined(script.name, call);
      return;
    }
    for (const [index, { onReply }] of calls.entries()) {
      if (error) onReply(error, undefined);
      else deliver(onReply, (reply as unknown[])[index]);
    }
  }

  #flush(name: HotScript): void {
    const script = this.#scripts[name];
    const { waiting } = script;
    script.waiting = [];
    this.#watch ??= setInterval(() => this.#checkOverdue(), CHECK_EVERY_MS).unref();
    for (let start = 0; start < waiting.length; start += BATCH) {
      const calls = waiting.length <= BATCH ? waiting : waiting.slice(start, start + BATCH);
      const batch = new Batch(this, script, calls);
      this.#open.add(batch);
      this.#client.sendCommand(batch as unknown as Command);
    }
  }

  #sendDefined(script: HotScript, { command, onReply }: Call): void {
    const { keys, id, numbers, record, bucket } = command;
    this.#client[script](keys.length, ...keys, id, numbers, record, ...this.trailing(script, bucket)).then(
      ([reply]) => deliver(onReply, reply),
      (error: Error) => onReply(error, undefined),
    );
  }

  /** A process that was starved of CPU gets here before it reads its waiting replies, so let it read them first. */
  #checkOverdue(): void {
    setImmediate(() => this.#timeOutOverdue());
  }

  #timeOutOverdue(): void {
    const overdue = performance.now() - this.#timeoutMs;
    // Batches are in send order.
    for (const batch of this.#open) {
      if (batch.sentAt > overdue) return;
      this.#late += batch.calls.length;
      batch.timeOut();
    }
    clearInterval(this.#watch);
    this.#watch = undefined;
  }
}

function deliver(onReply: OnReply, reply: unknown): void {
  if (Array.isArray(reply) && String(reply[0]) === 'ERROR') onReply(new Error(String(reply[1])), undefined);
  else onReply(null, reply);
}

interface Call {
  readonly command: HotCommand;
  readonly onReply: OnReply;
}

/** Stands in for ioredis' `Command`, with the members that ioredis 6.0.0 reads when it sends one. */
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

  /** One timer watches all batches (`#checkOverdue`). */
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

  timeOut(): void {
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

/** Arguments of each call: see HotCommand. */
const ARGUMENTS = 3;

/** A hot script in the Redis protocol (RESP). */
class Script {
  readonly name: HotScript;
  waiting: Call[] = [];
  readonly #prefix: string;
  readonly #prefixBytes: number;
  readonly #bySha: string;
  readonly #whole: string;
  /** Connections that have received the whole script. */
  readonly #known = new WeakSet<object>();

  constructor(name: HotScript, prefix: string) {
    this.name = name;
    this.#prefix = prefix;
    // In bytes: operators can choose any book id when restoring a backup.
    this.#prefixBytes = Buffer.byteLength(prefix);
    const text = scriptText(name);
    this.#bySha = bulk('evalsha') + bulk(createHash('sha1').update(text).digest('hex'));
    this.#whole = bulk('eval') + bulk(text);
  }

  /**
   * Encodes the command for these calls. The script goes by its SHA, but whole the first time on a connection: commands
   * sent before a gateway was killed must run, not fail because the script is unknown.
   */
  textFor(socket: object, calls: readonly Call[], trailing: readonly string[]): string {
    const isKnown = this.#known.has(socket);
    if (!isKnown) this.#known.add(socket);
    const keyCount = calls.reduce((sum, { command }) => sum + command.keys.length, 0);
    // The command, the script and the number of keys.
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

function bulk(text: string): string {
  return `$${Buffer.byteLength(text)}\r\n${text}\r\n`;
}
