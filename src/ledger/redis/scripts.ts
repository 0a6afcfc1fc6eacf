import { readFileSync } from 'node:fs';
import type { Cluster, Redis } from 'ioredis';

/**
 * Number of Redis keys of every script (for admit and settle: per call; undefined: the caller passes it). Each script's
 * header documents keys, arguments and replies.
 */
export const KEYS_OF = {
  admit: 3,
  settle: 4,
  cancel: 3,
  expire: 4,
  postOnce: 4,
  publishKey: 3,
  publishAccount: 2,
  beginRebuild: 2,
  restoreKeys: undefined,
  restoreAccount: 2,
  limitStates: 2,
  takeRequest: 2,
} as const;

type Arg = string | number;

/** The scripts as methods: Redis keys first, then arguments, as each script's header says. */
export interface ScriptClient {
  /** For one call, like `settle`; ScriptSender sends several at once. */
  admit(...args: Arg[]): Promise<[number | [string, ...(string | number)[]]]>;
  settle(...args: Arg[]): Promise<[1 | 'NONE' | 'MISSING' | ['ERROR', string]]>;
  cancel(...args: Arg[]): Promise<'CANCELLED' | 'NONE' | 'MISSING'>;
  expire(...args: Arg[]): Promise<'EXPIRED' | 'FORGOTTEN' | 'KEPT' | 'MISSING'>;
  postOnce(
    ...args: Arg[]
  ): Promise<['APPLIED' | 'DONE' | 'MISSING' | 'REBUILT' | 'HELD' | 'BEYOND', string?]>;
  publishKey(...args: Arg[]): Promise<unknown>;
  publishAccount(...args: Arg[]): Promise<unknown>;
  beginRebuild(...args: Arg[]): Promise<'CLOSED' | 'LIVE' | 'BUSY'>;
  restoreKeys(keyCount: number, ...args: Arg[]): Promise<'RESTORED' | 'OLD'>;
  restoreAccount(...args: Arg[]): Promise<'RESTORED' | 'OLD'>;
  limitStates(...args: Arg[]): Promise<string>;
  takeRequest(...args: Arg[]): Promise<'MISSING' | readonly [number, string]>;
}

const texts = new Map<string, string>();

/** Reads a script, once a process, and replaces `--- @include name` lines by `lua/<name>.inc.lua`. */
export function scriptText(name: string): string {
  let text = texts.get(name);
  if (text === undefined) {
    text = readFileSync(new URL(`../lua/${name}.lua`, import.meta.url), 'utf8').replace(
      /^--- @include (\S+)$/gm,
      (_, include: string) => scriptText(`${include}.inc`),
    );
    texts.set(name, text);
  }
  return text;
}

/**
 * Defines the scripts on a client. They are sent by SHA, and whole only the first time on a connection or after SCRIPT
 * FLUSH.
 */
export function addScripts<C extends Redis | Cluster>(client: C): C & ScriptClient {
  for (const [name, numberOfKeys] of Object.entries(KEYS_OF)) {
    const file = name.replace(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
    client.defineCommand(name, { lua: scriptText(file), ...(numberOfKeys ? { numberOfKeys } : {}) });
  }
  return client as C & ScriptClient;
}
